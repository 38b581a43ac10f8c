"""Ranks documents by meaning: embeds the query, compares it with every vector that passes the filter.

Vectors that a background run appends meanwhile count from the next search on.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from search_proxy.engine.best_scores import best_positions
from search_proxy.engine.columns import Array
from search_proxy.engine.distinct import distinct
from search_proxy.engine.embedder import Embedder
from search_proxy.engine.fusion import Fusion
from search_proxy.engine.snapshot import Snapshot
from search_proxy.engine.vector_clusters import MIN_SEEN, SEEN_SHARE, Clusters
from search_proxy.engine.vectors import VectorFile, stored_vectors
from search_proxy.errors import SearchUnavailable

logger = logging.getLogger(__name__)

QUERY_CACHE_SIZE = 2_000
"""Of a 384-number model that is 3 MB."""


class _Mapped:
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

    def similarities_within(self, vector: Array, mask: Array) -> tuple[Array, Array]:
        """Return the rows where `mask` is true that have a vector, and how similar each is."""
        every = self.vectors.every_similarity(vector)
        if not self._is_in_order:
            every = every[self._positions]
        inside = mask[self._rows]
        return (self._rows, every) if inside.all() else (self._rows[inside], every[inside])

    def rows_at(self, positions: Array) -> Array:
        """Return the rows that have the vectors at `positions`."""
        rows, starts = self._rows_by_position
        sizes = starts[positions + 1] - starts[positions]
        which = np.repeat(np.arange(len(positions)), sizes)
        within = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        found: Array = rows[starts[positions][which] + within]
        return found

    @cached_property
    def _rows_by_position(self) -> tuple[Array, Array]:
        order = np.argsort(self.position_of_row, kind="stable")
        order = order[np.count_nonzero(self.position_of_row < 0) :]
        sizes = np.bincount(self.position_of_row[order], minlength=self.vectors.length)
        return order, np.concatenate([[0], np.cumsum(sizes)])


class VectorLane:
    """The vector side of every search of one process."""

    def __init__(self, embedder: Embedder, fusion: Fusion) -> None:
        self.embedder = embedder
        self.fusion = fusion
        self._lock = threading.Lock()
        self._queries: OrderedDict[str, Array] = OrderedDict()
        self._mapped: WeakKeyDictionary[Snapshot, _Mapped] = WeakKeyDictionary()
        self._files: WeakValueDictionary[Path, VectorFile] = WeakValueDictionary()

    def query_vector(self, snapshot: Snapshot, query: str) -> Array | None:
        """Return the vector of `query`, or None where there is nothing to compare it with.

        A model that cannot be asked leaves the search to the text lane; that is logged.
        """
        if not stored_vectors(snapshot.folder):
            return None
        key = " ".join(query.split())
        with self._lock:
            cached = self._queries.get(key)
            if cached is not None:
                self._queries.move_to_end(key)
                return cached
        try:
            vector: Array = self.embedder.embed_query(key)
        except SearchUnavailable as error:
            logger.warning("query_not_embedded", extra={"error": str(error)})
            return None
        with self._lock:
            self._queries[key] = vector
            if len(self._queries) > QUERY_CACHE_SIZE:
                self._queries.popitem(last=False)
        return vector

    def similarities(self, snapshot: Snapshot, vector: Array, rows: Array) -> tuple[Array, Array]:
        """Return those of `rows` that have a vector, and how similar each is."""
        return self._map(snapshot).similarities(vector, rows)

    def near(
        self, snapshot: Snapshot, vector: Array, mask: Array, text_rows: Array, text_scores: Array
    ) -> tuple[Array, Array]:
        """Return rows where `mask` is true, ascending, and how similar each is.

        They are all that have a vector; in a large index those that are likely the nearest, and the best of
        `text_rows`, which a fusion needs besides.
        """
        mapped = self._map(snapshot)
        vectors = mapped.vectors
        if vectors.are_few(int(np.count_nonzero(mask))):
            return mapped.similarities(vector, np.flatnonzero(mask))
        if vectors.clusters is None:
            return mapped.similarities_within(vector, mask)
        best_text = text_rows[best_positions(text_scores, text_rows, self.fusion.depth)]
        found = self._nearest(mapped, vectors.clusters, vector, mask)
        return mapped.similarities(vector, distinct(found, best_text))

    def _nearest(self, mapped: _Mapped, clusters: Clusters, vector: Array, mask: Array) -> Array:
        """Return the rows of the most similar vectors that pass `mask`, and look on until they are enough."""
        depth = self.fusion.depth
        at_least = max(MIN_SEEN, int(SEEN_SHARE * mapped.vectors.length))
        while True:
            positions, similar = clusters.nearest(mapped.vectors.matrix, vector, at_least)
            tried = 4 * depth
            while True:
                best = best_positions(similar, positions, tried)
                rows = mapped.rows_at(positions[best])
                rows = rows[mask[rows]]
                if len(rows) >= depth:
                    return rows
                if tried >= len(positions):
                    break
                tried *= 8
            if at_least >= mapped.vectors.length:
                return rows
            at_least *= 4

    def embedded_documents(self, snapshot: Snapshot) -> int:
        """Return how many living documents have a vector."""
        return int((self._map(snapshot).position_of_row[snapshot.live] >= 0).sum())

    def _map(self, snapshot: Snapshot) -> _Mapped:
        with self._lock:
            mapped = self._mapped.get(snapshot)
        if mapped is None or mapped.vectors.length != stored_vectors(snapshot.folder):
            with self._lock:
                before = self._files.get(snapshot.folder)
            vectors = VectorFile(snapshot.folder, self.embedder, before)
            mapped = _Mapped(vectors, np.asarray(vectors.positions(snapshot.text_hashes)))
            with self._lock:
                self._mapped[snapshot] = mapped
                self._files[snapshot.folder] = vectors
        return mapped
