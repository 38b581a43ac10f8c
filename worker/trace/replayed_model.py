"""A language model that says again what a trace has of it, without waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from worker.llm.language_model import ModelError, ModelEvent, ModelRequest
from worker.trace.traced_model import kind_of, read_event


class ReplayedModel:
    """Answers the n-th call of a kind with its n-th recorded one; `unused` counts what was not asked for."""

    def __init__(self, calls: Sequence[Mapping[str, Any]]) -> None:
        self._left: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for call in calls:
            self._left.setdefault((call["model"], call["kind"]), []).append(call)
        self.missing = 0

    @property
    def unused(self) -> int:
        """How many recorded calls nobody has asked for yet."""
        return sum(map(len, self._left.values()))

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield the recorded events; a call that was cut off stays open, as it was when it was cut.

        Raises:
            ModelError: The call failed then, or the trace has none.
        """
        calls = self._left.get((request.model, kind_of(request)))
        if not calls:
            self.missing += 1
            raise ModelError("unavailable", f"the trace has no further call of {request.model}")
        ended = False
        for event in calls.pop(0)["events"]:
            made = read_event(event[1:])
            ended = event[1] == "finish"
            yield made
        if not ended:
            await asyncio.Event().wait()

    async def warm_up(self, model: str) -> None:
        """Do nothing: there is no connection."""
