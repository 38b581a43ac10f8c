"""Cuts the passage that matched: the sentence with most of the query's terms, as it is written."""

from __future__ import annotations

import re
from collections.abc import Collection

from search_proxy.explaining.matched_words import FoundWord, TermOf, found_words

EXCERPT_CHARACTERS = 240
"""Two lines of a product card on a desk, four on a phone."""

_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s+")


def excerpt(text: str, terms: Collection[str], term_of: TermOf) -> str | None:
    """Return a stretch of `text`, at most 240 characters of whole words, or None where no term is in it.

    The stretch is a substring: nothing is put in or left out.
    """
    found = list(found_words(text, terms, term_of))
    if not found:
        return None
    best, most = (0, 0), 0
    for start, end in _sentences(text):
        distinct = len({word.term for word in found if start <= word.start < end})
        if distinct > most:
            best, most = (start, end), distinct
    start, end = best
    if end - start <= EXCERPT_CHARACTERS:
        return text[start:end].strip()
    return _window(text, start, end, [word for word in found if start <= word.start < end])


def _sentences(text: str) -> list[tuple[int, int]]:
    starts = [0, *(match.end() for match in _SENTENCE_END.finditer(text))]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _window(text: str, start: int, end: int, found: list[FoundWord]) -> str:
    """Return the stretch of a long sentence that has most terms, cut at blanks."""
    best, most = found[0].start, 0
    for first in found:
        inside = {word.term for word in found if first.start <= word.start < first.start + _REACH}
        if len(inside) > most:
            best, most = first.start, len(inside)
    opening = max(start, best - (EXCERPT_CHARACTERS - _REACH))
    if opening > start:
        blank = text.find(" ", opening, best)
        opening = best if blank < 0 else blank + 1
    closing = min(end, opening + EXCERPT_CHARACTERS)
    if closing < end:
        blank = text.rfind(" ", opening, closing)
        closing = closing if blank <= best else blank
    return text[opening:closing].strip()


_REACH = EXCERPT_CHARACTERS - 60
"""How far the words of one excerpt may lie apart, so that some text stands before the first."""
