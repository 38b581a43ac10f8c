"""Completes what a shopper is typing, with words and phrases that the catalog really has.

The phrases are the categories, the brands and stretches of one to three words of the titles. They are counted
when an index is first asked for a completion, and kept for the generation.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from search_proxy.engine.snapshot import Snapshot
from search_proxy.engine.vocabulary import edit_distance
from search_proxy.errors import InvalidSearch

MAX_SUGGESTIONS = 50
MAX_TITLES = 50_000
"""Enough to know a catalog's phrases; a larger one is sampled evenly."""

MAX_PREFIX_CHARACTERS = 200
LONGEST_PHRASE_WORDS = 3
SHORTEST_REPAIRED = 4
_COMMONEST_REPAIRED = 20_000

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_WHOLE_VALUE_FIELDS = ("category", "productCollections", "brand")
_WHOLE_VALUE_BONUS = 5
"""A category is a better completion than a stretch of a title that as many products have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A query to offer, and about how many documents say it."""

    query: str
    documents: int


class Phrases:
    """The phrases of one generation, sorted for completion."""

    def __init__(self, counts: Counter[str], bonus: Counter[str]) -> None:
        folded: dict[str, tuple[int, int, str]] = {}
        for phrase, count in counts.items():
            if count < 2 and phrase not in bonus:
                continue
            entry = (count * (_WHOLE_VALUE_BONUS if phrase in bonus else 1), count, phrase)
            key = fold(phrase)
            if entry > folded.get(key, (0, 0, "")):
                folded[key] = entry
        self._keys: Sequence[str] = sorted(folded)
        self._entries = folded
        words = [key for key in self._keys if " " not in key]
        self._words = sorted(words, key=lambda key: -folded[key][0])[:_COMMONEST_REPAIRED]

    def completing(self, prefix: str, limit: int) -> list[Suggestion]:
        """Return the best phrases that start with `prefix`, already folded."""
        start = bisect_left(self._keys, prefix)
        end = bisect_left(self._keys, prefix + "\U0010ffff")
        best = sorted(self._keys[start:end], key=lambda key: (-self._entries[key][0], len(key), key))
        entries = [self._entries[key] for key in best[:limit]]
        return [Suggestion(query=phrase, documents=documents) for _, documents, phrase in entries]

    def repaired(self, prefix: str) -> str | None:
        """Return the start of the commonest word that `prefix` is one edit away from, or None."""
        for word in self._words:
            for length in (len(prefix), len(prefix) + 1, len(prefix) - 1):
                if word[:1] == prefix[:1] and edit_distance(prefix, word[:length], 1) == 1:
                    return word[:length]
        return None


def suggest(snapshot: Snapshot, prefix: str, limit: int) -> tuple[Suggestion, ...]:
    """Return completions of `prefix`, best first; of its last word where the whole is no phrase.

    Raises:
        InvalidSearch: The limit is out of range or the prefix too long.
    """
    if not 1 <= limit <= MAX_SUGGESTIONS:
        raise InvalidSearch(f"limit must be 1 to {MAX_SUGGESTIONS}, not {limit!r}")
    if len(prefix) > MAX_PREFIX_CHARACTERS:
        raise InvalidSearch(f"prefix must have at most {MAX_PREFIX_CHARACTERS} characters, not {len(prefix)}")
    words = [fold(word) for word in _WORD.findall(prefix)]
    if not words:
        return ()
    phrases = snapshot.derived("phrases", lambda: _phrases(snapshot))
    ending = " " if prefix[-1:].isspace() else ""
    found = phrases.completing(" ".join(words) + ending, limit)
    *head, last = words
    if not found and head and not ending:
        found = _after(snapshot, head, phrases.completing(last, 3 * limit))[:limit]
    if not found and not ending and len(last) >= SHORTEST_REPAIRED:
        repaired = phrases.repaired(last)
        if repaired is not None:
            whole = phrases.completing(" ".join([*head, repaired]), limit)
            found = whole or _after(snapshot, head, phrases.completing(repaired, 3 * limit))[:limit]
    return tuple(found)


def fold(text: str) -> str:
    """Return `text` in lower case without accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _after(snapshot: Snapshot, head: Sequence[str], endings: Sequence[Suggestion]) -> list[Suggestion]:
    """Return the endings with `head` before them, where some document has all of the words."""
    found = []
    for ending in endings:
        query = " ".join([*head, ending.query])
        having = snapshot.text.having_all(snapshot.text.analysis.analyze(query))
        documents = int(np.count_nonzero(snapshot.live[having]))
        if documents:
            found.append(Suggestion(query=query, documents=documents))
    return found


def _phrases(snapshot: Snapshot) -> Phrases:
    counts: Counter[str] = Counter()
    bonus: Counter[str] = Counter()
    for name in _WHOLE_VALUE_FIELDS:
        for value, documents in _living_values(snapshot, name):
            phrase = " ".join(_WORD.findall(value)).lower()
            if phrase:
                bonus[phrase] += documents
                counts[phrase] += documents
    titles = _living_values(snapshot, "productTitle")
    step = 1 + len(titles) // MAX_TITLES
    for title, documents in titles[::step]:
        for phrase in _stretches(title):
            counts[phrase] += documents * step
    return Phrases(counts, bonus)


def _living_values(snapshot: Snapshot, field: str) -> list[tuple[str, int]]:
    columns = snapshot.columns(field)
    codes = columns["text_codes"][snapshot.live[columns["text_rows"]]]
    counts = np.bincount(codes, minlength=columns.distinct_texts).tolist()
    return [(text, count) for text, count in zip(columns.texts(), counts, strict=True) if count]


def _stretches(title: str) -> Iterator[str]:
    words = [word.lower() for word in _WORD.findall(title)[:20]]
    for start, word in enumerate(words):
        if len(word) < 2 or word.isdigit():
            continue
        for end in range(start + 1, min(start + LONGEST_PHRASE_WORDS, len(words)) + 1):
            if len(words[end - 1]) > 1:
                yield " ".join(words[start:end])
