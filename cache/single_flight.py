"""One computation per question at a time: the first caller leads, the others hear its events live.

Equal callers of one process share a `FlightLog`; with `RedisFlights` the first of each process asks for
the lead there, so that a thousand equal questions in many processes make one model call. Where Redis fails,
each process leads its own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from cache.background_work import BackgroundWork
from cache.entry import CacheEntry
from cache.errors import FlightAbandoned, TierUnavailable
from cache.flight_log import FlightLog
from cache.patience import wait_for_answer

logger = logging.getLogger(__name__)

_MOST_CLAIM_SECONDS = 10.0
"""A process that hundreds of questions reach at once is busy for seconds; a second model call costs more."""

Recheck = Callable[[], Awaitable[CacheEntry | None]]


class RemoteLead(Protocol):
    """The lead over every process, while it lasts."""

    async def publish(self, event: bytes) -> None:
        """Tell the followers in other processes.

        Raises:
            TierUnavailable: They cannot be told.
        """
        ...

    async def end(self, *, finished: bool) -> None:
        """Tell them that this was all, or that the rest will not come; then give the lead back.

        Raises:
            TierUnavailable: They cannot be told; the lead runs out by itself.
        """
        ...


class RemoteFlights(Protocol):
    """Flights that several processes share."""

    async def claim(self, key: str) -> RemoteLead | None:
        """Return the lead, None where another process has it.

        Raises:
            TierUnavailable: Nobody can say.
        """
        ...

    def follow(self, key: str) -> AsyncGenerator[bytes, None]:
        """Yield the events of the process that leads.

        Raises:
            FlightAbandoned: It went away without finishing.
            TierUnavailable: They cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A caller's place in a flight: it leads, or it found the answer, or else it follows."""

    log: FlightLog
    leads: bool
    found: CacheEntry | None = None
    """The answer, where it was stored between this caller's lookup and its turn."""
    shared: asyncio.Future[bool]
    """Resolved when the other processes know how the flight has ended."""
    budget_seconds: float

    def publish(self, event: bytes) -> None:
        """Tell every follower; only for the leader. It waits for nobody."""
        self.log.append(event)

    async def finish(self) -> None:
        """Say that this was all; only for the leader, after the answer was stored."""
        self.log.finish()
        await asyncio.wait((self.shared,), timeout=self.budget_seconds)

    def events(self) -> AsyncGenerator[bytes, None]:
        """Yield the leader's events from the first, each as it comes.

        Raises:
            FlightAbandoned: It went away; look the question up again, then join again.
        """
        return self.log.events()


class SingleFlight:
    """The flights of this process."""

    def __init__(
        self, background: BackgroundWork, remote: RemoteFlights | None = None, *, budget_seconds: float
    ) -> None:
        self._background = background
        self._remote = remote
        self._budget_seconds = budget_seconds
        self._logs: dict[str, FlightLog] = {}

    def __len__(self) -> int:
        return len(self._logs)

    @asynccontextmanager
    async def join(self, key: str, recheck: Recheck) -> AsyncIterator[Seat]:
        """Take a seat. A leader that leaves without `finish` abandons its followers.

        `recheck` looks for an answer that a flight has stored since the caller looked.
        """
        shared: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        following = self._logs.get(key)
        if following is not None:
            yield Seat(log=following, leads=False, shared=shared, budget_seconds=self._budget_seconds)
            return
        log = self._logs[key] = FlightLog()
        leads = True
        try:
            leads = await self._claim(key, log, shared)
            found = await recheck() if leads else None
            yield Seat(
                log=log,
                leads=leads and found is None,
                found=found,
                shared=shared,
                budget_seconds=self._budget_seconds,
            )
        finally:
            if leads:
                self._forget(key, log)
                log.abandon()

    async def _claim(self, key: str, log: FlightLog, shared: asyncio.Future[bool]) -> bool:
        claimed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if self._remote is None or not self._background.start(
            self._share(self._remote, key, log, claimed, shared), name="flight"
        ):
            shared.set_result(False)
            return True
        await wait_for_answer(claimed, self._budget_seconds, _MOST_CLAIM_SECONDS)
        if not claimed.done():
            # Too slow to wait for: this process leads its own flight, and shares it should the claim succeed.
            claimed.set_result(True)
        return claimed.result()

    async def _share(
        self,
        remote: RemoteFlights,
        key: str,
        log: FlightLog,
        claimed: asyncio.Future[bool],
        shared: asyncio.Future[bool],
    ) -> None:
        try:
            lead = await remote.claim(key)
            if not claimed.done():
                claimed.set_result(lead is not None)
            if lead is not None:
                await _tell(log, lead)
            elif not claimed.result():
                await self._mirror(remote, key, log)
        except TierUnavailable as error:
            logger.warning("cache_flight_not_shared", extra={"tier": error.tier, "error": str(error)})
        finally:
            for waiting in (claimed, shared):
                if not waiting.done():
                    waiting.set_result(True)

    async def _mirror(self, remote: RemoteFlights, key: str, log: FlightLog) -> None:
        try:
            async with aclosing(remote.follow(key)) as events:
                async for event in events:
                    log.append(event)
            log.finish()
        except FlightAbandoned as error:
            logger.info("cache_flight_lost", extra={"error": str(error)})
        finally:
            self._forget(key, log)
            log.abandon()

    def _forget(self, key: str, log: FlightLog) -> None:
        if self._logs.get(key) is log:
            del self._logs[key]


async def _tell(log: FlightLog, lead: RemoteLead) -> None:
    finished = False
    try:
        async with aclosing(log.events()) as events:
            async for event in events:
                await lead.publish(event)
        finished = True
    except FlightAbandoned:
        finished = False
    finally:
        await lead.end(finished=finished)
