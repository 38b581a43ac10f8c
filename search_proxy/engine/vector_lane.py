"""Ranks documents by meaning: embeds the query, compares it with every vector that passes the filter.

Vectors that a background run appends meanwhile count from the next search on.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from pathlib import Path
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from search_proxy.engine.best_scores import best_positions
from search_proxy.engine.columns import Array
from search_proxy.engine.embedder import Embedder
from search_proxy.engine.fusion import Fusion
from search_proxy.engine.nearest_rows import NearestRows
from search_proxy.engine.snapshot import Snapshot
from search_proxy.engine.vectors import VectorFile, stored_vectors
from search_proxy.errors import SearchUnavailable

logger = logging.getLogger(__name__)

QUERY_CACHE_SIZE = 2_000
"""Of a 384-number model that is 3 MB."""


class VectorLane:
    """The vector side of every search of one process."""

    def __init__(self, embedder: Embedder, fusion: Fusion) -> None:
        self.embedder = embedder
        self.fusion = fusion
        self._lock = threading.Lock()
        self._queries: OrderedDict[str, Array] = OrderedDict()
        self._mapped: WeakKeyDictionary[Snapshot, NearestRows] = WeakKeyDictionary()
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
        self,
        snapshot: Snapshot,
        vector: Array,
        mask: Array,
        text_rows: Array,
        text_scores: Array,
        at_least: float | None = None,
    ) -> tuple[Array, Array]:
        """Return rows where `mask` is true, ascending, and how similar each is.

        Among them are the nearest, as many as a fusion takes; in a large index those that are likely the
        nearest. Below `at_least`, any may be missing. Where a fusion needs their similarities, the best of
        `text_rows` are there, too.
        """
        mapped = self._map(snapshot)
        rows, similarities = mapped.nearest(vector, mask, self.fusion.depth, at_least)
        fusion = snapshot.manifest.schema.fused(self.fusion)
        if fusion.method != "convex" and mapped.vectors.clusters is None:
            return rows, similarities
        best_text = text_rows[best_positions(text_scores, text_rows, fusion.depth)]
        more, theirs = mapped.similarities(vector, np.setdiff1d(best_text, rows, assume_unique=True))
        every = np.concatenate([rows, more])
        order = np.argsort(every, kind="stable")
        return every[order], np.concatenate([similarities, theirs])[order]

    def embedded_documents(self, snapshot: Snapshot) -> int:
        """Return how many living documents have a vector."""
        return int((self._map(snapshot).position_of_row[snapshot.live] >= 0).sum())

    def _map(self, snapshot: Snapshot) -> NearestRows:
        with self._lock:
            mapped = self._mapped.get(snapshot)
        if mapped is None or not mapped.vectors.is_current():
            with self._lock:
                before = self._files.get(snapshot.folder)
            vectors = VectorFile(snapshot.folder, self.embedder, before)
            mapped = NearestRows(vectors, np.asarray(vectors.positions(snapshot.text_hashes)))
            with self._lock:
                self._mapped[snapshot] = mapped
                self._files[snapshot.folder] = vectors
        return mapped
