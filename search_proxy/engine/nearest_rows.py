"""Finds the rows of one generation that are nearest to a query, and compares only those that can be.

Every vector that passes is compared as bytes, which says what its similarity is not above. The best by that
have true similarities, and the lowest of these is a height that no wanted row is under; only rows whose bound
reaches it are compared with the vectors themselves. So the answer is the same as if all had been.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from search_proxy.engine.best_scores import positions_from
from search_proxy.engine.columns import Array
from search_proxy.engine.quantised import QueryCodes, query_codes
from search_proxy.engine.vector_clusters import MIN_SEEN, SEEN_SHARE, Clusters
from search_proxy.engine.vectors import VectorFile

FEW_ROWS = 1_000
"""So many rows are compared at once with their vectors: that takes a tenth of a millisecond."""

GATHER_SHARE = 0.3
GATHER_ROWS = 40_000
"""Below this share, and number, of rows, gathering the codes of a filter is faster than comparing all."""

_NEVER = np.float32(-np.inf)


class NearestRows:
    """The vectors of one generation: where each row's is, and which rows share one."""

    def __init__(self, vectors: VectorFile, position_of_row: Array) -> None:
        self.vectors = vectors
        self.position_of_row = position_of_row
        self._rows = np.flatnonzero(position_of_row >= 0)
        self._positions = position_of_row[self._rows]
        # As it is after a load: then nothing has to be looked up by position.
        self._is_in_order = np.array_equal(self._positions, np.arange(vectors.length))

    def similarities(self, vector: Array, rows: Array) -> tuple[Array, Array]:
        """Return those of `rows` that have a vector, and how similar each is."""
        positions = self.position_of_row[rows]
        known = positions >= 0
        return rows[known], self.vectors.similarities(vector, positions[known])

    def nearest(self, vector: Array, mask: Array, depth: int, at_least: float | None) -> tuple[Array, Array]:
        """Return rows where `mask` is true, ascending, and how similar each is.

        Among them are the `depth` nearest, with all that equal the last of them; below `at_least`, any may be
        missing. In a large index they are the nearest of its nearest groups.
        """
        passing = int(np.count_nonzero(mask))
        query = None if passing <= FEW_ROWS else query_codes(vector)
        if query is None:
            return self.similarities(vector, np.flatnonzero(mask))
        floor = np.float32(-np.inf if at_least is None else at_least)
        if passing < GATHER_SHARE * len(mask) and passing <= GATHER_ROWS:
            return self._nearest_of_few(vector, query, mask, depth, floor)
        if self.vectors.clusters is not None:
            return self._nearest_of_groups(self.vectors.clusters, vector, query, mask, depth, floor)
        bounds = self.vectors.codes.upper_bounds(query)
        if not self._is_in_order:
            bounds = bounds[self._positions]
        if passing < len(mask):
            np.copyto(bounds, _NEVER, where=~mask[self._rows])
        return self._compared(vector, self._rows, self._positions, bounds, depth, floor)

    def _nearest_of_few(
        self, vector: Array, query: QueryCodes, mask: Array, depth: int, floor: np.float32
    ) -> tuple[Array, Array]:
        rows = np.flatnonzero(mask)
        positions = self.position_of_row[rows]
        known = positions >= 0
        if not known.all():
            rows, positions = rows[known], positions[known]
        bounds = self.vectors.codes.upper_bounds_at(query, positions)
        return self._compared(vector, rows, positions, bounds, depth, floor)

    def _compared(
        self, vector: Array, rows: Array, positions: Array, bounds: Array, depth: int, floor: np.float32
    ) -> tuple[Array, Array]:
        """Return those of `rows` that can be wanted, by their `bounds`, and how similar each is."""
        possible = bounds >= floor if floor > _NEVER else bounds > _NEVER
        if np.count_nonzero(possible) <= max(FEW_ROWS, depth):
            chosen = np.flatnonzero(possible)
            return rows[chosen], self.vectors.similarities(vector, positions[chosen])
        best = positions_from(bounds, depth)
        similar = self.vectors.similarities(vector, positions[best])
        chosen = np.flatnonzero(bounds >= max(floor, _lowest_of_best(similar, depth)))
        is_best = bounds[chosen] >= bounds[best].min()
        similarities = np.empty(len(chosen), np.float32)
        similarities[is_best] = similar
        similarities[~is_best] = self.vectors.similarities(vector, positions[chosen[~is_best]])
        return rows[chosen], similarities

    def _nearest_of_groups(
        self, clusters: Clusters, vector: Array, query: QueryCodes, mask: Array, depth: int, floor: np.float32
    ) -> tuple[Array, Array]:
        """Look into the nearest groups, and on until enough vectors have a row that passes `mask`."""
        at_least = max(MIN_SEEN, int(SEEN_SHARE * self.vectors.length))
        while True:
            positions, bounds = clusters.upper_bounds(self.vectors.codes, vector, query, at_least)
            tried = depth
            while True:
                best = positions_from(bounds, tried)
                rows = self._passing(positions[best], mask)
                if len(rows) >= depth or len(best) == len(positions):
                    break
                tried *= 4
            if len(rows) >= depth or len(positions) == self.vectors.length:
                break
            at_least *= 4
        known, similar = self.similarities(vector, np.sort(rows))
        if len(rows) >= depth:
            height = _lowest_of_best(similar, depth)
            rows = self._passing(positions[bounds >= max(floor, height)], mask)
            known, similar = self.similarities(vector, np.sort(rows))
        return known, similar

    def _passing(self, positions: Array, mask: Array) -> Array:
        """Return the rows that have the vectors at `positions` and pass `mask`."""
        rows, starts = self._rows_by_position
        sizes = starts[positions + 1] - starts[positions]
        which = np.repeat(np.arange(len(positions)), sizes)
        within = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        found: Array = rows[starts[positions][which] + within]
        return found[mask[found]]

    @cached_property
    def _rows_by_position(self) -> tuple[Array, Array]:
        order = np.argsort(self.position_of_row, kind="stable")
        order = order[np.count_nonzero(self.position_of_row < 0) :]
        sizes = np.bincount(self.position_of_row[order], minlength=self.vectors.length)
        return order, np.concatenate([[0], np.cumsum(sizes)])


def _lowest_of_best(similarities: Array, depth: int) -> np.float32:
    """Return what the `depth` highest similarities reach."""
    at = len(similarities) - depth
    lowest: np.float32 = np.partition(similarities, at)[at]
    return lowest
