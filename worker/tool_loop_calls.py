"""Makes the calls of one tool loop: side by side, each answered, each reported, none of them twice.

What a tool returns is somebody else's text: it goes to the model between tags that nothing inside can close.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import orjson

from search_proxy.caller import Caller
from search_proxy.filters import Filter
from search_proxy.tools.definition import ToolAnswer
from worker.llm.language_model import FunctionCall, FunctionResult
from worker.llm.prompts import fenced

CALLS_AT_ONCE = 6
"""Calls of one step that are made; a model that wants more is told to ask again."""
MAX_RESULT_CHARACTERS = 24_000
"""About 6,000 tokens: a page of fifty hits, or a few whole documents."""
_PATIENCE = 2
"""Calls made again before the model is asked to answer."""

_AGAIN = "You made this very call before; its result stands above. Change it, or answer from what you have."
_TOO_MANY = f"Only {CALLS_AT_ONCE} calls are made at once. Ask for this one again if you still need it."
_CUT = "\n(cut here; ask for fewer or narrower results to see the rest)"


class Tools(Protocol):
    """Answers a call with the caller's rights, never with an exception."""

    async def call(
        self,
        caller: Caller,
        index: str,
        name: str,
        arguments: Mapping[str, Any],
        *,
        bound: Filter | None = None,
    ) -> ToolAnswer:
        """Return the result, or a sentence that says why there is none."""
        ...


Taken = Callable[[FunctionCall, ToolAnswer], Awaitable[None]]


class LoopCalls:
    """One loop's calls; `reports` are for receipt and log, in the order in which the calls ended."""

    def __init__(
        self,
        tools: Tools,
        caller: Caller,
        index: str,
        *,
        bound: Filter | None,
        starting: Callable[[str], None],
        taken: Taken,
    ) -> None:
        self.reports: list[Mapping[str, Any]] = []
        self._tools = tools
        self._caller = caller
        self._index = index
        self._bound = bound
        self._starting = starting
        self._taken = taken
        self._made: set[bytes] = set()
        self._repeated = 0

    @property
    def is_stuck(self) -> bool:
        """Whether the model keeps asking for what it has been given."""
        return self._repeated >= _PATIENCE

    async def make(self, calls: tuple[FunctionCall, ...]) -> tuple[FunctionResult, ...]:
        """Return one result per call, in order; what fails is a sentence in its result."""
        results: list[FunctionResult] = [
            FunctionResult(call=call, response={"error": _TOO_MANY}) for call in calls
        ]
        made = 0
        async with asyncio.TaskGroup() as group:
            for place, call in enumerate(calls):
                if self._is_repeated(call):
                    results[place] = FunctionResult(call=call, response={"error": _AGAIN})
                elif made < CALLS_AT_ONCE:
                    made += 1
                    group.create_task(self._make_one(call, place, results), name=f"tool:{call.name}")
                else:
                    self._made.discard(_signature(call))
        return tuple(results)

    async def _make_one(self, call: FunctionCall, place: int, results: list[FunctionResult]) -> None:
        self._starting(call.name)
        answer = await self._tools.call(self._caller, self._index, call.name, call.args, bound=self._bound)
        self._report(call.name, answer.milliseconds, answer.found, answer.failure)
        if answer.failure is not None:
            results[place] = FunctionResult(call=call, response={"error": answer.text})
            return
        results[place] = FunctionResult(call=call, response={"output": _fenced(answer.text)})
        await self._taken(call, answer)

    def _is_repeated(self, call: FunctionCall) -> bool:
        signature = _signature(call)
        if signature in self._made:
            self._repeated += 1
            self._report(call.name, 0.0, 0, "repeated")
            return True
        self._made.add(signature)
        return False

    def _report(self, name: str, milliseconds: float, hits: int, error: str | None) -> None:
        self.reports.append({"name": name, "ms": milliseconds, "hits": hits, "error": error})


def _fenced(text: str) -> str:
    if len(text) > MAX_RESULT_CHARACTERS:
        text = text[: MAX_RESULT_CHARACTERS - len(_CUT)] + _CUT
    return fenced("tool_result", text)


def _signature(call: FunctionCall) -> bytes:
    return orjson.dumps([call.name, call.args], option=orjson.OPT_SORT_KEYS)
