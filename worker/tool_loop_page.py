"""Puts what the tools find on the shopper's page: a category per search, as it lands, in the shop's own form.

A tool's hits are made for a model. The page's are fetched by their ids, with every right and filter of the
turn; a product that the answer links to is on the page before the answer is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from search_proxy.errors import SearchError
from search_proxy.filters import Filter, InFilter, merge_filters
from search_proxy.models import Hit
from search_proxy.tools.definition import ToolAnswer
from worker.category_search import CategoryHits
from worker.converse_turn import ConverseTurn
from worker.llm.language_model import FunctionCall
from worker.planning.plan import QueryExpansion
from worker.timing import Stage

logger = logging.getLogger(__name__)

_LONGEST_LABEL = 60
_LONGEST_QUERY = 300
_UNNAMED = "Products"


class ToolFinds:
    """What the tools of one turn have returned, and what of it the shopper has."""

    def __init__(self, turn: ConverseTurn) -> None:
        self.prices: set[float] = set()
        self._turn = turn
        self._titles: dict[str, str] = {}
        self._labels: set[str] = set()

    async def take(self, call: FunctionCall, answer: ToolAnswer) -> None:
        """Note a call's products; where it was a search, show them."""
        found = answer.structured or {}
        hits = _products(found)
        for hit in hits:
            self._titles[hit["id"]] = str(hit.get("title") or hit["id"])
            price = hit.get("price", hit.get("fields", {}).get("price"))
            if isinstance(price, int | float) and not isinstance(price, bool):
                self.prices.add(float(price))
        if "hits" in found:
            await self._show_search(call, found, answer.applied_filter)

    async def show_linked(self, text: str) -> None:
        """Show the products that a text links to and that the shopper does not have yet."""
        sent = {str(hit["_id"]) for hit in self._turn.sent_hits()}
        linked = [name for name in self._titles if name not in sent and _links_to(text, name)]
        linked = linked[: self._turn.request.agentic.category.limit]
        if linked:
            label = ", ".join(self._titles[name] for name in linked)
            await self._show(label, label, linked, len(linked), self._turn.request.agentic.category.filter)

    async def _show_search(
        self, call: FunctionCall, found: Mapping[str, Any], applied: Filter | None
    ) -> None:
        agentic = self._turn.request.agentic
        ids = [str(hit["id"]) for hit in found["hits"]][: agentic.category.limit]
        label = _label(call.args)
        sent = {str(hit["_id"]) for hit in self._turn.sent_hits()}
        is_full = len(self._labels) >= agentic.max_categories
        if is_full or label.casefold() in self._labels or sent.issuperset(ids):
            return
        self._labels.add(label.casefold())
        await self._show(_query(call.args) or label, label, ids, int(found["total"]), applied)

    async def _show(
        self, query: str, label: str, ids: Sequence[str], total: int, applied: Filter | None
    ) -> None:
        turn = self._turn
        expansion = QueryExpansion(query=query[:_LONGEST_QUERY], label=label[:_LONGEST_LABEL], confidence=1.0)
        began = asyncio.get_running_loop().time()
        with turn.answer.timings.measure(Stage.CATEGORY_SEARCH_TOTAL):
            hits = await self._fetched(ids)
        if not hits:
            return
        turn.answer.expansions.append(expansion)
        turn.stream.show(
            CategoryHits(
                expansion=expansion,
                hits=hits,
                total_hits=max(total, len(hits)),
                milliseconds=round((asyncio.get_running_loop().time() - began) * 1000, 2),
                applied_filter=applied,
            )
        )

    async def _fetched(self, ids: Sequence[str]) -> tuple[Hit, ...]:
        """Return the hits of these ids in their order; none where they cannot be fetched."""
        agentic = self._turn.request.agentic
        wanted = replace(
            agentic.category,
            q=None,
            filter=merge_filters(agentic.category.filter, InFilter("_id", tuple(ids))),
            limit=len(ids),
            collapse=False,
        )
        services = self._turn.services
        try:
            async with asyncio.timeout(services.settings.search_timeout_seconds):
                result = await services.search.handle_search(agentic.caller, wanted)
        except (SearchError, TimeoutError) as error:
            self._turn.answer.warnings.append(f"tool_hits_not_shown:{type(error).__name__}")
            logger.warning("tool_hits_not_shown", extra={"error": repr(error)})
            return ()
        places = {name: place for place, name in enumerate(ids)}
        return tuple(sorted(result.hits, key=lambda hit: places.get(str(hit["_id"]), len(places))))


def _products(found: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the hits or documents of a tool's answer; a page of the web has none."""
    if "body" in found and "id" in found:
        return [found]
    return [*found.get("hits", ()), *found.get("documents", ())]


def _links_to(text: str, identifier: str) -> bool:
    return any(f"{start}{identifier}{end}" in text for start, end in (("p:", ">"), ("p:", ")"), ("|", ">")))


def _query(arguments: Mapping[str, Any]) -> str:
    queries = arguments.get("queries")
    first = queries[0] if isinstance(queries, list) and queries else queries
    return " ".join(str(arguments.get("query") or first or "").split())


def _label(arguments: Mapping[str, Any]) -> str:
    """Return what a search is called: its query, or for a listing the values that it asked for."""
    filters = arguments.get("filter")
    text = _query(arguments) or ", ".join(_values(filters)) or _UNNAMED
    return f"{text[0].upper()}{text[1:]}"[:_LONGEST_LABEL]


def _values(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        for value in part.values():
            yield from _values(value)
    elif isinstance(part, list):
        for value in part:
            yield from _values(value)
    elif isinstance(part, str):
        yield " ".join(part.split())
