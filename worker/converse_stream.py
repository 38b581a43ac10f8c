"""What a turn sends: the conversation's id, text, categories as they land, and the receipt at its end.

The flow decides what to search and say; this file fires the searches and writes the events. Every event is
noted in the `Answer`, whose categories keep what the thread has to remember of their hits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from search_proxy.errors import SearchError
from search_proxy.filters import Filter, merge_filters
from search_proxy.models import Hit, SearchRequest
from worker.answer import Answer
from worker.category_search import CategoryHits, search_category, search_failure
from worker.converse_request import ConverseRequest
from worker.events import EventName
from worker.metadata_search import category_template, executed
from worker.planning.plan import (
    PlanDecision,
    PlanDegraded,
    PlanEvent,
    QueryComplement,
    QueryExpansion,
    Strategy,
    SummaryDelta,
)
from worker.run import Run
from worker.services import Services
from worker.timing import Stage


class ConverseStream:
    """Writes one turn into its run."""

    def __init__(self, services: Services, request: ConverseRequest, answer: Answer, run: Run) -> None:
        self.answer = answer
        self._services = services
        self._request = request
        self._run = run
        self._searches: asyncio.TaskGroup | None = None
        self._taken: set[str] = set()

    def begin(self, conversation_id: str) -> None:
        """Send the conversation's id, before anything is waited for."""
        self._run.emit(EventName.CONVERSATION_ID, {"conversationId": conversation_id})
        self.answer.timings.mark(Stage.TIME_TO_FIRST_EVENT)

    def say(self, text: str) -> None:
        """Send a piece of what is said."""
        if text:
            self.answer.summary.append(text)
            self._run.emit(EventName.MESSAGE, {"text": text})

    def offer(self, options: Sequence[str]) -> None:
        """Send what the shopper could say next, where there is something to offer."""
        if options:
            self.answer.complements = list(options)
            self._run.emit(EventName.MESSAGE, {"queryComplements": list(options)})

    def progress(self, status: str, tool: str | None = None) -> None:
        """Send what is being done while the model searches by tools."""
        self._run.emit(EventName.MESSAGE, {"status": status} | ({} if tool is None else {"tool": tool}))

    def fail(self, code: str, message: str, stage: str) -> None:
        """Send a failure that ends its stage and not the turn."""
        failure = {"code": code, "message": message, "stage": stage, "retryable": True}
        self._run.emit(EventName.ERROR, failure)

    def close(self, receipt: Mapping[str, Any]) -> None:
        """Send the receipt, in the last message."""
        self._run.emit(EventName.MESSAGE, {"receipt": receipt})

    def searching_in(self, searches: asyncio.TaskGroup) -> None:
        """Fire the searches of the plan's parts to come in this group."""
        self._searches = searches

    def take(self, event: PlanEvent) -> None:
        """Take a part of a plan; an expansion's search starts at once."""
        match event:
            case QueryExpansion():
                self._fire(event)
            case QueryComplement(query=query):
                self.answer.complements.append(query)
            case SummaryDelta(text=text):
                self.answer.plan_summary.append(text)
            case PlanDecision():
                self.answer.decision = executed(event, self.answer)
            case PlanDegraded(reason=reason):
                self.answer.degraded = reason

    async def search(self, label: str, search: SearchRequest, ids: Sequence[str] = ()) -> CategoryHits:
        """Make one search of the rules and send what it found; `search.filter` is theirs alone.

        With `ids` the hits come in that order.
        """
        agentic = self._request.agentic
        bound = replace(search, filter=merge_filters(agentic.category.filter, search.filter))
        expansion = QueryExpansion(query=search.q or label, label=label, confidence=1.0)
        began = time.perf_counter()
        found = CategoryHits(expansion=expansion, applied_filter=bound.filter)
        with self.answer.timings.measure(Stage.CATEGORY_SEARCH_TOTAL):
            try:
                async with asyncio.timeout(self._services.settings.search_timeout_seconds):
                    result = await self._services.search.handle_search(agentic.caller, bound)
                hits = _ordered(result.hits, ids)
                found = replace(found, hits=hits, total_hits=result.total_hits, withheld=result.withheld)
            except (SearchError, TimeoutError) as error:
                found = replace(found, error=search_failure(error))
        found = replace(found, milliseconds=round((time.perf_counter() - began) * 1000, 2))
        self.show(found)
        return found

    async def look_up(self, wanted: Filter, names: tuple[str, ...], limit: int) -> Sequence[Hit]:
        """Return matching hits without sending them; none where the search fails."""
        agentic = self._request.agentic
        search = replace(
            agentic.category,
            q=None,
            filter=merge_filters(agentic.category.filter, wanted),
            attributes_to_retrieve=names,
            limit=limit,
            collapse=False,
        )
        try:
            async with asyncio.timeout(self._services.settings.search_timeout_seconds):
                return (await self._services.search.handle_search(agentic.caller, search)).hits
        except (SearchError, TimeoutError) as error:
            self.answer.warnings.append(f"look_up_failed:{type(error).__name__}")
            return ()

    def _fire(self, expansion: QueryExpansion) -> None:
        names = {f"q:{expansion.query.casefold()}:{expansion.filter}", f"l:{expansion.label.casefold()}"}
        full = len(self.answer.expansions) >= self._request.agentic.max_categories
        if self._searches is None or full or self._taken & names:
            return
        self._taken |= names
        self.answer.expansions.append(expansion)
        searching = self._one_category(expansion, self.answer.decision.strategy)
        self._searches.create_task(searching, name=f"category:{expansion.label}")

    async def _one_category(self, expansion: QueryExpansion, strategy: Strategy | None) -> None:
        agentic = self._request.agentic
        with self.answer.timings.measure(Stage.CATEGORY_SEARCH_TOTAL):
            template, row = await category_template(self._services.reader, agentic, strategy, expansion)
            found = await search_category(
                self._services.search,
                agentic.caller,
                template,
                row,
                agentic.description.only(agentic.settings.agentic_config.filter_facets.fields),
                timeout_seconds=self._services.settings.search_timeout_seconds,
            )
        self.show(found)

    def show(self, found: CategoryHits) -> None:
        """Send a category that has been searched."""
        self.answer.categories.append(found)
        shown = replace(found, hits=self._request.shown(found.hits))
        self._run.emit(EventName.CATEGORY_HITS, {"categoryHits": [shown.to_wire()]})
        if found.error is None:
            self.answer.timings.mark(Stage.TIME_TO_FIRST_CATEGORY)


def _ordered(hits: Sequence[Hit], ids: Sequence[str]) -> tuple[Hit, ...]:
    places = {identifier: place for place, identifier in enumerate(ids)}
    return tuple(sorted(hits, key=lambda hit: places.get(str(hit["_id"]), 0)))
