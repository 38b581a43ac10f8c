"""The terms of an index, to find the one that a shopper meant.

Candidates are preselected over whole lexicons at once, by length and by the set of letters; only the few that
are left are compared letter by letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np

from search_proxy.engine.lexicon import Lexicon, letters_of

SHORTEST_REPAIRED = 4
ANY_EDIT_FROM = 5
TWO_EDITS_FROM = 8
"""Shorter words have too many neighbours: `pant` and `plant` are both what they say, `tnet` is not."""

_MAX_COMPARED = 4_000
_LETTERS_PER_EDIT = 2
_LETTERS_PER_FOREIGN_EDIT = 8
"""An edit changes one letter for another; outside ASCII each is several bytes."""


class Vocabulary:
    """The terms of every segment and in how many documents each occurs."""

    def __init__(self, lexicons: Sequence[Lexicon]) -> None:
        self._lexicons = [lexicon for lexicon in lexicons if len(lexicon)]
        # A cache around a method would keep this, and with it a generation that is gone, from being freed.
        self.frequency = lru_cache(maxsize=20_000)(partial(_frequency, self._lexicons))

    def starting_with(self, prefix: str, limit: int) -> list[str]:
        """Return the commonest terms that start with `prefix`."""
        found: set[str] = set()
        for lexicon in self._lexicons:
            numbers = lexicon.starting_with(prefix)
            most = lexicon.most[numbers.start : numbers.stop]
            best = np.argsort(-most, kind="stable")[: 4 * limit]
            found.update(lexicon[numbers.start + at] for at in best.tolist())
        return sorted(found, key=lambda term: (-self.frequency(term), term))[:limit]

    def nearest(self, term: str, limit: int) -> list[tuple[str, int]]:
        """Return the terms within the edit distance that the length of `term` allows, nearest first.

        A swap of neighbours is one edit, and the only one that the shortest terms are allowed. Terms with
        digits are names and numbers: they are never repaired, and nothing is repaired to them.
        """
        if len(term) < SHORTEST_REPAIRED or any(character.isdigit() for character in term):
            return []
        allowed = 2 if len(term) >= TWO_EDITS_FROM else 1
        found = []
        for candidate in self._candidates(term, allowed):
            distance = edit_distance(term, candidate, allowed)
            if distance > allowed or any(character.isdigit() for character in candidate):
                continue
            if len(term) >= ANY_EDIT_FROM or sorted(candidate) == sorted(term):
                found.append((candidate, distance))
        found.sort(key=lambda one: (one[1], one[0][:1] != term[:1], -self.frequency(one[0]), one[0]))
        return found[:limit]

    def _candidates(self, term: str, allowed: int) -> set[str]:
        letters = np.uint64(letters_of(term))
        different = allowed * (_LETTERS_PER_EDIT if term.isascii() else _LETTERS_PER_FOREIGN_EDIT)
        found: set[str] = set()
        for lexicon in self._lexicons:
            near = np.abs(lexicon.lengths - len(term)) <= allowed
            near &= np.bitwise_count(lexicon.letters ^ letters) <= different
            numbers = np.flatnonzero(near)
            if len(numbers) > _MAX_COMPARED:
                numbers = numbers[np.argsort(-lexicon.most[numbers], kind="stable")[:_MAX_COMPARED]]
            found.update(lexicon[number] for number in numbers.tolist())
        return found


def edit_distance(left: str, right: str, limit: int) -> int:
    """Return the optimal string alignment distance, or `limit + 1` as soon as it is larger."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before_last: list[int] = []
    last = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before_last[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        before_last, last = last, row
    return min(last[-1], limit + 1)


def _frequency(lexicons: Sequence[Lexicon], term: str) -> int:
    """Return in how many documents a term occurs, in the field that has it most."""
    numbers = ((lexicon, lexicon.find(term)) for lexicon in lexicons)
    counts = [lexicon.frequencies[number] for lexicon, number in numbers if number is not None]
    return int(np.sum(counts, axis=0).max()) if counts else 0
