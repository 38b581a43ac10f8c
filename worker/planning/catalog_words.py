"""How the rules read words: what one is, when two are the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

WORD = re.compile(r"[^\W_]+(?:['’.\-/&][^\W_]+)*")
"""A word as the rules see it; "t-shirt", "1/2" and "s'mores" are one."""

_F_PLURALS = {"knives": "knife", "shelves": "shelf", "scarves": "scarf", "halves": "half", "loaves": "loaf"}
_IRREGULAR = {"mice": "mouse", "feet": "foot", "children": "child", "people": "person"}


_SHORTEST_REPAIRED = 6
"""A letter of a shorter word makes another word of it, but for one that is only doubled."""
_DOUBLED = re.compile(r"(.)\1+")


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(text.split())


def words_of(text: str) -> list[str]:
    """Return the casefolded words of a text, with plain apostrophes."""
    return [match.group().casefold().replace("’", "'") for match in WORD.finditer(text)]


@lru_cache(maxsize=1024)
def singular(word: str) -> str:
    """Return a common English singular, so that "mugs" is found under "Mug"."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 3 or word.endswith(("ss", "us", "is")):
        return word
    if word in _F_PLURALS:
        return _F_PLURALS[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word


def is_near(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two phrases of equal length differ by one slip in one word."""
    differing = [(mine, theirs) for mine, theirs in zip(one, other, strict=True) if mine != theirs]
    return len(differing) == 1 and _is_slip(*differing[0])


def _is_slip(one: str, other: str) -> bool:
    """Return whether one letter too many, too few, wrong, or two swapped make one word of the other."""
    if one[0] != other[0]:
        return False
    if min(len(one), len(other)) < _SHORTEST_REPAIRED:
        return _DOUBLED.sub(r"\1", one) == _DOUBLED.sub(r"\1", other)
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    mine, theirs = one[start:], other[start:]
    is_swapped = mine[:2] == theirs[1::-1] and mine[2:] == theirs[2:]
    return is_swapped or theirs == mine[1:] or mine == theirs[1:] or mine[1:] == theirs[1:]
