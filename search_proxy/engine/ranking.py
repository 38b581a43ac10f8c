"""What a query matches and how well, by text and, where there are vectors, by meaning.

The text lane is asked once; what passes a filter is then cut out of it. The vector lane looks only at what
passes, so a filter never costs it a candidate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from search_proxy.engine.columns import Array
from search_proxy.engine.fusion import Lanes, fuse, nearest
from search_proxy.engine.query_reading import QueryReading, read_query
from search_proxy.engine.snapshot import Snapshot
from search_proxy.engine.text_query import phrase_mask, score_reading
from search_proxy.engine.vector_lane import VectorLane
from search_proxy.errors import SearchUnavailable
from search_proxy.models import SearchLane


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """A query's matches in the whole index; `text_rows` ascend. Without `text_scores` nothing is ranked.

    With `is_vector_alone` the scores are similarities, none below `min_similarity`. `required` is which rows
    have what stood in quotes.
    """

    snapshot: Snapshot
    lane: VectorLane | None
    reading: QueryReading | None
    text_rows: Array
    text_scores: Array | None
    vector: Array | None = None
    is_vector_alone: bool = False
    min_similarity: float | None = None
    required: Array | None = None

    @property
    def lanes(self) -> tuple[str, ...]:
        """Return what ranks: `text`, `vector`, or nothing."""
        if self.text_scores is None:
            return ()
        if self.is_vector_alone:
            return ("vector",)
        return ("text",) if self.vector is None else ("text", "vector")

    def within(self, mask: Array) -> tuple[Array, Array | None]:
        """Return the matches where `mask` is true, ascending, and their scores where something ranked."""
        if self.required is not None:
            mask = mask & self.required
        inside = mask[self.text_rows]
        rows = self.text_rows[inside]
        if self.text_scores is None:
            return rows, None
        scores = self.text_scores[inside]
        if self.vector is None or self.lane is None:
            return rows, scores
        at_least = self.min_similarity if self.is_vector_alone else self.lane.fusion.min_similarity
        near, similarities = self.lane.near(self.snapshot, self.vector, mask, rows, scores, at_least)
        if self.is_vector_alone:
            return nearest(near, similarities, self.min_similarity, self.lane.fusion.depth)
        lanes = Lanes(text_rows=rows, text_scores=scores, vector_rows=near, similarities=similarities)
        return fuse(lanes, self.snapshot.manifest.schema.fused(self.lane.fusion))


def rank_query(
    snapshot: Snapshot,
    query: str | None,
    lane: VectorLane | None,
    which: SearchLane = "all",
    min_similarity: float | None = None,
) -> Ranking:
    """Return the matches of `query`; None and `*` browse, a query without a word matches nothing.

    Raises:
        SearchUnavailable: Vectors alone are to rank, and there are none or the query cannot be embedded.
    """
    if query is None or query.strip() == "*":
        return Ranking(
            snapshot=snapshot,
            lane=None,
            reading=None,
            text_rows=np.flatnonzero(snapshot.live),
            text_scores=None,
        )
    # Half of a surrogate pair is no text that could be in a document.
    query = query.encode("utf-8", "replace").decode()
    reading = read_query(snapshot.text, query, snapshot.synonyms)
    if not reading.concepts:
        nothing = np.empty(0, np.int64)
        return Ranking(
            snapshot=snapshot,
            lane=None,
            reading=reading,
            text_rows=nothing,
            text_scores=np.empty(0, np.float32),
        )
    if which == "vector":
        return _by_vector_alone(snapshot, query, lane, reading, min_similarity)
    scores = score_reading(snapshot.text, reading)
    rows = np.flatnonzero(scores > 0)
    return Ranking(
        snapshot=snapshot,
        lane=lane,
        reading=reading,
        text_rows=rows,
        text_scores=scores[rows],
        vector=None if lane is None or which == "text" else lane.query_vector(snapshot, query),
        required=phrase_mask(snapshot.text, reading),
    )


def _by_vector_alone(
    snapshot: Snapshot,
    query: str,
    lane: VectorLane | None,
    reading: QueryReading,
    min_similarity: float | None,
) -> Ranking:
    vector = None if lane is None else lane.query_vector(snapshot, query)
    if vector is None:
        raise SearchUnavailable("the index has no vectors to compare the query with")
    return Ranking(
        snapshot=snapshot,
        lane=lane,
        reading=reading,
        text_rows=np.empty(0, np.int64),
        text_scores=np.empty(0, np.float32),
        vector=vector,
        is_vector_alone=True,
        min_similarity=min_similarity,
        required=phrase_mask(snapshot.text, reading),
    )
