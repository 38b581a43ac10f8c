"""Reads a model's stream under three deadlines: its first event, the gap between two, and all of it.

The HTTP clients bound single reads only, and a gateway's keep-alive lines would satisfy those forever.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import cast

from worker.llm.language_model import LanguageModel, ModelError, ModelEvent, ModelRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """How long a model may take."""

    first_event_seconds: float = 2.5
    gap_seconds: float = 1.5
    total_seconds: float = 8.0


async def read_within(
    deadlines: Deadlines, model: LanguageModel, request: ModelRequest, take: Callable[[ModelEvent], None]
) -> None:
    """Push every event of one call into `take`; what `take` raises ends the call.

    Raises:
        ModelError: The call failed, or `kind="timeout"`: a deadline passed.
    """
    silence = _Silence(deadlines)
    now = asyncio.get_running_loop().time

    def hear(event: ModelEvent) -> None:
        silence.heard_at = now()
        if not silence.heard:
            silence.broken()
        take(event)

    try:
        async with asyncio.timeout(None) as limit:
            with silence.ending(limit):
                await _push(model, request, hear)
    except TimeoutError as error:
        # Nothing is gained by asking a model again that is too slow for the shopper already.
        waited_for = "next event" if silence.heard else "first event"
        raise ModelError("timeout", f"the model's {waited_for} did not come in time") from error


async def _push(model: LanguageModel, request: ModelRequest, take: Callable[[ModelEvent], None]) -> None:
    # Asking whether it is a `PushingModel` looks at all that it has, for every call anew.
    push: Callable[..., Awaitable[None]] | None = getattr(model, "push", None)
    if push is not None:
        # Bytes arrive in the context of whoever opened the connection; what they start belongs to who asked.
        asked_in: Callable[..., None] = copy_context().run
        await push(request, partial(asked_in, take))
        return
    async with aclosing(cast(AsyncGenerator[ModelEvent], model.stream(request))) as events:
        async for event in events:
            take(event)


class _Silence:
    """Ends the wait for the next event when it is due.

    An event only moves the time at which the next one is due; the timer looks at that when it fires, so
    that a hundred chunks do not cost a hundred timers.
    """

    def __init__(self, deadlines: Deadlines) -> None:
        self.heard = False
        self._loop = asyncio.get_running_loop()
        self.heard_at = self._loop.time()
        self._gap_seconds = deadlines.gap_seconds
        self._end = self.heard_at + deadlines.total_seconds
        self._first_due = min(self.heard_at + deadlines.first_event_seconds, self._end)

    @contextmanager
    def ending(self, limit: asyncio.Timeout) -> Iterator[None]:
        """Let `limit` expire when an event does not come in time."""
        self._limit = limit
        self._timer = self._loop.call_at(self._first_due, self._look)
        try:
            yield
        finally:
            self._timer.cancel()

    def broken(self) -> None:
        """Note the first event; of the others `heard_at` says it all."""
        # The gap may end before the time that the first event had.
        self.heard = True
        self._timer.cancel()
        self._look()

    def _look(self) -> None:
        due = min(self.heard_at + self._gap_seconds, self._end) if self.heard else self._first_due
        if self._loop.time() < due:
            self._timer = self._loop.call_at(due, self._look)
        else:
            self._limit.reschedule(due)
