"""One computation per question at a time: the first caller leads, the others hear its events live.

Equal callers of one process share a `FlightLog`; with `RedisFlights` the first of each process asks for
the lead there, so that a thousand equal questions in many processes make one model call. Where Redis fails,
each process leads its own.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from cache.background_work import BackgroundWork
from cache.entry import CacheEntry
from cache.errors import FlightAbandoned, TierUnavailable
from cache.flight_log import FlightLog

logger = logging.getLogger(__name__)

Recheck = Callable[[], Awaitable[CacheEntry | None]]


class RemoteLead(Protocol):
    """The lead over every process, while it lasts."""

    async def publish(self, event: bytes) -> None:
        """Tell the followers in other processes."""
        ...

    async def end(self, *, finished: bool) -> None:
        """Tell them that this was all, or that the rest will not come; then give the lead back."""
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


@dataclass(slots=True)
class Seat:
    """A caller's place in a flight: exactly one of `found`, `leads`, or neither (then it follows)."""

    log: FlightLog
    leads: bool
    found: CacheEntry | None = None
    """The answer, where it was stored between this caller's lookup and its turn."""
    remote: RemoteLead | None = None

    async def publish(self, event: bytes) -> None:
        """Tell every follower; only for the leader. A failing Redis costs other processes, not this one."""
        self.log.append(event)
        if not self.log.is_open:
            await self.end(finished=False)
        elif self.remote is not None:
            try:
                await self.remote.publish(event)
            except TierUnavailable as error:
                logger.warning("cache_flight_not_shared", extra={"error": str(error)})
                await self._end_remote(finished=False)

    async def finish(self) -> None:
        """Say that this was all; only for the leader, after the answer was stored."""
        await self.end(finished=True)

    async def end(self, *, finished: bool) -> None:
        """End the flight; the second call does nothing."""
        if not self.log.is_open and self.remote is None:
            return
        if finished:
            self.log.finish()
        else:
            self.log.abandon()
        await self._end_remote(finished=finished)

    async def _end_remote(self, *, finished: bool) -> None:
        remote, self.remote = self.remote, None
        if remote is not None:
            try:
                await remote.end(finished=finished)
            except TierUnavailable as error:
                logger.warning("cache_flight_not_shared", extra={"error": str(error)})

    def events(self) -> AsyncGenerator[bytes, None]:
        """Yield the leader's events from the first, each as it comes.

        Raises:
            FlightAbandoned: It went away; look the question up again, then join again.
        """
        return self.log.events()


class SingleFlight:
    """The flights of this process."""

    def __init__(self, background: BackgroundWork, remote: RemoteFlights | None = None) -> None:
        self._background = background
        self._remote = remote
        self._logs: dict[str, FlightLog] = {}

    def __len__(self) -> int:
        return len(self._logs)

    @asynccontextmanager
    async def join(self, key: str, recheck: Recheck) -> AsyncIterator[Seat]:
        """Take a seat. A leader that leaves without `finish` abandons its followers.

        `recheck` looks for an answer that a flight has stored since the caller looked.
        """
        following = self._logs.get(key)
        if following is not None:
            yield Seat(log=following, leads=False)
            return
        log = self._logs[key] = FlightLog()
        seat = Seat(log=log, leads=True)
        try:
            seat.leads = await self._claim(key, seat)
            if seat.leads:
                seat.found = await recheck()
                seat.leads = seat.found is None
                if seat.found is not None:
                    await self._leave(key, seat)
            yield seat
        finally:
            if seat.leads or seat.remote is not None:
                await self._leave(key, seat)

    async def _claim(self, key: str, seat: Seat) -> bool:
        if self._remote is None:
            return True
        try:
            seat.remote = await self._remote.claim(key)
        except TierUnavailable as error:
            logger.warning("cache_flight_not_shared", extra={"error": str(error)})
            return True
        if seat.remote is not None:
            return True
        return not self._background.start(self._mirror(self._remote, key, seat.log), name="flight")

    async def _mirror(self, remote: RemoteFlights, key: str, log: FlightLog) -> None:
        try:
            async with aclosing(remote.follow(key)) as events:
                async for event in events:
                    log.append(event)
            log.finish()
        except (FlightAbandoned, TierUnavailable) as error:
            logger.warning("cache_flight_lost", extra={"error": str(error)})
        finally:
            log.abandon()
            self._forget(key, log)

    async def _leave(self, key: str, seat: Seat) -> None:
        self._forget(key, seat.log)
        await seat.end(finished=False)

    def _forget(self, key: str, log: FlightLog) -> None:
        if self._logs.get(key) is log:
            del self._logs[key]
