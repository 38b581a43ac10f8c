"""Lets a model search by itself: it calls tools until it can answer, within steps, seconds and tokens.

A loop ends with the model's answer or with `ToolLoopFailed`; it never runs on. On its last step, and when it
keeps making calls that it has made before, the model is asked for its answer with the tools taken away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol

from worker.llm.language_model import FunctionCall, FunctionResult, Message, ModelError, ModelRequest
from worker.tool_loop_model import ModelSeat, ModelStep
from worker.tool_loop_prompt import LAST_STEP


class ToolLoopFailed(Exception):
    """The model gave no answer; `reason` is for receipt and log."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the model gave no answer: {reason}")
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopLimits:
    """How far a loop may go. Source: `agentic_config.tools`."""

    steps: int
    seconds: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopAnswer:
    """The model's answer; `is_whole` is false where it was cut at its bound."""

    text: str
    is_whole: bool


class LoopTools(Protocol):
    """Makes the calls of one loop."""

    @property
    def is_stuck(self) -> bool:
        """Whether the model keeps asking for what it has been given."""
        ...

    async def make(self, calls: tuple[FunctionCall, ...]) -> tuple[FunctionResult, ...]:
        """Return one result per call, in order; what fails is a sentence in its result."""
        ...


class ToolLoop:
    """One question's loop. `thinking` surrounds every model call, told whether it is the first."""

    def __init__(
        self,
        model: ModelSeat,
        tools: LoopTools,
        limits: LoopLimits,
        thinking: Callable[[bool], AbstractContextManager[None]],
    ) -> None:
        self._model = model
        self._tools = tools
        self._limits = limits
        self._thinking = thinking

    async def run(self, opening: ModelRequest) -> LoopAnswer:
        """Return what the model says in the end.

        Raises:
            ToolLoopFailed: It failed, a bound was reached without an answer, or the answer was empty.
        """
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await self._steps(opening)
        except TimeoutError as error:
            raise ToolLoopFailed("tool_deadline") from error
        except ModelError as error:
            raise ToolLoopFailed(error.kind) from error

    async def _steps(self, opening: ModelRequest) -> LoopAnswer:
        request = opening
        is_last = False
        for number in range(1, self._limits.steps + 1):
            step = await self._ask(request, is_last, number == 1)
            if is_last or not step.calls:
                return _answer(step)
            results = await self._tools.make(step.calls)
            cost = step.usage.input + step.usage.output + step.usage.thoughts
            left = self._limits.tokens - self._model.spent
            # A call holds all that was said before it, so the next costs no less than this one did.
            if left < cost:
                raise ToolLoopFailed("tool_tokens_spent")
            is_last = number + 1 >= self._limits.steps or left < 2 * cost or self._tools.is_stuck
            said = Message(role="model", text=step.text, calls=step.calls)
            messages = (*request.messages, said, Message(role="user", text="", results=results))
            request = replace(request, messages=messages)
        raise AssertionError("the last step returns or raises")

    async def _ask(self, request: ModelRequest, is_last: bool, is_first: bool) -> ModelStep:
        if is_last:
            request = replace(request, calling="none", system=f"{request.system}\n\n{LAST_STEP}")
        with self._thinking(is_first):
            return await self._model.ask(request)


def _answer(step: ModelStep) -> LoopAnswer:
    if not step.text.strip():
        raise ToolLoopFailed("tool_steps_spent" if step.calls else "empty_answer")
    return LoopAnswer(text=step.text, is_whole=step.finish == "STOP")
