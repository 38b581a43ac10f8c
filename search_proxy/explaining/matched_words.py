"""Finds, in a document as the merchant gave it, the very words by which a query's terms matched.

A term is compared as the engine compares it (stemmed, folded); what is returned is the word as it stands in
the field, so that nothing can be said of a hit that is not written there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from search_proxy.feeds.html_text import plain_text

MAX_WORDS_PER_FIELD = 4
_READ_CHARACTERS = 20_000
"""A page of a megabyte would cost more than it tells."""

TermOf = Callable[[str], str]
"""Returns the term of a lower-case word, as the index has it."""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class FoundWord:
    """A matching word of a text: where it stands, and which term it is."""

    start: int
    end: int
    term: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedField:
    """A field and its words that matched, as they are written there; `terms` are the same in the index."""

    field: str
    words: tuple[str, ...]
    terms: tuple[str, ...]


def readable(value: Any) -> str:
    """Return a field's text without markup, blanks collapsed; the text that words and passages are of."""
    if isinstance(value, str):
        # What the engine does not read either: an address is no text.
        return "" if value.startswith(("http://", "https://")) else _plain(value)
    if isinstance(value, list | tuple):
        return " ; ".join(filter(None, map(readable, value[:50])))
    if isinstance(value, bool):
        return ""
    return f"{value:g}" if isinstance(value, int | float) else ""


def found_words(text: str, terms: Collection[str], term_of: TermOf) -> Iterator[FoundWord]:
    """Yield the words of `text` that are one of `terms`, in order."""
    for match in _WORD.finditer(text):
        term = term_of(unicodedata.normalize("NFC", match.group()).lower())
        if term and term in terms:
            yield FoundWord(match.start(), match.end(), term)


def matched_fields(
    document: Mapping[str, Any], names: Collection[str], terms: Collection[str], term_of: TermOf
) -> list[MatchedField]:
    """Return the fields of `names` in which some term matched, in that order."""
    matched = []
    for name in names:
        text = readable(document.get(name))
        words: dict[str, str] = {}
        for found in found_words(text, terms, term_of):
            written = text[found.start : found.end]
            words.setdefault(found.term, written)
            if len(words) == MAX_WORDS_PER_FIELD:
                break
        if words:
            matched.append(MatchedField(field=name, words=tuple(words.values()), terms=tuple(words)))
    return matched


def _plain(text: str) -> str:
    return " ".join(plain_text(text[:_READ_CHARACTERS]).split())
