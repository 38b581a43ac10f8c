"""Cuts the stretch of a document's text that says most about a query: plain text, whole words, short."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from search_proxy.feeds.html_text import plain_text

SNIPPET_CHARACTERS = 240
_READ_CHARACTERS = 20_000
"""The best place of a text lies in its beginning; a page of a megabyte would cost more than it tells."""

_WORD = re.compile(r"\w+")
_MAX_WORDS = 40


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    word: int


def snippet(texts: Sequence[str], query: str | None) -> str:
    """Return at most 240 characters around the place that has most of the query's words.

    `texts` are looked at in turn; without a match it is the beginning of the first. Words match by their
    first letters, so that plurals and endings do not hide them.
    """
    read = [plain for text in texts if (plain := _plain(text))]
    stems = list(dict.fromkeys(_stem(word) for word in _WORD.findall((query or "").casefold())[:_MAX_WORDS]))
    best, most = (read[0] if read else ""), 0
    place = 0
    for text in read:
        at, count = _best_place(text, stems)
        if count > most:
            best, place, most = text, at, count
    return _cut(best, place)


def _plain(text: str) -> str:
    return " ".join(plain_text(text[:_READ_CHARACTERS]).split())


def _best_place(text: str, stems: Sequence[str]) -> tuple[int, int]:
    """Return where the densest window of the text starts, and how many different words it has."""
    found = []
    for match in _WORD.finditer(text.casefold()):
        word = match.group()
        for number, stem in enumerate(stems):
            if word.startswith(stem):
                found.append(_Found(match.start(), number))
                break
    best, most, first = 0, 0, 0
    for last in range(len(found)):
        while found[last].start - found[first].start > SNIPPET_CHARACTERS - 60:
            first += 1
        distinct = len({one.word for one in found[first : last + 1]})
        if distinct > most:
            best, most = found[first].start, distinct
    return best, most


def _cut(text: str, place: int) -> str:
    if len(text) <= SNIPPET_CHARACTERS:
        return text
    start = max(0, min(place - 40, len(text) - SNIPPET_CHARACTERS + 2))
    if start:
        start = text.find(" ", start) + 1 or start
    end = min(len(text), start + SNIPPET_CHARACTERS - 2)
    if end < len(text):
        blank = text.rfind(" ", start, end)
        end = blank if blank > start + SNIPPET_CHARACTERS // 2 else end
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _stem(word: str) -> str:
    return word if len(word) <= 4 else word[: max(4, len(word) - 2)]
