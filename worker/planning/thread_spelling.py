"""Reads the words that steer a conversation although they are mistyped: "cheeper", "blakc", "secnd one".

Only these words: what names a product is left to the search, which knows the catalog's own spelling. A slip
is two letters swapped, one doubled or forgotten, or a vowel for another; "stove" is no slip of "stone".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from worker.planning.catalog_lexicon import COLOURS, FILLER, VAGUE
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.catalog_words import singular, word_set

_STEERING = word_set(
    """anything something everything search start cheaper cheapest expensive affordable pricey similar
    different another second third fourth fifth sixth seventh eighth first under between below above
    without except budget price prices colour color brand material cotton leather merino cashmere
    polyester nylon bamboo linen suede fleece canvas ceramic porcelain plastic wooden instead maximum
    minimum available compare difference waterproof"""
) | {colour for colour in COLOURS if len(colour) > 3}
_OFTEN = {
    "mor": "more",
    "moer": "more",
    "nxt": "next",
    "teh": "the",
    "nto": "not",
    "shwo": "show",
    "biger": "bigger",
    "smaler": "smaller",
    "cheper": "cheaper",
    "chaper": "cheaper",
    "withot": "without",
    "witout": "without",
    "les": "less",
    "undr": "under",
    "blak": "black",
    "blck": "black",
    "udner": "under",
    "thier": "their",
    "lik": "like",
    "liek": "like",
}
_VOWELS = "aeiouy"
_WORD = re.compile(r"[a-z]{3,16}")
_LONG = 7
"""From here on a forgotten consonant is a slip too: no two steering words of that length are that close."""


def respelled(text: str, vocabulary: Vocabulary) -> str:
    """Return a plain sentence with its mistyped steering words as they are spelled."""
    return _WORD.sub(lambda match: _as_meant(match.group(), vocabulary), text)


def _as_meant(word: str, vocabulary: Vocabulary) -> str:
    if _is_known(word, vocabulary):
        return word
    return _OFTEN.get(word) or _slip_of(word) or word


def _is_known(word: str, vocabulary: Vocabulary) -> bool:
    if word in _STEERING or word in FILLER or word in VAGUE:
        return True
    plain = singular(word)
    return plain in _STEERING or any(plain in words for words in vocabulary.value_words.values())


@cache
def _slips() -> dict[str, str | None]:
    """Return what each slip is a slip of; None where it could be one of several words."""
    slips: dict[str, str | None] = {}
    for word in sorted(_STEERING):
        for slip in _slips_of(word):
            slips[slip] = word if slips.get(slip, word) == word else None
    return slips


def _slip_of(word: str) -> str | None:
    return _slips().get(word)


def _slips_of(word: str) -> Iterator[str]:
    """Yield the mistyped forms of a word; its first letter is always right."""
    for place in range(1, len(word) - 1):
        if word[place] != word[place + 1]:
            yield word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    if len(word) < 5:
        return
    for place in range(1, len(word)):
        letter, rest = word[place], word[place + 1 :]
        yield word[:place] + letter + letter + rest
        if letter in _VOWELS:
            yield from (word[:place] + other + rest for other in _VOWELS if other != letter)
        if letter in _VOWELS or letter == word[place - 1] or len(word) >= _LONG:
            yield word[:place] + rest
