"""Brings the text lane and the vector lane into one order.

Weighted reciprocal ranks are the default (docs/decisions/0013-lanes-are-fused-by-rank.md): what the best of
each lane are worth depends on their places, and text scores that say nearly the same share one place. What
only the text lane has beyond its best follows in its own order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from search_proxy.engine.best_scores import best_positions
from search_proxy.engine.columns import Array
from search_proxy.engine.distinct import distinct

FusionMethod = Literal["convex", "weighted_rrf", "rrf"]

SHARED_STEP = 0.05
"""Text scores this share of the best one apart say nearly the same: their ranks would be chance."""

_ORDERS_EQUAL = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """How the lanes are fused; `depth` of each are candidates.

    `weighted_rrf` is the one in which text shares places; `rrf` is the plain one; `convex` adds the scores
    themselves, with the true similarity of every candidate. Below `min_similarity` the vector lane brings
    nothing of its own, so that nonsense finds nothing. The value is measured for MiniLM (docs/engine.md) and
    belongs to a model, as similarities do.
    """

    method: FusionMethod = "weighted_rrf"
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
    candidates = distinct(lanes.text_rows[best_text], lanes.vector_rows[best_vector])
    if fusion.method == "convex":
        scores = _convex(lanes, candidates, fusion.weight)
    else:
        scores = _reciprocal(lanes, best_text, best_vector, candidates, fusion)
    # Behind every candidate comes what only the text lane has, in its own order.
    places = np.searchsorted(lanes.text_rows, candidates)
    is_text = np.zeros(len(candidates), bool)
    inside = np.count_nonzero(places < len(lanes.text_rows))
    is_text[:inside] = lanes.text_rows[places[:inside]] == candidates[:inside]
    chosen = places[is_text]
    if len(chosen) == len(lanes.text_rows):
        return candidates, scores
    fused = lanes.text_scores.astype(np.float64)
    fused[chosen] = -np.inf
    highest = float(fused.max())
    floor = float(scores.min()) if len(scores) else 0.0
    fused *= (floor if floor > 0 else 1.0) / (highest * 1.001)
    if floor <= 0:
        fused += floor - 1
    fused[chosen] = scores[is_text]
    return _with(lanes.text_rows, fused, places[~is_text], candidates[~is_text], scores[~is_text])


def _with(
    rows: Array, scores: Array, places: Array, more_rows: Array, more_scores: Array
) -> tuple[Array, Array]:
    """Return `rows` and `scores` with more of them, put in before those at `places`, which ascend."""
    if not len(places):
        return rows, scores
    is_before = np.ones(len(rows) + len(places), bool)
    at = places + np.arange(len(places))
    is_before[at] = False
    all_rows = np.empty(len(is_before), rows.dtype)
    all_scores = np.empty(len(is_before), scores.dtype)
    all_rows[is_before], all_rows[at] = rows, more_rows
    all_scores[is_before], all_scores[at] = scores, more_scores
    return all_rows, all_scores


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


def _reciprocal(
    lanes: Lanes, best_text: Array, best_vector: Array, candidates: Array, fusion: Fusion
) -> Array:
    """Return what each candidate's places are worth; the first place in both lanes is worth 1."""
    text_scores = lanes.text_scores[best_text].astype(np.float64)
    text_places = np.arange(len(best_text), dtype=np.float64)
    if fusion.method == "weighted_rrf":
        text_places = _shared_places(text_scores)
    first = fusion.rank_constant + 1
    scores = np.zeros(len(candidates))
    at = np.searchsorted(candidates, lanes.text_rows[best_text])
    scores[at] = (1 - fusion.weight) * first / (first + text_places)
    if fusion.method == "weighted_rrf" and len(at):
        # Those that share all their places are in the order of their text scores.
        scores[at] += _ORDERS_EQUAL * text_scores / text_scores[0]
    at = np.searchsorted(candidates, lanes.vector_rows[best_vector])
    scores[at] += fusion.weight * first / (first + np.arange(len(best_vector)))
    return scores


def _shared_places(scores: Array) -> Array:
    """Return the place of each score, the best first; scores of the same step share the mean of theirs."""
    if not len(scores):
        return scores
    steps = np.ceil(scores / (SHARED_STEP * scores[0]) - _ORDERS_EQUAL)
    is_edge = np.ones(len(steps) + 1, bool)
    np.not_equal(steps[1:], steps[:-1], out=is_edge[1:-1])
    edges = np.flatnonzero(is_edge)
    places: Array = np.repeat((edges[:-1] + edges[1:] - 1) / 2, np.diff(edges))
    return places


def _looked_up(wanted: Array, rows: Array, values: Array) -> Array:
    """Return the value of each wanted row, 0 where it has none; rows ascend."""
    if not len(rows):
        return np.zeros(len(wanted))
    at = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[at] == wanted, values[at], 0.0).astype(np.float64)
