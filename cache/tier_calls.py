"""Calls one tier within a budget and behind a breaker.

Equal reads that overlap are one read. A caller waits for it as long as the budget says and then goes on
without; the read goes on too, and what it finds serves the next caller.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from cache.background_work import BackgroundWork
from cache.circuit_breaker import CircuitBreaker
from cache.counters import CacheCounters
from cache.decision import Outcome
from cache.errors import CacheError, EntryTooLarge, TierUnavailable
from cache.patience import wait_for_answer

logger = logging.getLogger(__name__)

T = TypeVar("T")
W = TypeVar("W")

Begin = Callable[[Callable[[T], None], Callable[[], None]], bool]
"""Asks at once and calls the first back with the answer, the second where it got none; False: not asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[T]):
    """What came of a call: a value, or the outcome that stands in its place."""

    value: T | None = None
    failure: Outcome | None = None
    detail: str = ""


class _Running(Generic[T]):
    __slots__ = ("future", "is_late")

    def __init__(self) -> None:
        self.future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.is_late = False


class TierCalls(Generic[T]):
    """Reads and writes of one tier. `T` is what a read returns."""

    def __init__(
        self,
        tier: str,
        *,
        budget_seconds: float,
        background: BackgroundWork,
        counters: CacheCounters,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tier = tier
        self._budget_seconds = budget_seconds
        self._background = background
        self._counters = counters
        self._running: dict[Hashable, _Running[T]] = {}
        self.reads = CircuitBreaker(monotonic=monotonic)
        self.writes = CircuitBreaker(monotonic=monotonic)

    async def read(
        self,
        key: Hashable,
        read: Callable[[], Awaitable[T]],
        then: Callable[[T], Awaitable[None]] | None = None,
        begin: Begin[T] | None = None,
    ) -> Answer[T]:
        """Return what `read` finds within the budget; `then` gets it whenever it comes.

        A tier that can `begin` is asked without a task, and by `read` where that comes to nothing.
        """
        running = self._running.get(key)
        if running is None:
            if not self.reads.allows():
                return Answer(failure=Outcome.OPEN)
            running = self._running[key] = _Running()
            if begin is None or not self._begin(key, running, read, begin):
                self._start(key, running, read, then)
        await wait_for_answer(running.future, self._budget_seconds)
        if not running.future.done():
            if not running.is_late:
                running.is_late = True
                self._failed(Outcome.TIMEOUT, f"over {self._budget_seconds * 1000:.0f} ms", self.reads)
            return Answer(failure=Outcome.TIMEOUT)
        if running.future.cancelled():
            return Answer(failure=Outcome.BUSY)
        error = running.future.exception()
        if error is not None:
            return Answer(failure=Outcome.ERROR, detail=type(error).__name__)
        return Answer(value=running.future.result())

    async def write(self, action: Callable[[], Awaitable[W]], *, deadline_seconds: float) -> Answer[W]:
        """Return what `action` gives; a failure is logged, counted, and returned."""
        if not self.writes.allows():
            return Answer(failure=Outcome.OPEN)
        try:
            async with asyncio.timeout(deadline_seconds):
                value = await action()
        except TimeoutError:
            self._failed(Outcome.TIMEOUT, f"over {deadline_seconds} s", self.writes)
            return Answer(failure=Outcome.TIMEOUT)
        except EntryTooLarge as error:
            logger.warning("cache_entry_too_large", extra={"tier": self._tier, "error": str(error)})
            return Answer(failure=Outcome.ERROR, detail=type(error).__name__)
        except CacheError as error:
            self._failed(Outcome.ERROR, str(error), self.writes)
            return Answer(failure=Outcome.ERROR, detail=type(error).__name__)
        self.writes.succeeded()
        return Answer(value=value)

    async def settle(self) -> None:
        """Return when no read is under way."""
        while self._running:
            await asyncio.wait([running.future for running in self._running.values()])

    def _begin(
        self, key: Hashable, running: _Running[T], read: Callable[[], Awaitable[T]], begin: Begin[T]
    ) -> bool:
        def landed(found: T) -> None:
            del self._running[key]
            running.future.set_result(found)
            if not running.is_late:
                self.reads.succeeded()

        began = begin(landed, lambda: self._start(key, running, read, None))
        if began:
            self._counters.count(self._tier, "reads")
        return began

    def _start(
        self,
        key: Hashable,
        running: _Running[T],
        read: Callable[[], Awaitable[T]],
        then: Callable[[T], Awaitable[None]] | None,
    ) -> None:
        if not self._background.start(self._run(key, running, read, then), name=f"{self._tier}-read"):
            del self._running[key]
            running.future.cancel()

    async def _run(
        self,
        key: Hashable,
        running: _Running[T],
        read: Callable[[], Awaitable[T]],
        then: Callable[[T], Awaitable[None]] | None,
    ) -> None:
        future = running.future
        self._counters.count(self._tier, "reads")
        try:
            found = await read()
        except CacheError as error:
            self._failed(Outcome.ERROR, str(error), self.reads)
            _fail(future, error)
            return
        except Exception as error:
            self.reads.failed()
            _fail(future, TierUnavailable(self._tier, f"unexpected {type(error).__name__}"))
            raise
        else:
            future.set_result(found)
            if not running.is_late:
                self.reads.succeeded()
        finally:
            del self._running[key]
            future.cancel()  # Where the task was cancelled; a future that is done stays as it is.
        if then is not None:
            await then(found)

    def _failed(self, outcome: Outcome, detail: str, breaker: CircuitBreaker) -> None:
        breaker.failed()
        self._counters.count(self._tier, f"failed_{outcome}")
        logger.warning("cache_tier_failed", extra={"tier": self._tier, "outcome": outcome, "error": detail})


def _fail(future: asyncio.Future[T], error: Exception) -> None:
    future.set_exception(error)
    # Nobody may be waiting any more; a failure that was logged needs no second report by the event loop.
    future.exception()
