"""Picks the best of many scores without sorting, or even partitioning, all of them."""

from __future__ import annotations

import numpy as np

from search_proxy.engine.columns import Array

_SAMPLED = 16
"""Every 16th score tells how high the best ones are, at a tenth of the cost of looking at all."""

_SAMPLE_MARGIN = 8


def best_positions(scores: Array, rows: Array, depth: int) -> Array:
    """Return the positions of the `depth` best scores, best first, equal ones by row."""
    chosen = positions_from(scores, depth)
    best: Array = chosen[np.lexsort((rows[chosen], -scores[chosen]))][:depth]
    return best


def positions_from(scores: Array, depth: int) -> Array:
    """Return the positions of the `depth` best scores and of all that equal the last of them, ascending."""
    if depth >= len(scores):
        return np.arange(len(scores))
    likely = _likely_best(scores, depth)
    cut = np.partition(likely, len(likely) - depth)[len(likely) - depth]
    return np.flatnonzero(scores >= cut)


def _likely_best(scores: Array, depth: int) -> Array:
    """Return scores that hold the best `depth`: above what a sample says, or all if it misleads.

    Sorting out the best of all would cost as much as a fifth of the search.
    """
    sample = scores[::_SAMPLED]
    if len(sample) <= depth:
        return scores
    at = len(sample) - 2 * depth // _SAMPLED - _SAMPLE_MARGIN
    above = scores[scores >= np.partition(sample, at)[at]] if at >= 0 else scores
    return above if len(above) >= depth else scores
