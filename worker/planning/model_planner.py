"""Asks one language model for a plan and passes each part on as it arrives.

One attempt with one model: retry, a second model and the catalog planner are `fallback_planner.py`'s.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from search_proxy.caller import Caller
from search_proxy.errors import SearchError
from search_proxy.models import IndexDescription
from worker.errors import PlanningFailed
from worker.llm.deadlines import Deadlines, read_within
from worker.llm.language_model import Finish, LanguageModel, ModelError, ModelEvent, Usage
from worker.llm.search_tool import Wire
from worker.planning.facet_context import facet_context
from worker.planning.plan import (
    Emit,
    ExpansionsComplete,
    PlanReport,
    PlanRequest,
    PlanSource,
    TokenUsage,
)
from worker.planning.plan_prompt import PlanPrompt
from worker.planning.plan_reader import PlanReader

logger = logging.getLogger(__name__)

Describe = Callable[[Caller, str], Awaitable[IndexDescription]]

_REMEMBERED_CONTEXTS = 64
_DESCRIBE_SECONDS = 0.3
"""A plan without filters now is worth more than one with filters later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlannerConfig:
    """How a model is asked for plans."""

    model: str = "gemini-3.5-flash-lite"
    wire: Wire = "structured"
    deadlines: Deadlines = Deadlines()
    max_output_tokens: int = 1200
    max_facet_tokens: int = 800
    conversational: bool = False
    """Whether the plan also holds what is said to the shopper."""


class ModelPlanningFailed(PlanningFailed):
    """The model's part of a plan failed; what was emitted before stays valid.

    `error.kind` says how, `usage` what it cost, `warnings` what was wrong with the parts that came.
    """

    def __init__(self, error: ModelError, usage: TokenUsage, warnings: tuple[str, ...]) -> None:
        super().__init__(f"the model gave no complete plan: {error.kind}")
        self.error = error
        self.usage = usage
        self.warnings = warnings


class ModelPlanner:
    """A `Planner` over one model."""

    def __init__(self, model: LanguageModel, config: ModelPlannerConfig, describe: Describe) -> None:
        self.config = config
        self._model = model
        self._describe = describe
        self._prompt = PlanPrompt(
            model=config.model,
            wire=config.wire,
            max_output_tokens=config.max_output_tokens,
            conversational=config.conversational,
        )
        self._contexts: OrderedDict[tuple[str | tuple[str, ...] | None, ...], str] = OrderedDict()

    async def plan(self, request: PlanRequest, emit: Emit) -> PlanReport:
        """Push the plan's parts through `emit` and return how it went.

        Raises:
            ModelPlanningFailed: The model failed; what was emitted stays valid.
        """
        return await self.attempt(request, emit, within_seconds=self.config.deadlines.total_seconds)

    async def attempt(self, request: PlanRequest, emit: Emit, *, within_seconds: float) -> PlanReport:
        """Plan as `plan` does, in what is left of a longer deadline.

        Raises:
            ModelPlanningFailed: As `plan`.
        """
        facets, warnings = await self._facets(request) if request.allow_filters else ("", ())
        reader = PlanReader(max_expansions=request.max_categories, allow_filters=bool(facets))
        announces = self.config.model if request.announce_complete else None
        heard = _Heard(reader, emit, announces, request.note_usage)
        deadlines = replace(self.config.deadlines, total_seconds=within_seconds)
        try:
            await read_within(deadlines, self._model, self._prompt.write(request, facets), heard.take)
        except ModelError as error:
            heard.close()
            raise ModelPlanningFailed(error, heard.usage, (*warnings, *reader.fields.warnings)) from error
        heard.close()
        if heard.finish == "MAX_TOKENS":
            reader.fields.counts["max_tokens"] += 1
        return PlanReport(
            source=PlanSource.LLM,
            model=self.config.model,
            usage=heard.usage,
            warnings=(*warnings, *reader.fields.warnings),
            complete=heard.finish == "STOP",
        )

    async def _facets(self, request: PlanRequest) -> tuple[str, tuple[str, ...]]:
        try:
            async with asyncio.timeout(_DESCRIBE_SECONDS):
                description = await self._describe(request.caller, request.index)
        except (SearchError, TimeoutError) as error:
            logger.warning("facet_context_failed", extra={"index": request.index, "error": repr(error)})
            return "", ("no_facet_context=1",)
        allowed = request.filter_fields
        index = (description.index, description.generation, description.rights)
        key = (request.caller.account_id, *index, request.caller.rights, allowed)
        context = self._contexts.get(key)
        if context is None:
            shown = description.only(allowed)
            context = facet_context(shown, max_tokens=self.config.max_facet_tokens)
            self._contexts[key] = context
            if len(self._contexts) > _REMEMBERED_CONTEXTS:
                self._contexts.popitem(last=False)
        return context, ()


class _Heard:
    """What one call has said so far."""

    def __init__(
        self, reader: PlanReader, emit: Emit, announces: str | None, note_usage: Callable[[TokenUsage], None]
    ) -> None:
        self.usage = TokenUsage()
        self._note_usage = note_usage
        self.finish: str | None = None
        self._announces = announces
        self._reader = reader
        self._emit = emit

    def take(self, event: ModelEvent) -> None:
        if isinstance(event, Usage):
            self.usage = event.usage
            self._note_usage(event.usage)
        elif isinstance(event, Finish):
            self.finish = event.reason
        else:
            for part in self._reader.read(event):
                self._emit(part)
            if self._announces is not None and self._reader.expansions_complete:
                model, self._announces = self._announces, None
                self._emit(ExpansionsComplete(model=model))

    def close(self) -> None:
        for part in self._reader.close():
            self._emit(part)
