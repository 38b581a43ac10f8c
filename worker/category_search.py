"""Searches one planned category, with one retry without the agent's own filter.

A category's failure is its `error`; it never ends its siblings
(docs/decisions/0004-category-failures-are-data.md). The client's filter is never dropped.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from search_proxy.binding import SearchBinding
from search_proxy.caller import Caller
from search_proxy.errors import SearchError, SearchTimeout
from search_proxy.filters import Filter, merge_filters
from search_proxy.models import Hit, IndexDescription, SearchRequest, SearchResult
from worker.planning.agent_filter import check_agent_filter
from worker.planning.plan import QueryExpansion

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryHits:
    """What one category found, or its `error`; `dropped_filter` is the agent's part when it had to go."""

    expansion: QueryExpansion
    hits: tuple[Hit, ...] = ()
    total_hits: int = 0
    milliseconds: float = 0.0
    applied_filter: Filter | None = None
    dropped_filter: str | None = None
    withheld: int = 0
    lanes: tuple[str, ...] = ()
    error: Mapping[str, Any] | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the `categoryHits` item. Source: docs/wire-format.md."""
        item: dict[str, Any] = {
            "query": self.expansion.query,
            "category": self.expansion.label,
            "confidence": round(self.expansion.confidence, 4),
            "hits": list(self.hits),
            "totalHits": self.total_hits,
            "processingTimeMs": self.milliseconds,
            "appliedFilter": None if self.applied_filter is None else str(self.applied_filter),
        }
        if self.dropped_filter is not None:
            item |= {"filterDropped": True, "originalFilter": self.dropped_filter}
        if self.error is not None:
            item["error"] = dict(self.error)
        return item


async def search_category(
    search: SearchBinding,
    caller: Caller,
    template: SearchRequest,
    expansion: QueryExpansion,
    description: IndexDescription,
    *,
    timeout_seconds: float = 5.0,
) -> CategoryHits:
    """Search `expansion` with the template's limit and client filter.

    A template without words (`q` None) is answered by the agent's filter alone, and nothing is scored; where
    that filter cannot be used, or finds nothing, the words are searched as ever.

    Never raises a `SearchError`: a category that cannot be searched says so in its `error`.
    """
    agent_filter, dropped = _agent_filter(expansion, description)
    applied = merge_filters(template.filter, agent_filter)
    began = time.perf_counter()
    try:
        async with asyncio.timeout(timeout_seconds):
            first = expansion.query if template.q is not None or agent_filter is None else None
            result = await _search(search, caller, template, first, applied)
            if result.total_hits == 0 and agent_filter is not None:
                dropped, applied = expansion.filter, template.filter
                result = await _search(
                    search, caller, replace(template, sort_by=()), expansion.query, applied
                )
    except (SearchError, TimeoutError) as error:
        logger.warning("category_search_failed", extra={"category": expansion.label, "reason": str(error)})
        return CategoryHits(
            expansion=expansion, applied_filter=applied, dropped_filter=dropped, error=search_failure(error)
        )
    return CategoryHits(
        expansion=expansion,
        hits=result.hits,
        total_hits=result.total_hits,
        milliseconds=round((time.perf_counter() - began) * 1000, 2),
        applied_filter=applied,
        dropped_filter=dropped,
        withheld=result.withheld,
        lanes=result.lanes,
    )


def _agent_filter(
    expansion: QueryExpansion, description: IndexDescription
) -> tuple[Filter | None, str | None]:
    """Return the filter to apply and, where it cannot be used, the text that was dropped."""
    if not expansion.filter:
        return None, None
    checked = check_agent_filter(expansion.filter, description)
    return checked.filter, None if checked.filter is not None else expansion.filter


async def _search(
    search: SearchBinding,
    caller: Caller,
    template: SearchRequest,
    query: str | None,
    applied: Filter | None,
) -> SearchResult:
    return await search.handle_search(caller, replace(template, q=query, filter=applied))


def search_failure(error: SearchError | TimeoutError) -> dict[str, Any]:
    """Return the `error` of a category whose search failed."""
    timed_out = isinstance(error, SearchTimeout | TimeoutError)
    return {
        "code": "search_timeout" if timed_out else "search_failed",
        "message": "this category took too long" if timed_out else "this category could not be searched",
        "stage": "category",
        "retryable": True,
    }
