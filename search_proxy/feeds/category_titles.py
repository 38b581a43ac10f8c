"""Cuts a product title into the stretches in which its head noun can stand.

"Acme 006R9 toner cartridge for C65, Black" has the stretches "toner cartridge" and, after a preposition,
"C65" (which is no word and disappears). In English the last word of a stretch is its head.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from search_proxy.feeds.category_vocabulary import (
    COLOURS,
    DESCRIPTORS,
    JOINERS,
    PREPOSITIONS,
    SIZES,
    UNITS,
)

_PIECE = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*|[^\w\s]+|_+", re.UNICODE)
_MAX_PIECES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Neighbouring words of a title; `after_preposition` where they only qualify what came before."""

    words: tuple[str, ...]
    surfaces: tuple[str, ...]
    after_preposition: bool


def stretches(title: str, brand_words: frozenset[str]) -> Iterator[Stretch]:
    """Yield the stretches of a title, without brand, colours, sizes, units and model numbers."""
    words: list[str] = []
    surfaces: list[str] = []
    after_preposition = False
    for match in list(_PIECE.finditer(title))[:_MAX_PIECES]:
        surface = match.group().strip("'’.&-")
        word = surface.casefold()
        if is_title_word(word) and word not in brand_words:
            if words and _starts_anew(surfaces, surface):
                yield Stretch(
                    words=tuple(words), surfaces=tuple(surfaces), after_preposition=after_preposition
                )
                words, surfaces = [], []
            words.append(word)
            surfaces.append(surface)
            continue
        if words and words[-1] == "light" and word in COLOURS:
            words.pop()
            surfaces.pop()
        if words:
            yield Stretch(words=tuple(words), surfaces=tuple(surfaces), after_preposition=after_preposition)
            words, surfaces = [], []
        if word in PREPOSITIONS:
            after_preposition = True
    if words:
        yield Stretch(words=tuple(words), surfaces=tuple(surfaces), after_preposition=after_preposition)


def _starts_anew(surfaces: list[str], surface: str) -> bool:
    """Say whether capitals resume after a common noun, as in "wireless keyboard USB QWERTY"."""
    return surfaces[-1].islower() and surface[0].isupper()


def is_title_word(word: str) -> bool:
    """Say whether a casefolded piece of a title can be part of a category's name."""
    return (
        len(word) >= 2
        and not any(character.isdigit() for character in word)
        and word[0].isalpha()
        and word not in COLOURS
        and word not in SIZES
        and word not in UNITS
        and word not in PREPOSITIONS
        and word not in JOINERS
        and word not in DESCRIPTORS
    )


def singular(word: str) -> str:
    """Return a common English singular, only to count "lamps" with "lamp"."""
    if len(word) <= 3 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word
