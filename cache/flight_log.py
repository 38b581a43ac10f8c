"""What the leader of a flight has said so far, and how its followers hear the rest as it comes.

A follower that joins late hears everything from the start. The log is bounded: an answer that outgrows it
goes on for the leader alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from enum import Enum, auto

from cache.errors import FlightAbandoned

MAX_EVENTS = 8192
MAX_BYTES = 4_000_000
"""Several times the longest answer: six categories of a hundred hits each."""


class _State(Enum):
    OPEN = auto()
    FINISHED = auto()
    ABANDONED = auto()


class FlightLog:
    """Events in order, written by one, read by many."""

    def __init__(self) -> None:
        self._events: list[bytes] = []
        self._bytes = 0
        self._state = _State.OPEN
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def is_open(self) -> bool:
        """Whether more may come."""
        return self._state is _State.OPEN

    def append(self, event: bytes) -> None:
        """Add an event; where the log is full, give it up."""
        if self._state is not _State.OPEN:
            return
        self._bytes += len(event)
        if len(self._events) >= MAX_EVENTS or self._bytes > MAX_BYTES:
            self.abandon()
            return
        self._events.append(event)
        if self._waiting:
            self._wake()

    def finish(self) -> None:
        """Say that this was all; followers end after the last event."""
        self._end(_State.FINISHED)

    def abandon(self) -> None:
        """Say that the rest will not come; followers raise after the last event."""
        self._end(_State.ABANDONED)

    async def events(self) -> AsyncGenerator[bytes, None]:
        """Yield every event from the first, each as soon as it is there.

        Raises:
            FlightAbandoned: The leader went away without finishing.
        """
        position = 0
        while True:
            while position < len(self._events):
                yield self._events[position]
                position += 1
            if self._state is _State.FINISHED:
                return
            if self._state is _State.ABANDONED:
                raise FlightAbandoned(f"the leader went away after {position} events")
            # Nothing can come between the last look and this wait: both are in one turn of the loop.
            news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(news)
            await news

    def _end(self, state: _State) -> None:
        if self.is_open:
            self._state = state
            self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for news in waiting:
            if not news.done():
                news.set_result(None)
