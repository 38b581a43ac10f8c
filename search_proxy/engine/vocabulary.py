"""The terms of an index, to find the one that a shopper meant.

Candidates are preselected over the whole vocabulary at once, by length and by the set of letters; only the
few that are left are compared letter by letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from search_proxy.engine.columns import Array

SHORTEST_REPAIRED = 4
TWO_EDITS_FROM = 8
"""Shorter words have too many neighbours: `tent` and `bent` are both what they say."""

_MAX_COMPARED = 4_000


class Vocabulary:
    """Terms and in how many documents each occurs, commonest first."""

    def __init__(self, frequencies: Mapping[str, int]) -> None:
        ordered = sorted(frequencies.items(), key=lambda entry: (-entry[1], entry[0]))
        self._terms: Sequence[str] = [term for term, _ in ordered]
        self._frequencies = dict(ordered)
        self._lengths: Array = np.fromiter(map(len, self._terms), np.int16, len(self._terms))
        self._letters: Array = np.fromiter(map(_letters, self._terms), np.uint64, len(self._terms))

    def frequency(self, term: str) -> int:
        """Return in how many documents a term occurs."""
        return self._frequencies.get(term, 0)

    def starting_with(self, prefix: str, limit: int) -> list[str]:
        """Return the commonest terms that start with `prefix`."""
        found: list[str] = []
        for term in self._terms:
            if term.startswith(prefix):
                found.append(term)
                if len(found) == limit:
                    break
        return found

    def nearest(self, term: str, limit: int) -> list[tuple[str, int]]:
        """Return the terms within the edit distance that the length of `term` allows, nearest first.

        A swap of neighbours is one edit. Terms with digits are names and numbers: they are never repaired,
        and nothing is repaired to them.
        """
        if len(term) < SHORTEST_REPAIRED or any(character.isdigit() for character in term):
            return []
        allowed = 2 if len(term) >= TWO_EDITS_FROM else 1
        near_length = np.abs(self._lengths - len(term)) <= allowed
        differing = np.bitwise_count(self._letters ^ np.uint64(_letters(term))) <= 2 * allowed
        found = []
        for position in np.flatnonzero(near_length & differing)[:_MAX_COMPARED]:
            candidate = self._terms[position]
            distance = edit_distance(term, candidate, allowed)
            if distance <= allowed and not any(character.isdigit() for character in candidate):
                found.append((candidate, distance))
        found.sort(key=lambda entry: (entry[1], entry[0][0] != term[0], -self._frequencies[entry[0]]))
        return found[:limit]


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


def merged_frequencies(fields: Iterable[Iterable[tuple[str, int]]]) -> dict[str, int]:
    """Return the terms of several fields, each with its largest frequency in one of them."""
    merged: dict[str, int] = {}
    for terms in fields:
        for term, frequency in terms:
            if frequency > merged.get(term, 0):
                merged[term] = frequency
    return merged


def _letters(term: str) -> int:
    bits = 0
    for character in term:
        bits |= 1 << (ord(character) & 63)
    return bits
