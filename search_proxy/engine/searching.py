"""Answers one search over one snapshot: filter, match, order, collapse, count, return a page.

The whole match set is in hand before anything is cut off, so totals, facets and pages always agree.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from search_proxy.engine.columns import Array
from search_proxy.engine.explaining import explain_rows
from search_proxy.engine.facets import check_facets, count_facet, matched_rows
from search_proxy.engine.filtering import check_fields, passing, without_terms
from search_proxy.engine.hit_reasons import HitReasons, below_floor
from search_proxy.engine.ordering import (
    MAX_SORT_FIELDS,
    by_fields,
    by_score,
    count_products,
    first_of_each_product,
)
from search_proxy.engine.ranking import Ranking, rank_query
from search_proxy.engine.snapshot import Snapshot
from search_proxy.engine.vector_lane import VectorLane
from search_proxy.errors import InvalidSearch
from search_proxy.models import Hit, Retrieval, SearchRequest, SearchResult

MAX_LIMIT = 1_000
MAX_OFFSET = 10_000

DEFAULT_ATTRIBUTES = (
    "productTitle",
    "variantTitle",
    "price",
    "currency",
    "variantImageUrl",
    "productCollections",
    "parentProductId",
    "brand",
    "category",
)


def search_snapshot(
    snapshot: Snapshot, request: SearchRequest, lane: VectorLane | None = None
) -> SearchResult:
    """Return one page of hits, with totals and facets over all of them.

    Raises:
        InvalidSearch: A limit is out of range, or the filter, a facet or the sort cannot be answered.
        SearchUnavailable: The index has vectors of another model than the lane's, or none where they alone
            were to rank.
    """
    started = time.perf_counter()
    _check(snapshot, request)
    universe = passing(snapshot, request.filter, request.forced_filter)
    # A filter that nothing passes is answered from the postings alone; a model's filters often are such.
    is_empty = not universe.count and not _has_wider_facets(request)
    ranking = rank_query(snapshot, "" if is_empty else request.q, lane, request.lane, request.min_similarity)
    rows, scores = ranking.within(universe.mask)
    page = _page(snapshot, request, rows, scores)
    return SearchResult(
        hits=_hits(snapshot, request, page, _scores_of(page, rows, scores), ranking),
        total_hits=count_products(snapshot, rows) if request.collapse else len(rows),
        facets=_facets(snapshot, request, ranking, rows),
        query=request.q,
        limit=request.limit,
        offset=request.offset,
        processing_time_ms=(time.perf_counter() - started) * 1000,
        universe_size=universe.count,
        lanes=ranking.lanes,
        generation=snapshot.manifest.generation,
        retrieval=_retrieval(request, universe.count),
        below_floor=below_floor(ranking, universe.mask) if request.reasons else None,
    )


def _retrieval(request: SearchRequest, universe: int) -> Retrieval | None:
    has_both = request.filter is not None and request.q is not None and request.q.strip() not in ("", "*")
    return Retrieval(choice="filter_first", universe=universe) if has_both else None


def _page(snapshot: Snapshot, request: SearchRequest, rows: Array, scores: Array | None) -> Array:
    """Return the rows of the page that was asked for; only as much is put in order as it takes."""
    end = request.offset + request.limit
    depth = end if request.collapse is False else 4 * end + 100
    while True:
        if request.sort_by:
            ordered = rows[by_fields(snapshot, rows, scores, request.sort_by)]
        else:
            ordered = rows if scores is None else rows[by_score(rows, scores, depth)]
        shown = first_of_each_product(snapshot, ordered) if request.collapse else ordered
        if len(shown) >= end or len(ordered) == len(rows):
            return shown[request.offset : end]
        depth *= 8


def _has_wider_facets(request: SearchRequest) -> bool:
    return request.facets is not None and any(field.exclude_terms for field in request.facets.fields)


def _check(snapshot: Snapshot, request: SearchRequest) -> None:
    if not 1 <= request.limit <= MAX_LIMIT:
        raise InvalidSearch(f"limit must be 1 to {MAX_LIMIT}, not {request.limit!r}")
    if not 0 <= request.offset <= MAX_OFFSET:
        raise InvalidSearch(f"offset must be 0 to {MAX_OFFSET}, not {request.offset!r}")
    if len(request.sort_by) > MAX_SORT_FIELDS:
        raise InvalidSearch(f"sortBy must have at most {MAX_SORT_FIELDS} fields, not {len(request.sort_by)}")
    check_fields(snapshot, [field.name for field in request.sort_by], "sortBy")
    if request.facets is not None:
        check_facets(request.facets)
        check_fields(snapshot, [field.name for field in request.facets.fields], "facets")


def _scores_of(page: Array, rows: Array, scores: Array | None) -> list[float | None]:
    if scores is None:
        return [None] * len(page)
    return [float(score) for score in scores[np.searchsorted(rows, page)]]


def _facets(
    snapshot: Snapshot, request: SearchRequest, ranking: Ranking, rows: Array
) -> Mapping[str, Mapping[str, Any]]:
    if request.facets is None:
        return {}
    facets = {}
    shown = matched_rows(snapshot, rows)
    for field in request.facets.fields:
        own = shown
        if field.exclude_terms:
            wider = without_terms(request.filter, field.exclude_terms)
            found, _ = ranking.within(passing(snapshot, wider, request.forced_filter).mask)
            own = matched_rows(snapshot, found)
        facets[field.name] = count_facet(snapshot, field, request.facets, own, by_product=request.collapse)
    return facets


def _hits(
    snapshot: Snapshot,
    request: SearchRequest,
    page: Array,
    scores: Sequence[float | None],
    ranking: Ranking,
) -> tuple[Hit, ...]:
    wanted = request.attributes_to_retrieve
    attributes = (*(DEFAULT_ATTRIBUTES if wanted is None else wanted), *request.forced_attributes)
    reasons = HitReasons(ranking, request) if request.reasons else None
    hits = []
    for row, score in zip(page.tolist(), scores, strict=True):
        whole = document = snapshot.document(row)
        if "*" not in attributes:
            identifier = document["_id"]
            document = {name: document[name] for name in attributes if name in document}
            document["_id"] = identifier
        document["_score"] = score
        if reasons is not None:
            document |= reasons.of(whole)
        hits.append(document)
    if request.explain and ranking.reading is not None and ranking.reading.concepts:
        for hit, explanation in zip(hits, explain_rows(ranking, page), strict=True):
            hit["_explain"] = explanation
    return tuple(hits)
