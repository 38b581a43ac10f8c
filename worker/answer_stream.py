"""What an answer sends: first hits, categories as they land, text, and the receipt at its end.

The flow decides where the plan comes from; this file fires the searches of whatever plan comes and writes
the events. Siblings never wait for each other, and every event is noted in the `Answer`.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from search_proxy.errors import SearchError
from search_proxy.filters import Filter
from search_proxy.models import SearchResult
from worker.answer import Answer
from worker.category_search import search_category
from worker.events import EventName
from worker.first_search import WITHOUT_SEARCH, FirstSearch, first_search
from worker.metadata_search import category_template, executed
from worker.planning.catalog_decision import Decision
from worker.planning.plan import (
    PlanDecision,
    PlanDegraded,
    PlanEvent,
    QueryComplement,
    QueryExpansion,
    Strategy,
    SummaryDelta,
)
from worker.reranking import rerank_first_hits
from worker.run import Run
from worker.services import Services
from worker.suggested_filters import suggest_filters
from worker.summary_request import as_remembered
from worker.timing import Stage

logger = logging.getLogger(__name__)


class AnswerStream:
    """Writes one answer into its run.

    Of a category's hits the answer remembers what a summary speaks of; `keeps_hits` keeps them whole.
    """

    def __init__(self, services: Services, answer: Answer, run: Run, *, keeps_hits: bool = False) -> None:
        self.answer = answer
        self.keeps_hits = keeps_hits
        self._services = services
        self._run = run
        self._opened = asyncio.Event()
        self._searches: asyncio.TaskGroup | None = None
        self._under_way: set[asyncio.Task[None]] = set()
        self._offered = 0
        self._withdrawn = False
        self._taken: set[str] = set()

    def open(self, *, categories: bool, summary: bool) -> None:
        """Say what will follow; nothing is sent before."""
        self._run.emit(EventName.INIT, {"categories": categories, "summary": summary})
        self.answer.timings.mark(Stage.TIME_TO_FIRST_EVENT)
        self._opened.set()

    def status(self, status: str) -> None:
        """Say what is being done."""
        self._run.emit(EventName.DELTA, {"status": status})

    def fail(self, code: str, message: str, stage: str) -> None:
        """Send a failure that ends its stage and not the answer."""
        failure = {"code": code, "message": message, "stage": stage, "retryable": True}
        self._run.emit(EventName.DELTA, {"error": failure})

    async def first_hits(self, decision: Decision | None) -> None:
        """Search what the shopper asked for and send it; a failure here leaves the categories standing."""
        answer, request = self.answer, self.answer.request
        allow_filters = request.settings.agentic_config.filter_facets.enabled
        first = first_search(request.initial, decision, allow_filters=allow_filters)
        try:
            with answer.timings.measure(Stage.INITIAL_MARQO_SEARCH):
                async with asyncio.timeout(self._services.settings.search_timeout_seconds):
                    result, dropped = await self._search_first(first)
        except (SearchError, TimeoutError) as error:
            logger.warning("initial_search_failed", extra={"run_id": self._run.id, "reason": str(error)})
            answer.warnings.append(f"initial_search_failed:{type(error).__name__}")
            await self._opened.wait()
            self.fail("search_failed", "the first search could not be answered", "search")
            return
        answer.initial, answer.searched = result, first.plain if dropped else first.wanted
        await self._opened.wait()
        answer.timings.mark(Stage.TIME_TO_FIRST_HITS)
        applied = first.plain.filter if dropped else first.wanted.filter
        self._run.emit(EventName.DELTA, self._hits_delta(result, first.own_filter, applied, dropped=dropped))

    async def better_hits(self, first_hits: asyncio.Task[None]) -> None:
        """Look for a better order of the first hits and send it when it comes in time."""
        await rerank_first_hits(self._services, self.answer, self._run, first_hits)

    async def _search_first(self, first: FirstSearch) -> tuple[SearchResult, bool]:
        """Return what was found, and whether the rules' own part had to be left out for it."""
        search, caller = self._services.search, self.answer.request.caller
        result = await search.handle_search(caller, first.wanted)
        if result.total_hits or first.wanted == first.plain:
            return result, False
        return await search.handle_search(caller, first.plain), True

    def searching_in(self, searches: asyncio.TaskGroup) -> None:
        """Fire the searches of the plan's parts to come in this group."""
        self._searches = searches

    def take(self, event: PlanEvent) -> None:
        """Take a part of a plan; an expansion's search starts at once."""
        answer = self.answer
        match event:
            case QueryExpansion():
                self._fire(event)
            case QueryComplement(query=query):
                answer.complements.append(query)
            case SummaryDelta(text=text):
                answer.plan_summary.append(text)
            case PlanDecision():
                answer.decision = executed(event, answer)
            case PlanDegraded(reason=reason):
                answer.degraded = reason
                answer.timings.hand_over()
                self.status("degraded")

    async def landed(self) -> None:
        """Return when no category is being searched."""
        if self._under_way:
            await asyncio.wait(self._under_way)

    def say(self, text: str) -> None:
        """Send a piece of the summary."""
        if self.answer.decision.strategy in WITHOUT_SEARCH and not self.answer.expansions:
            self._withdraw_hits()
        self.answer.summary.append(text)
        self._run.emit(EventName.DELTA, {"summary": text})

    def _withdraw_hits(self) -> None:
        """Say, once, that the query was no search after all, so that no product stands beside the words."""
        strategy = self.answer.decision.strategy
        if strategy is not None and self.answer.initial is not None and not self._withdrawn:
            self._withdrawn = True
            self._run.emit(EventName.DELTA, {"strategy": strategy.value, "hits": [], "totalHits": 0})

    def offer_complements(self) -> None:
        """Send the follow-up queries, where there are any that were not sent."""
        if len(self.answer.complements) > self._offered:
            self._offered = len(self.answer.complements)
            self._run.emit(EventName.DELTA, {"queryComplements": self.answer.complements})

    def close(self) -> None:
        """Send the receipt, in the last delta."""
        self._run.emit(EventName.DELTA, {"receipt": self.answer.receipt()})

    def _fire(self, expansion: QueryExpansion) -> None:
        names = {f"q:{expansion.query.casefold()}:{expansion.filter}", f"l:{expansion.label.casefold()}"}
        full = len(self.answer.expansions) >= self.answer.request.max_categories
        if self._searches is None or full or self._taken & names:
            return
        self._taken |= names
        self.answer.expansions.append(expansion)
        searching = self._one_category(expansion, self.answer.decision.strategy)
        task = self._searches.create_task(searching, name=f"category:{expansion.label}")
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _one_category(self, expansion: QueryExpansion, strategy: Strategy | None) -> None:
        request, answer = self.answer.request, self.answer
        with answer.timings.measure(Stage.CATEGORY_SEARCH_TOTAL):
            template, row = await category_template(self._services.reader, request, strategy, expansion)
            found = await search_category(
                self._services.search,
                request.caller,
                template,
                row,
                request.description.only(request.settings.agentic_config.filter_facets.fields),
                timeout_seconds=self._services.settings.search_timeout_seconds,
            )
        self._run.emit(EventName.DELTA, {"categoryHits": [found.to_wire()]})
        remembered = found if self.keeps_hits else replace(found, hits=as_remembered(found.hits))
        answer.categories.append(remembered)
        if found.error is None:
            answer.timings.mark(Stage.TIME_TO_FIRST_CATEGORY)

    def _hits_delta(
        self, result: SearchResult, own: Filter | None, applied: Filter | None, *, dropped: bool
    ) -> dict[str, object]:
        request = self.answer.request
        delta: dict[str, object] = {"hits": list(result.hits), "totalHits": result.total_hits}
        delta["appliedFilter"] = None if applied is None else str(applied)
        if dropped and own is not None:
            delta |= {"filterDropped": True, "originalFilter": str(own)}
        if result.facets:
            delta["facets"] = result.facets
        if request.suggest_filters:
            delta["suggestedFilters"] = suggest_filters(request.query, result.facets)
        return delta
