"""A model planner on a scripted server, with deadlines short enough for a test to let them pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from search_proxy.caller import Caller
from search_proxy.models import FieldInfo, IndexDescription
from tests.support.fixed_planner import FixedPlanner
from tests.support.scripted_gemini import ScriptedGemini
from worker.llm.breaker import CircuitBreaker
from worker.llm.credentials import ApiKey
from worker.llm.deadlines import Deadlines
from worker.llm.gemini_request import GeminiEndpoint
from worker.llm.gemini_rest import open_gemini_rest
from worker.llm.token_budget import TokenBudget
from worker.planning.fallback_planner import GuardedModel, ResilientPlanner
from worker.planning.model_planner import ModelPlanner, ModelPlannerConfig
from worker.planning.plan import PlanEvent, PlanReport, PlanRequest

CALLER = Caller(account_id="acme", key_kind="open")
REQUEST = PlanRequest(caller=CALLER, index="shop", query="something warm", max_categories=6)
PATIENT = Deadlines(first_event_seconds=4.0, gap_seconds=4.0, total_seconds=4.5)
HASTY = Deadlines(first_event_seconds=0.25, gap_seconds=0.25, total_seconds=60.0)
COLORS = (("red", 60), ("blue", 30))
DESCRIPTION = IndexDescription(
    index="shop",
    documents=200,
    products=100,
    fields=(
        FieldInfo(name="productTitle", kind="string", documents=200, distinct=200),
        FieldInfo(name="_sku", kind="string", documents=200, distinct=200),
        FieldInfo(name="ean", kind="string", documents=200, distinct=199, top_values=(("123", 1),)),
        FieldInfo(
            name="color", kind="string", documents=90, distinct=2, top_values=(("red", 60), ("blue", 30))
        ),
        FieldInfo(name="price", kind="number", documents=200, distinct=80, minimum=5, maximum=349.5),
        FieldInfo(name="inStock", kind="boolean", documents=200, distinct=2),
        FieldInfo(name="category", kind="string", documents=150, distinct=9, top_values=(("Tents", 40),)),
    ),
    category_field="category",
    language="en",
    generation="1",
)


@dataclass(slots=True)
class FakeClock:
    """A clock that stands still until it is moved; sleeping moves it."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        self.slept.append(seconds)
        self.now += seconds


@dataclass(slots=True, kw_only=True)
class Planning:
    """A resilient planner over one model, or a chain, and everything that a test looks at."""

    server: ScriptedGemini
    planner: ResilientPlanner
    models: list[GuardedModel]
    catalog: FixedPlanner
    clock: FakeClock
    budget: TokenBudget

    async def plan(self, request: PlanRequest = REQUEST) -> tuple[list[PlanEvent], PlanReport]:
        """Return what a request emitted and the report."""
        events: list[PlanEvent] = []
        async with asyncio.timeout(5):
            report = await self.planner.plan(request, events.append)
        return events, report


async def describe(caller: Caller, index: str) -> IndexDescription:
    """Return the description of the only index."""
    return replace(DESCRIPTION, index=index)


@asynccontextmanager
async def model_planner(
    server: ScriptedGemini, describing: Callable[..., Any] = describe, **config: Any
) -> AsyncIterator[ModelPlanner]:
    """Open a planner over one model of that server."""
    settings = ModelPlannerConfig(**({"deadlines": PATIENT} | config))
    async with open_gemini_rest(GeminiEndpoint(base_url=server.base_url), ApiKey("test-key")) as model:
        yield ModelPlanner(model, settings, describing)


@asynccontextmanager
async def planning(
    server: ScriptedGemini,
    *,
    chain: Sequence[str] = ("gemini-3.5-flash-lite",),
    total_seconds: float = 4.5,
    deadlines: Deadlines = PATIENT,
    catalog: FixedPlanner | None = None,
    tokens_per_day: int | None = None,
) -> AsyncIterator[Planning]:
    """Open a resilient planner over the models of those names."""
    clock, catalog = FakeClock(), catalog or FixedPlanner()
    budget = TokenBudget(clock, tokens_per_day)
    async with open_gemini_rest(GeminiEndpoint(base_url=server.base_url), ApiKey("test-key")) as model:
        models = [
            GuardedModel(
                planner=ModelPlanner(model, ModelPlannerConfig(model=name, deadlines=deadlines), describe),
                breaker=CircuitBreaker(clock),
            )
            for name in chain
        ]
        planner = ResilientPlanner(
            models, catalog, budget=budget, total_seconds=total_seconds, clock=clock, sleep=clock.sleep
        )
        yield Planning(
            server=server, planner=planner, models=models, catalog=catalog, clock=clock, budget=budget
        )
