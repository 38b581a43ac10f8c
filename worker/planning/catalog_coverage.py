"""How much of what was asked a hit speaks of.

Terms are optional in the search, so one rare word can lift a product that has nothing else of the sentence.
For choosing rows, a hit counts by the part of the words that it covers.
"""

from __future__ import annotations

from collections.abc import Sequence

from search_proxy.models import Hit
from worker.planning.catalog_words import singular, words_of

PROSE_WEIGHT = 0.5
"""A word that stands only in the description says half as much as one in title, category or attributes."""
_PROSE = "description"
_STEM = 5
"""Words of this length or more match by their beginning: "gardener" speaks of "gardening"."""


def topic_stems(topic: str) -> list[str]:
    """Return what the words of a topic are recognised by."""
    return list(dict.fromkeys(_stem(word) for word in words_of(topic)))


def coverage(hit: Hit, stems: Sequence[str]) -> float:
    """Return the part of the topic that a hit covers, 0 to 1; 1 for an empty topic."""
    if not stems:
        return 1.0
    facts: set[str] = set()
    prose: set[str] = set()
    for name, value in hit.items():
        if name.startswith("_") or name.endswith(("Url", "Id")):
            continue
        for text in value if isinstance(value, list | tuple) else (value,):
            if isinstance(text, str):
                (prose if name == _PROSE else facts).update(_stem(word) for word in words_of(text))
    return sum(1.0 if stem in facts else PROSE_WEIGHT if stem in prose else 0.0 for stem in stems) / len(
        stems
    )


def _stem(word: str) -> str:
    """Cut a word to what its forms share: enough to compare, never shown."""
    plain = singular(word)
    for ending in ("ing", "ers", "er", "ed", "ies", "y"):
        if plain.endswith(ending) and len(plain) - len(ending) >= _STEM - 1:
            return plain.removesuffix(ending)
    return plain
