"""How the rules read words: what one is, when two are the same."""

from __future__ import annotations

import re

WORD = re.compile(r"[^\W_]+(?:['’.\-/&][^\W_]+)*")
"""A word as the rules see it; "t-shirt", "1/2" and "s'mores" are one."""

_F_PLURALS = {"knives": "knife", "shelves": "shelf", "scarves": "scarf", "halves": "half", "loaves": "loaf"}
_IRREGULAR = {"mice": "mouse", "feet": "foot", "children": "child", "people": "person"}


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(text.split())


def words_of(text: str) -> list[str]:
    """Return the casefolded words of a text, with plain apostrophes."""
    return [match.group().casefold().replace("’", "'") for match in WORD.finditer(text)]


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
