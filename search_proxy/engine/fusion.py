"""Brings the text lane and the vector lane into one order.

Exact convex is the default: the best of both lanes, scored by both, with the true similarity of every
candidate (docs/engine.md). What only the text lane has beyond its best follows in its own order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from search_proxy.engine.best_scores import best_positions
from search_proxy.engine.columns import Array

FusionMethod = Literal["convex", "weighted_rrf", "rrf"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """How the lanes are fused; `depth` of each are candidates.

    Below `min_similarity` the vector lane brings nothing of its own, so that nonsense finds nothing. The
    value is measured for MiniLM (docs/engine.md) and belongs to a model, as similarities do.
    """

    method: FusionMethod = "convex"
    vector_weight: float | None = None
    depth: int = 200
    rank_constant: int = 60
    min_similarity: float = 0.35

    @property
    def weight(self) -> float:
        """Return the vector lane's share: as set, or the measured best of the method."""
        if self.vector_weight is not None:
            return self.vector_weight
        return {"convex": 0.4, "weighted_rrf": 0.3, "rrf": 0.5}[self.method]


@dataclass(frozen=True, slots=True)
class Lanes:
    """What two lanes say about rows: text scores of matches, and similarities of every row that has a vector.

    Rows ascend in both.
    """

    text_rows: Array
    text_scores: Array
    vector_rows: Array
    similarities: Array


def fuse(lanes: Lanes, fusion: Fusion) -> tuple[Array, Array]:
    """Return all rows that either lane brings, ascending, and the fused score of each."""
    best_text = best_positions(lanes.text_scores, lanes.text_rows, fusion.depth)
    best_vector = best_positions(lanes.similarities, lanes.vector_rows, fusion.depth)
    best_vector = best_vector[lanes.similarities[best_vector] >= fusion.min_similarity]
    candidates = np.union1d(lanes.text_rows[best_text], lanes.vector_rows[best_vector])
    if fusion.method == "convex":
        scores = _convex(lanes, candidates, fusion.weight)
    else:
        weight = fusion.weight
        scores = (1 - weight) * _reciprocal(candidates, lanes.text_rows[best_text], fusion.rank_constant)
        scores += weight * _reciprocal(candidates, lanes.vector_rows[best_vector], fusion.rank_constant)
    # Behind every candidate comes what only the text lane has, in its own order.
    at = np.minimum(np.searchsorted(lanes.text_rows, candidates), max(0, len(lanes.text_rows) - 1))
    is_text = lanes.text_rows[at] == candidates if len(lanes.text_rows) else np.zeros(len(candidates), bool)
    others = np.ones(len(lanes.text_rows), bool)
    others[at[is_text]] = False
    if not others.any():
        return candidates, scores
    fused = lanes.text_scores.astype(np.float64)
    highest = float(fused[others].max())
    floor = float(scores.min()) if len(scores) else 0.0
    fused *= (floor if floor > 0 else 1.0) / (highest * 1.001)
    if floor <= 0:
        fused += floor - 1
    fused[at[is_text]] = scores[is_text]
    places = np.searchsorted(lanes.text_rows, candidates[~is_text])
    rows = np.insert(lanes.text_rows, places, candidates[~is_text])
    return rows, np.insert(fused, places, scores[~is_text])


def nearest(rows: Array, similarities: Array, at_least: float | None, depth: int) -> tuple[Array, Array]:
    """Return the `depth` most similar rows, ascending, and their similarities, none under `at_least`."""
    if at_least is not None:
        near = similarities >= at_least
        rows, similarities = rows[near], similarities[near]
    best = np.sort(best_positions(similarities, rows, depth))
    return rows[best], similarities[best]


def _convex(lanes: Lanes, candidates: Array, weight: float) -> Array:
    text = _looked_up(candidates, lanes.text_rows, lanes.text_scores)
    highest = float(lanes.text_scores.max()) if len(lanes.text_scores) else 1.0
    similar = _looked_up(candidates, lanes.vector_rows, lanes.similarities)
    fused: Array = (1 - weight) * text / highest + weight * similar
    return fused


def _reciprocal(candidates: Array, ranked: Array, constant: int) -> Array:
    found = np.zeros(len(candidates))
    found[np.searchsorted(candidates, ranked)] = 1.0 / (constant + 1 + np.arange(len(ranked)))
    return found


def _looked_up(wanted: Array, rows: Array, values: Array) -> Array:
    """Return the value of each wanted row, 0 where it has none; rows ascend."""
    if not len(rows):
        return np.zeros(len(wanted))
    at = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[at] == wanted, values[at], 0.0).astype(np.float64)
