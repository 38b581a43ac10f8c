"""Puts a search through the view gate so that page, total and facets still agree.

Where the gate takes hits out, the search is asked again without them, a few times at most: the page is full
again, and total and facets are those of what is left. What lies behind the judged hits is counted as
retrieval has it. A gate that cannot decide leaves nothing: no hit, no count, no facet.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from search_proxy.filters import InFilter, NotFilter, merge_filters
from search_proxy.models import SearchRequest, SearchResult
from search_proxy.viewing.gate import View, ViewGate, ViewGateFailed

logger = logging.getLogger(__name__)

MAX_JUDGED = 200
"""Deeper pages are judged by themselves."""

ROUNDS = 3

Search = Callable[[SearchRequest], Awaitable[SearchResult]]


async def judged_search(
    search: Search, gate: ViewGate, view: View, request: SearchRequest, *, from_the_first: bool
) -> SearchResult:
    """Return what the gate lets through of a search, and in `withheld` how many hits it took out.

    `from_the_first` judges the pages before this one too, so that what was taken out of them moves this one
    up and no hit stands on two pages.

    Raises:
        SearchError: As the search.
    """
    whole = _from_the_first(request) if from_the_first else request
    refused: set[str] = set()
    limit = whole.limit
    for _ in range(ROUNDS):
        result = await search(_without(replace(whole, limit=limit), refused))
        try:
            allowed = await gate.allowed(replace(view, generation=result.generation), result.hits)
        except ViewGateFailed as error:
            return _closed(view, request, result, error)
        newly = {str(hit["_id"]) for hit in result.hits} - allowed
        refused |= newly
        if not newly:
            break
        # Where some were taken out more may be: a page is filled from twice as many.
        limit = max(whole.limit, min(MAX_JUDGED, 2 * limit + 10))
    else:
        counted = await search(replace(_without(whole, refused), offset=0, limit=1))
        result = replace(result, total_hits=counted.total_hits, facets=counted.facets)
    if refused:
        logger.info("view_gate_withheld", extra={**_facts(view), "withheld": len(refused)})
    hits = tuple(hit for hit in result.hits if str(hit["_id"]) in allowed)
    skipped = request.offset - whole.offset
    return replace(
        result,
        hits=hits[skipped : skipped + request.limit],
        limit=request.limit,
        offset=request.offset,
        withheld=len(refused),
    )


def _from_the_first(request: SearchRequest) -> SearchRequest:
    end = request.offset + request.limit
    if request.offset <= 0 or request.limit < 1 or end > MAX_JUDGED:
        return request
    return replace(request, offset=0, limit=end)


def _without(request: SearchRequest, refused: set[str]) -> SearchRequest:
    if not refused:
        return request
    others = NotFilter(InFilter(field="_id", values=tuple(sorted(refused))))
    return replace(
        request,
        filter=merge_filters(request.filter, others),
        forced_filter=merge_filters(request.forced_filter, others),
    )


def _closed(view: View, request: SearchRequest, result: SearchResult, error: ViewGateFailed) -> SearchResult:
    logger.warning(
        "view_gate_failed",
        extra={**_facts(view), "reason": error.reason, "detail": str(error), "withheld": len(result.hits)},
    )
    return replace(
        result,
        hits=(),
        total_hits=0,
        facets={name: {} for name in result.facets},
        limit=request.limit,
        offset=request.offset,
        universe_size=None,
        below_floor=None,
        retrieval=None,
        withheld=len(result.hits),
    )


def _facts(view: View) -> dict[str, str]:
    return {"account": view.account_id, "index": view.index, "request_id": view.request_id}
