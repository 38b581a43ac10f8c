"""What the first search asks: the shopper's sentence as the rules read it, before any model has answered.

"red mug under 20" searches for a mug, filtered; "my in-stock tents" only filters, and nothing is scored.
The rules' filter counts as the agent's part: where it leaves nothing it is dropped and marked, the
client's stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from search_proxy.filters import Filter, merge_filters
from search_proxy.models import SearchRequest
from worker.planning.catalog_decision import Decision
from worker.planning.plan import Strategy

WITHOUT_SEARCH = frozenset({Strategy.NO_MATCH, Strategy.NEEDS_CLARIFICATION})


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSearch:
    """The search to make, the rules' own part of its filter, and the plain search to fall back to."""

    wanted: SearchRequest
    plain: SearchRequest
    own_filter: Filter | None = None


def first_search(plain: SearchRequest, decision: Decision | None, *, allow_filters: bool) -> FirstSearch:
    """Return what to search first for a query that the rules have decided on; pure."""
    if decision is None or decision.strategy in WITHOUT_SEARCH | {Strategy.CONTENT_ONLY}:
        return FirstSearch(wanted=plain, plain=plain)
    own = decision.filter if allow_filters else None
    if own is None and (decision.filter is not None or decision.demands.sort is None):
        return FirstSearch(wanted=plain, plain=plain)
    wanted = replace(plain, filter=merge_filters(plain.filter, own))
    if decision.strategy is Strategy.METADATA_ONLY:
        wanted = replace(wanted, q=None)
    else:
        wanted = replace(wanted, q=decision.topic)
    if not plain.sort_by and decision.demands.sort is not None:
        wanted = replace(wanted, sort_by=(decision.demands.sort,))
    return FirstSearch(wanted=wanted, plain=plain, own_filter=own)
