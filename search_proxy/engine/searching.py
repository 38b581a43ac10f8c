"""Answers one search over one snapshot: filter, match, order, collapse, count, return a page.

The whole match set is in hand before anything is cut off, so totals, facets and pages always agree.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from search_proxy.engine.columns import Array
from search_proxy.engine.explaining import explain_rows
from search_proxy.engine.facets import check_facets, count_facet
from search_proxy.engine.filtering import check_fields, rows_passing, without_terms
from search_proxy.engine.ordering import MAX_SORT_FIELDS, by_fields, by_score, first_of_each_product
from search_proxy.engine.postings import rows_of
from search_proxy.engine.query_reading import QueryReading, read_query
from search_proxy.engine.snapshot import Snapshot
from search_proxy.engine.text_query import product_query
from search_proxy.errors import InvalidSearch
from search_proxy.filters import Filter
from search_proxy.models import Hit, SearchRequest, SearchResult

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """What a query matches before any filter: rows, and their scores where something was ranked."""

    rows: Array
    scores: Array | None
    reading: QueryReading | None = None


def search_snapshot(snapshot: Snapshot, request: SearchRequest) -> SearchResult:
    """Return one page of hits, with totals and facets over all of them.

    Raises:
        InvalidSearch: A limit is out of range, or the filter, a facet or the sort cannot be answered.
    """
    started = time.perf_counter()
    _check(snapshot, request)
    matches = _match(snapshot, request.q)
    passing = rows_passing(snapshot, request.filter)
    mask = _mask(snapshot, rows_of(passing))
    inside = mask[matches.rows]
    rows = matches.rows[inside]
    scores = None if matches.scores is None else matches.scores[inside]
    if request.sort_by:
        order = by_fields(snapshot, rows, scores, request.sort_by)
    else:
        order = by_score(rows, scores) if scores is not None else np.arange(len(rows))
    ordered = rows[order]
    collapsed = first_of_each_product(snapshot, ordered) if request.collapse else ordered
    page = collapsed[request.offset : request.offset + request.limit]
    score_of = (
        dict(zip(rows.tolist(), scores.tolist(), strict=True)) if scores is not None and len(page) else {}
    )
    hits = _hits(snapshot, request, page, score_of, matches)
    return SearchResult(
        hits=hits,
        total_hits=len(collapsed),
        facets=_facets(snapshot, request, matches, rows),
        query=request.q,
        limit=request.limit,
        offset=request.offset,
        processing_time_ms=(time.perf_counter() - started) * 1000,
        universe_size=len(passing),
    )


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


def _match(snapshot: Snapshot, query: str | None) -> Matches:
    if query is None or query.strip() == "*":
        return Matches(rows=np.flatnonzero(snapshot.live), scores=None)
    reading = read_query(snapshot.text, query, snapshot.vocabulary, snapshot.synonyms)
    if not reading.concepts:
        return Matches(rows=np.empty(0, np.int64), scores=np.empty(0, np.float32))
    serials, scores = snapshot.text.matches(product_query(snapshot.text, reading))
    rows, known = snapshot.rows_of_serials(serials)
    return Matches(rows=rows[known], scores=scores[known], reading=reading)


def _mask(snapshot: Snapshot, rows: Array) -> Array:
    mask = np.zeros(snapshot.size, bool)
    mask[rows] = True
    return mask


def _facets(
    snapshot: Snapshot, request: SearchRequest, matches: Matches, rows: Array
) -> Mapping[str, Mapping[str, Any]]:
    if request.facets is None:
        return {}
    counted = _mask(snapshot, rows)
    facets = {}
    for field in request.facets.fields:
        own = counted
        if field.exclude_terms:
            wider = without_terms(request.filter, field.exclude_terms)
            own = _matched_mask(snapshot, matches, wider)
        facets[field.name] = count_facet(snapshot, field, request.facets, own, by_product=request.collapse)
    return facets


def _matched_mask(snapshot: Snapshot, matches: Matches, wanted: Filter | None) -> Array:
    mask = _mask(snapshot, rows_of(rows_passing(snapshot, wanted)))
    return mask & _mask(snapshot, matches.rows)


def _hits(
    snapshot: Snapshot,
    request: SearchRequest,
    page: Array,
    score_of: Mapping[int, float],
    matches: Matches,
) -> tuple[Hit, ...]:
    attributes = (
        DEFAULT_ATTRIBUTES if request.attributes_to_retrieve is None else request.attributes_to_retrieve
    )
    hits = []
    for row in page.tolist():
        document = snapshot.document(row)
        shown = (
            document
            if "*" in attributes
            else {name: document[name] for name in attributes if name in document}
        )
        hits.append({**shown, "_id": document["_id"], "_score": score_of.get(row)})
    if request.explain and matches.reading is not None:
        for hit, explanation in zip(hits, explain_rows(snapshot, matches.reading, page), strict=True):
            hit["_explain"] = explanation
    return tuple(hits)
