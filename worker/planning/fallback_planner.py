"""A plan whatever happens: the models of the chain in turn, then the catalog planner.

A model is asked again, or the next one asked, only while nothing of the plan is out. From the first
expansion on, what came stays, and the catalog planner fills up where it is too little
(docs/model.md tells each failure and what the shopper sees).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from search_proxy.errors import SearchError
from worker.errors import PlanningFailed, WorkerError
from worker.llm.breaker import CircuitBreaker
from worker.llm.language_model import ModelError
from worker.llm.token_budget import TokenBudget
from worker.planning.emitted import EmittedPlan
from worker.planning.model_planner import ModelPlanner, ModelPlanningFailed
from worker.planning.plan import Emit, PlanDegraded, PlanReport, PlanRequest, PlanSource, TokenUsage
from worker.planning.planner import Planner

logger = logging.getLogger(__name__)

ENOUGH_EXPANSIONS = 2
"""A plan with fewer offers no choice; the catalog planner fills it up. Source: design, model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """When a model is asked a second time, which happens only before its first output."""

    attempts: int = 2
    quick_seconds: float = 0.1
    """The wait where the server gave no advice."""
    longest_wait_seconds: float = 1.0
    """A server that asks for more is given up: the catalog planner is there at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedModel:
    """A model planner and the breaker that remembers how it has been doing."""

    planner: ModelPlanner
    breaker: CircuitBreaker


@dataclass(slots=True)
class _Trail:
    """What the models cost and why they failed, for the report."""

    usage: TokenUsage = TokenUsage()
    warnings: list[str] = field(default_factory=list)
    attempts: int = 0
    reason: str = ""
    model: str | None = None

    def failed(self, model: str, error: ModelError) -> None:
        self.reason = error.kind
        self.warnings.append(f"model_failed:{error.kind}:{model}")
        facts = {"model": model, "kind": error.kind, "status": error.status, "error": str(error)}
        logger.warning("model_attempt_failed", extra=facts | {"attempt": self.attempts})


class ResilientPlanner:
    """The `Planner` that a worker runs with.

    With fewer expansions than `enough_expansions` the catalog planner fills up; with 0 it never does, and
    `report.complete` says whether the models did their part.
    """

    def __init__(
        self,
        models: Sequence[GuardedModel],
        catalog: Planner,
        *,
        budget: TokenBudget,
        total_seconds: float = 8.0,
        enough_expansions: int = ENOUGH_EXPANSIONS,
        retry: RetryPolicy | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._models = tuple(models)
        self._catalog = catalog
        self._budget = budget
        self._total_seconds = total_seconds
        self._enough_expansions = enough_expansions
        self._retry = retry or RetryPolicy()
        self._clock = clock
        self._sleep = sleep

    async def plan(self, request: PlanRequest, emit: Emit) -> PlanReport:
        """Push the plan's parts through `emit` and return how it went.

        Raises:
            PlanningFailed: No model answered and the catalog planner failed as well.
        """
        emitted = EmittedPlan(emit, request.max_categories)
        trail = _Trail()
        report = await self._ask_models(request, emitted, trail)
        if report is not None:
            if emitted.contradicts_itself:
                emitted.settle()
                trail.warnings.append("contradictory_strategy")
            answered = replace(report, usage=trail.usage, warnings=(*trail.warnings, *report.warnings))
            if emitted.answers_without_search or emitted.expansions >= self._enough(request):
                return replace(answered, details={"attempts": trail.attempts})
            trail.reason = "too_few_expansions"
            trail.warnings = [*answered.warnings, "too_few_expansions"]
        elif emitted.expansions >= self._enough(request):
            return self._cut_report(trail)
        return await self._fill(request, emitted, trail)

    async def _ask_models(
        self, request: PlanRequest, emitted: EmittedPlan, trail: _Trail
    ) -> PlanReport | None:
        """Return the report of the first model that answered, or None."""
        account = request.caller.account_id
        if not self._models:
            trail.reason = "no_model"
            return None
        if not self._budget.allows(account, request.tokens_per_day):
            trail.reason = "budget_spent"
            trail.warnings.append("budget_spent")
            return None
        end = self._clock() + self._total_seconds
        for guarded in self._models:
            report = await self._ask(guarded, request, emitted, trail, end)
            if report is not None or emitted.anything or self._clock() >= end:
                return report
        return None

    async def _ask(
        self, guarded: GuardedModel, request: PlanRequest, emitted: EmittedPlan, trail: _Trail, end: float
    ) -> PlanReport | None:
        model = guarded.planner.config.model
        for attempt in range(self._retry.attempts):
            if not guarded.breaker.allow():
                trail.reason = trail.reason or "breaker_open"
                trail.warnings.append(f"breaker_open:{model}")
                return None
            trail.attempts += 1
            trail.model = model
            try:
                return await self._attempt(guarded, request, emitted, trail, end)
            except ModelPlanningFailed as failed:
                trail.failed(model, failed.error)
                trail.warnings += failed.warnings
                wait = self._wait(failed.error, end - self._clock())
                if emitted.anything or wait is None or attempt + 1 == self._retry.attempts:
                    return None
            await self._sleep(wait)
        return None

    async def _attempt(
        self, guarded: GuardedModel, request: PlanRequest, emitted: EmittedPlan, trail: _Trail, end: float
    ) -> PlanReport:
        """Ask once, and tell breaker and budget how it went, whichever way it ends."""
        tell: Callable[[], None] = guarded.breaker.released
        usage = TokenUsage()

        def note(used: TokenUsage) -> None:
            # Whoever leaves in mid-answer has used tokens, too.
            nonlocal usage
            usage = used
            request.note_usage(used if trail.attempts == 1 else _sum(trail.usage, used))

        try:
            report = await guarded.planner.attempt(
                replace(request, note_usage=note),
                emitted.emit,
                within_seconds=max(end - self._clock(), 0.0),
            )
            tell = guarded.breaker.succeeded
            return report
        except ModelPlanningFailed as failed:
            kind = failed.error.kind
            tell = lambda: guarded.breaker.failed(kind)  # noqa: E731
            raise
        finally:
            tell()
            self._budget.spend(request.caller.account_id, usage)
            trail.usage = _sum(trail.usage, usage)

    def _wait(self, error: ModelError, left: float) -> float | None:
        """Return how long to wait before asking again, or None where asking again is no use."""
        if not error.retryable:
            return None
        wait = error.retry_after_seconds
        if wait is None:
            wait = self._retry.quick_seconds
        return wait if wait <= min(self._retry.longest_wait_seconds, left) else None

    def _enough(self, request: PlanRequest) -> int:
        return min(self._enough_expansions, request.max_categories)

    def _cut_report(self, trail: _Trail) -> PlanReport:
        return PlanReport(
            source=PlanSource.LLM,
            model=trail.model,
            usage=trail.usage,
            warnings=tuple(trail.warnings),
            complete=False,
            details={"attempts": trail.attempts, "reason": trail.reason},
        )

    async def _fill(self, request: PlanRequest, emitted: EmittedPlan, trail: _Trail) -> PlanReport:
        degraded = trail.reason != "no_model"
        if degraded:
            emitted.emit(PlanDegraded(reason=trail.reason))
        details = {"attempts": trail.attempts, "reason": trail.reason}
        try:
            report = await self._catalog.plan(request, emitted.fill)
        except (WorkerError, SearchError) as error:
            if not emitted.expansions:
                raise PlanningFailed(f"no plan: {trail.reason}, and the catalog gave none") from error
            logger.warning("catalog_planner_failed", extra={"error": str(error), "index": request.index})
            warnings = (*trail.warnings, "catalog_failed")
            return PlanReport(
                source=PlanSource.CATALOG,
                usage=trail.usage,
                warnings=warnings,
                complete=False,
                details=details,
            )
        return replace(
            report,
            source=PlanSource.CATALOG,
            usage=_sum(trail.usage, report.usage),
            warnings=(*trail.warnings, *report.warnings),
            complete=report.complete and not degraded,
            details={**report.details, **details},
        )


def _sum(one: TokenUsage, other: TokenUsage) -> TokenUsage:
    return TokenUsage(
        input=one.input + other.input,
        output=one.output + other.output,
        thoughts=one.thoughts + other.thoughts,
        cached=one.cached + other.cached,
    )
