"""The flow of one agentic search: first hits, a plan, its categories, a summary, the end.

The first search runs beside everything else. The plan is pushed in part by part, and each part's search is
fired at once; siblings never wait for each other. Where the plan comes from (model, catalog rules, nothing
for a short query) is the only difference between the paths.
"""

from __future__ import annotations

import asyncio
import logging

from search_proxy.errors import SearchError
from search_proxy.models import SearchResult
from worker.answer import Answer
from worker.category_search import search_category
from worker.errors import PlanningFailed, UpstreamFailed
from worker.events import EventName
from worker.planning.plan import (
    PlanDecision,
    PlanDegraded,
    PlanEvent,
    PlanRequest,
    PlanSource,
    QueryComplement,
    QueryExpansion,
    SummaryDelta,
)
from worker.request import AgenticRequest
from worker.run import Outcome, Run
from worker.services import Services
from worker.suggested_filters import suggest_filters
from worker.summary_step import stream_summary
from worker.timing import Stage
from worker.words import count_words

logger = logging.getLogger(__name__)


class AgenticSearch:
    """One answer being made; `__call__` is the work of its run."""

    def __init__(self, services: Services, request: AgenticRequest, run: Run) -> None:
        self._services = services
        self._request = request
        self._run = run
        self._searches: asyncio.TaskGroup | None = None
        self.answer = Answer(request=request, run_id=run.id)

    async def __call__(self, run: Run) -> None:
        """Make the answer and log its completion, however it ends.

        Raises:
            WorkerError: Nothing could be found at all; the run turns it into an event.
        """
        answer = self.answer
        try:
            async with asyncio.timeout(self._services.settings.run_total_seconds):
                await self._answer()
            answer.outcome = Outcome.DEGRADED if answer.degraded else Outcome.OK
        except asyncio.CancelledError:
            answer.outcome = Outcome.CANCELED
            raise
        except TimeoutError:
            run.emit(
                EventName.DELTA, {"error": _error("deadline_exceeded", "the answer took too long", "run")}
            )
        finally:
            logger.info("agentic_search_completed", extra=dict(answer.log_fields()))

    async def _answer(self) -> None:
        config = self._request.settings.agentic_config
        short = count_words(self._request.query) < config.short_query_words
        self._run.emit(
            EventName.INIT, {"categories": not short, "summary": not short and config.enable_summary}
        )
        async with asyncio.TaskGroup() as group:
            initial = group.create_task(self._first_hits(), name=f"first-hits:{self._run.id}")
            if short:
                self.answer.source = PlanSource.SHORT_QUERY_BYPASS
            else:
                await self._plan_and_search()
                await initial
                await self._finish_text()
        if self.answer.initial is None and not self.answer.categories:
            raise UpstreamFailed("the search could not be answered; please try again")
        self._run.emit(EventName.DELTA, {"receipt": self.answer.receipt()})

    async def _first_hits(self) -> None:
        """Search what the shopper typed and send it; a failure here leaves the categories standing."""
        request, answer = self._request, self.answer
        try:
            with answer.timings.measure(Stage.INITIAL_MARQO_SEARCH):
                result = await self._services.search.handle_search(request.caller, request.initial)
        except SearchError as error:
            logger.warning("initial_search_failed", extra={"run_id": self._run.id, "reason": str(error)})
            answer.warnings.append(f"initial search failed: {type(error).__name__}")
            failure = _error("search_failed", "the first search could not be answered", "search")
            self._run.emit(EventName.DELTA, {"error": failure})
            return
        answer.initial = result
        answer.timings.mark(Stage.TIME_TO_FIRST_HITS)
        self._run.emit(EventName.DELTA, self._hits_delta(result))

    def _hits_delta(self, result: SearchResult) -> dict[str, object]:
        delta: dict[str, object] = {"hits": list(result.hits), "totalHits": result.total_hits}
        if result.facets:
            delta["facets"] = result.facets
        if self._request.suggest_filters:
            delta["suggestedFilters"] = suggest_filters(self._request.query, result.facets)
        return delta

    async def _plan_and_search(self) -> None:
        """Push the plan in, firing each expansion's search as it comes; return when all have landed."""
        answer = self.answer
        self._run.emit(EventName.DELTA, {"status": "thinking"})
        async with asyncio.TaskGroup() as searches:
            self._searches = searches
            try:
                with answer.timings.measure(Stage.LLM_FIRST_CALL):
                    report = await self._services.planner.plan(self._plan_request(), self._on_plan_event)
            except PlanningFailed as error:
                answer.degraded = answer.degraded or error.message
                failure = _error(error.code, error.message, "plan", retryable=True)
                self._run.emit(EventName.DELTA, {"error": failure})
            else:
                answer.plan_report = report
                answer.source = report.source
                if report.model is None:
                    answer.timings.rename(Stage.LLM_FIRST_CALL, Stage.CATALOG_PLAN)
        if answer.complements:
            self._run.emit(EventName.DELTA, {"queryComplements": answer.complements})

    def _plan_request(self) -> PlanRequest:
        request = self._request
        return PlanRequest(
            caller=request.caller,
            index=request.index,
            query=request.query,
            max_categories=request.max_categories,
            client_filter=request.initial.filter,
            allow_filters=request.settings.agentic_config.filter_facets.enabled,
        )

    def _on_plan_event(self, event: PlanEvent) -> None:
        answer = self.answer
        match event:
            case QueryExpansion():
                self._fire(event)
            case QueryComplement(query=query):
                answer.complements.append(query)
            case SummaryDelta(text=text):
                answer.plan_summary.append(text)
            case PlanDecision():
                answer.decision = event
            case PlanDegraded(reason=reason):
                answer.degraded = reason
                self._run.emit(EventName.DELTA, {"status": "degraded"})

    def _fire(self, expansion: QueryExpansion) -> None:
        if self._searches is not None:
            self._searches.create_task(self._one_category(expansion), name=f"category:{expansion.label}")

    async def _one_category(self, expansion: QueryExpansion) -> None:
        request, answer = self._request, self.answer
        with answer.timings.measure(Stage.CATEGORY_SEARCH_TOTAL):
            found = await search_category(
                self._services.search, request.caller, request.category, expansion, request.description
            )
        answer.categories.append(found)
        self._run.emit(EventName.DELTA, {"categoryHits": [found.to_wire()]})
        if found.error is None:
            answer.first_category()

    async def _finish_text(self) -> None:
        """Send the plan's message or a summary, as the account has it."""
        if self.answer.decision.message:
            self._say(self.answer.decision.message)
        elif self._request.settings.agentic_config.enable_summary:
            self._run.emit(EventName.DELTA, {"status": "summarizing"})
            await stream_summary(self._services, self.answer, self._say)
        elif self.answer.plan_summary:
            self._say("".join(self.answer.plan_summary))

    def _say(self, text: str) -> None:
        self.answer.summary.append(text)
        self._run.emit(EventName.DELTA, {"summary": text})


def _error(code: str, message: str, stage: str, *, retryable: bool = True) -> dict[str, object]:
    return {"code": code, "message": message, "stage": stage, "retryable": retryable}
