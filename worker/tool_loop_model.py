"""Asks a model for one step of a tool loop: the calls that it wants made, or its answer.

The first model of the chain that answers keeps the loop, since the marks on its calls mean nothing to
another. Breaker, budget and retry are the same as for a plan.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from worker.llm.breaker import CircuitBreaker
from worker.llm.deadlines import Deadlines, read_within
from worker.llm.language_model import (
    Finish,
    FunctionCall,
    LanguageModel,
    ModelError,
    ModelEvent,
    ModelRequest,
    TextDelta,
    Usage,
    sendable,
)
from worker.llm.token_budget import TokenBudget
from worker.planning.plan import TokenUsage

logger = logging.getLogger(__name__)

MAX_CALLS = 64
"""Calls of one step that are kept at all; only a few of them are made."""
MAX_ANSWER_CHARACTERS = 16_000
_DEEPEST_ARGUMENT = 20
_LARGEST_WHOLE = 2**53
_ATTEMPTS = 2
_QUICK_SECONDS = 0.1
_LONGEST_WAIT_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStep:
    """What the model wants next: `calls`, or with none of them `text` is its answer."""

    text: str
    calls: tuple[FunctionCall, ...]
    finish: str | None
    usage: TokenUsage


class ToolModels:
    """The models of a process as tool loops ask them."""

    def __init__(
        self,
        client: LanguageModel,
        *,
        chain: Sequence[str],
        deadlines: Deadlines,
        budget: TokenBudget,
        breakers: MutableMapping[str, CircuitBreaker],
        new_breaker: Callable[[], CircuitBreaker],
    ) -> None:
        self.client = client
        self.chain = tuple(chain)
        self.deadlines = deadlines
        self.budget = budget
        self._breakers = breakers
        self._new_breaker = new_breaker

    def breaker(self, name: str) -> CircuitBreaker:
        """Return the breaker that watches the model of that name."""
        known = self._breakers.get(name)
        if known is None:
            known = self._breakers[name] = self._new_breaker()
        return known

    def seat(self, account_id: str, *, chain: Sequence[str] = (), tokens_per_day: int | None) -> ModelSeat:
        """Return what one loop asks; an empty chain is the server's own."""
        return ModelSeat(self, account_id, tuple(chain) or self.chain, tokens_per_day)


class ModelSeat:
    """One loop's model; `usage` is what it has cost, failures included."""

    def __init__(
        self, models: ToolModels, account_id: str, chain: tuple[str, ...], tokens_per_day: int | None
    ) -> None:
        self.usage = TokenUsage()
        self.warnings: list[str] = []
        self.model: str | None = None
        self._models = models
        self._account_id = account_id
        self._chain = chain
        self._tokens_per_day = tokens_per_day

    @property
    def spent(self) -> int:
        """Tokens so far, in and out."""
        return self.usage.input + self.usage.output + self.usage.thoughts

    async def ask(self, request: ModelRequest) -> ModelStep:
        """Return the next step.

        Raises:
            ModelError: The model failed, or it may not be asked.
        """
        names = self._chain if self.model is None else (self.model,)
        failure = ModelError("unavailable", "there is no model to ask")
        for name in names:
            for attempt in range(_ATTEMPTS):
                try:
                    step = await self._once(name, request)
                except ModelError as error:
                    failure = error
                    wait = _wait(error)
                    if error.kind == "budget_spent":
                        raise
                    if wait is None or attempt + 1 == _ATTEMPTS:
                        break
                    await asyncio.sleep(wait)
                else:
                    self.model = name
                    return step
        raise failure

    async def _once(self, name: str, request: ModelRequest) -> ModelStep:
        models = self._models
        if not models.budget.allows(self._account_id, self._tokens_per_day):
            raise ModelError("budget_spent", "the account's tokens of today are spent")
        breaker = models.breaker(name)
        if not breaker.allow():
            raise ModelError("breaker_open", f"{name} has been failing")
        heard = _Heard()
        tell: Callable[[], None] = breaker.released
        try:
            await read_within(models.deadlines, models.client, replace(request, model=name), heard.take)
            tell = breaker.succeeded
            return heard.step()
        except ModelError as error:
            kind = error.kind
            tell = lambda: breaker.failed(kind)  # noqa: E731
            self.warnings.append(f"model_failed:{kind}:{name}")
            logger.warning("tool_model_failed", extra={"model": name, "kind": kind, "error": str(error)})
            raise
        finally:
            tell()
            models.budget.spend(self._account_id, heard.usage)
            self.usage = _sum(self.usage, heard.usage)


class _Heard:
    def __init__(self) -> None:
        self.usage = TokenUsage()
        self._text: list[str] = []
        self._characters = 0
        self._calls: list[FunctionCall] = []
        self._finish: str | None = None

    def take(self, event: ModelEvent) -> None:
        if isinstance(event, TextDelta):
            self._text.append(event.text)
            self._characters += len(event.text)
        elif isinstance(event, FunctionCall):
            self._calls.append(replace(event, args=_plain(event.args)))
        elif isinstance(event, Usage):
            self.usage = event.usage
        elif isinstance(event, Finish):
            self._finish = event.reason
        if self._characters > MAX_ANSWER_CHARACTERS or len(self._calls) > MAX_CALLS:
            raise ModelError("protocol", "the model's answer is far longer than an answer is")

    def step(self) -> ModelStep:
        text = "".join(self._text)
        return ModelStep(text=text, calls=tuple(self._calls), finish=self._finish, usage=self.usage)


def _plain(value: Any, depth: int = 0) -> Any:
    """Return arguments as any JSON writer takes them, for they go back to the model as they came."""
    if depth > _DEEPEST_ARGUMENT:
        return None
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, Mapping):
        return {sendable(name): _plain(one, depth + 1) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, depth + 1) for one in value]
    return float(value) if isinstance(value, int) and abs(value) > _LARGEST_WHOLE else value


def _wait(error: ModelError) -> float | None:
    if not error.retryable:
        return None
    wait = _QUICK_SECONDS if error.retry_after_seconds is None else error.retry_after_seconds
    return wait if wait <= _LONGEST_WAIT_SECONDS else None


def _sum(first: TokenUsage, second: TokenUsage) -> TokenUsage:
    return TokenUsage(
        input=first.input + second.input,
        output=first.output + second.output,
        thoughts=first.thoughts + second.thoughts,
        cached=first.cached + second.cached,
    )
