"""Measures how long the event loop does not come round: the lateness of a timer of one millisecond."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType

_TICK_SECONDS = 0.001


class LoopPause:
    """Collects the lateness of each tick, in milliseconds, while it is open."""

    def __init__(self, into: list[float]) -> None:
        self._into = into
        self._handle: asyncio.TimerHandle | None = None
        self._due = 0.0

    async def __aenter__(self) -> None:
        self._schedule()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._handle is not None:
            self._handle.cancel()

    def _schedule(self) -> None:
        self._due = time.perf_counter() + _TICK_SECONDS
        self._handle = asyncio.get_running_loop().call_later(_TICK_SECONDS, self._tick)

    def _tick(self) -> None:
        self._into.append(max(0.0, (time.perf_counter() - self._due) * 1e3))
        self._schedule()


class OtherThreads(LoopPause):
    """Collects how long this process's other threads computed from one tick to the next, in milliseconds.

    That is the part of a pause which is our own: what neighbours do to this machine is not in it.
    """

    def _schedule(self) -> None:
        super()._schedule()
        self._others = time.process_time() - time.thread_time()

    def _tick(self) -> None:
        others = (time.process_time() - time.thread_time() - self._others - _TICK_SECONDS) * 1e3
        self._into.append(max(0.0, others))
        self._schedule()
