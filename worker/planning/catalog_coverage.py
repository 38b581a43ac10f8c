"""How much of what was asked a hit speaks of.

Terms are optional in the search, so one rare word can lift a product that has nothing else of the sentence.
For choosing rows, a hit counts by the part of the words that it covers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from search_proxy.models import Hit
from worker.planning.catalog_words import singular, words_of

PROSE_WEIGHT = 0.5
"""A word that stands only in the description says half as much as one in title, category or attributes."""

_PROSE = "description"
_MAX_PROSE_CHARACTERS = 1_500
_SHORTEST_STEM = 4
_LONG_STEM = 5
_LONG_ENDING = r"\w{0,3}"
_SHORT_ENDING = r"(?:e?s|ing|ers?|ed|y|ies)?"


def coverages(hits: Sequence[Hit], topic: str) -> list[float]:
    """Return for each hit the part of the topic that it covers, 0 to 1; 1 for an empty topic.

    Words that none of the hits has are left out of the account: they may be somebody's model name, and tell
    nothing about one hit against another.
    """
    stems = tuple(dict.fromkeys(_stem(word) for word in words_of(topic)))
    if not stems:
        return [1.0] * len(hits)
    pattern = _pattern(stems)
    found = [_found(hit, pattern) for hit in hits]
    known = {stem for facts, prose in found for stem in facts | prose}
    if not known:
        return [0.0] * len(hits)
    return [(len(facts) + PROSE_WEIGHT * len(prose - facts)) / len(known) for facts, prose in found]


def _pattern(stems: Sequence[str]) -> re.Pattern[str]:
    forms = (
        rf"({re.escape(stem)}){_LONG_ENDING if len(stem) >= _LONG_STEM else _SHORT_ENDING}" for stem in stems
    )
    return re.compile(rf"\b(?:{'|'.join(forms)})\b")


def _found(hit: Hit, pattern: re.Pattern[str]) -> tuple[set[int], set[int]]:
    """Return which words stand in the hit's facts, and which in its description."""
    facts = _matches(" ".join(_facts(hit)), pattern)
    if len(facts) == pattern.groups:
        return facts, set()
    return facts, _matches(str(hit.get(_PROSE) or "")[:_MAX_PROSE_CHARACTERS], pattern)


def _matches(text: str, pattern: re.Pattern[str]) -> set[int]:
    return {match.lastindex or 0 for match in pattern.finditer(text.casefold())}


def _facts(hit: Hit) -> list[str]:
    texts: list[str] = []
    for name, value in hit.items():
        if name == _PROSE or name.startswith("_") or name.endswith(("Url", "Id")):
            continue
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, list | tuple):
            texts.extend(item for item in value if isinstance(item, str))
    return texts


def _stem(word: str) -> str:
    """Cut a word to what its forms share: enough to compare, never shown."""
    plain = singular(word)
    for ending in ("ing", "ers", "er", "ed", "ies", "y"):
        if plain.endswith(ending) and len(plain) - len(ending) >= _SHORTEST_STEM:
            return plain.removesuffix(ending)
    return plain
