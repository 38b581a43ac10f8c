"""Opens the model side: the client, and the planners over the chain of models.

Only `bootstrap.py` calls this; without a model there is no client and the catalog planner plans alone.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from search_proxy.binding import SearchBinding
from worker.chat_suggestions_model import SuggestionWriter
from worker.llm.breaker import CircuitBreaker
from worker.llm.language_model import LanguageModel
from worker.llm.token_budget import Spending, TokenBudget
from worker.model_client import open_model_client
from worker.planning.account_planner import AccountPlanner
from worker.planning.fallback_planner import GuardedModel, ResilientPlanner
from worker.planning.model_planner import ModelPlanner, ModelPlannerConfig
from worker.planning.planner import Planner
from worker.settings import Settings
from worker.tool_loop_model import ToolModels
from worker.trace.traced_model import traced


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelParts:
    """The client, where there is one, the planners in front of it, and the breakers that watch it.

    `converse_planner` never falls back to the catalog: a conversation has rules of its own.
    """

    model: LanguageModel | None
    planner: Planner
    converse_planner: Planner
    suggestions: SuggestionWriter | None
    tool_models: ToolModels | None
    breakers: dict[str, CircuitBreaker]
    budget: TokenBudget


@asynccontextmanager
async def open_model_parts(
    settings: Settings,
    search: SearchBinding,
    catalog_planner: Planner,
    spending: Spending | None = None,
    *,
    offline: bool = False,
    client: LanguageModel | None = None,
) -> AsyncIterator[ModelParts]:
    """Open what `settings` ask for; leaving closes the client and every stream it still has.

    `offline`, nothing is connected: `client` stands in the model's place, None is no model.
    """
    async with AsyncExitStack() as stack:
        opened = client if offline else await open_model_client(settings, stack)
        model = None if opened is None else traced(opened)
        budget = TokenBudget(time.time, settings.tokens_per_day, spending)
        breakers: dict[str, CircuitBreaker] = {}

        search_wire = ModelPlannerConfig(wire=settings.model_wire, deadlines=settings.deadlines())
        converse = _conversational(settings)

        def guarded(name: str, client: LanguageModel, asked: ModelPlannerConfig) -> GuardedModel:
            config = replace(asked, model=name)
            breaker = breakers.setdefault(name, CircuitBreaker(time.monotonic))
            return GuardedModel(planner=ModelPlanner(client, config, search.describe_index), breaker=breaker)

        def chained(chain: Sequence[str]) -> Planner:
            models = [] if model is None else [guarded(name, model, search_wire) for name in chain]
            total = settings.model_total_seconds
            return ResilientPlanner(models, catalog_planner, budget=budget, total_seconds=total)

        def conversing(chain: Sequence[str]) -> Planner:
            models = [] if model is None else [guarded(name, model, converse) for name in chain]
            total = settings.model_total_seconds
            return ResilientPlanner(
                models, catalog_planner, budget=budget, total_seconds=total, enough_expansions=0
            )

        suggestions = tool_models = None
        if model is not None:
            tool_models = ToolModels(
                model,
                chain=settings.model_chain(),
                deadlines=converse.deadlines,
                budget=budget,
                breakers=breakers,
                new_breaker=lambda: CircuitBreaker(time.monotonic),
            )
            suggestions = SuggestionWriter(
                model,
                default_model=settings.suggestions_model,
                deadlines=settings.deadlines(),
                budget=budget,
                breakers=breakers,
                new_breaker=lambda: CircuitBreaker(time.monotonic),
            )
        yield ModelParts(
            model=model,
            planner=AccountPlanner(chained, settings.model_chain()),
            converse_planner=AccountPlanner(conversing, settings.model_chain()),
            suggestions=suggestions,
            tool_models=tool_models,
            breakers=breakers,
            budget=budget,
        )


def _conversational(settings: Settings) -> ModelPlannerConfig:
    # A whole call comes at once, when all of it is written: its first event is nearly its last.
    grows = settings.model_wire == "partial_args"
    deadlines = settings.deadlines()
    if not grows:
        deadlines = replace(deadlines, first_event_seconds=settings.model_call_seconds)
    return ModelPlannerConfig(
        wire="partial_args" if grows else "function_call", deadlines=deadlines, conversational=True
    )
