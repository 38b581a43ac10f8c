"""Reciprocal rank fusion: many ranked lists to one, by the places alone. Source: Cormack et al., 2009."""

from __future__ import annotations

from collections.abc import Sequence

RANK_CONSTANT = 60


def fuse_ranks(rankings: Sequence[Sequence[str]]) -> list[tuple[str, float]]:
    """Return every id with the sum of 1 / (60 + place), best first; equal sums by first appearance."""
    sums: dict[str, float] = {}
    for ranking in rankings:
        for place, identifier in enumerate(ranking, start=1):
            sums[identifier] = sums.get(identifier, 0.0) + 1.0 / (RANK_CONSTANT + place)
    return sorted(sums.items(), key=lambda entry: -entry[1])
