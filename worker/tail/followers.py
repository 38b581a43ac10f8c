"""Hands finished requests to those who follow them, within bounds; without a follower it hears of none.

A follower that is slow, or a server that is busier than a person can read, costs lines and never memory or
time: what was left out is counted, and the follower is told.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from search_proxy.accounts.scrubbing import scrubbed
from worker.observe.completion import Completion
from worker.observe.observers import Observers
from worker.tail.tail_filter import TailFilter

MAX_FOLLOWERS = 32
MAX_LINES_A_SECOND = 200
"""More than that nobody reads: the others are counted and left out."""
_MAX_WAITING = 1000
_NOTE_SECONDS = 1.0
_GATHER_SECONDS = 0.1
_OBSERVER = "tail"


class CannotFollow(Exception):
    """There are as many followers as one process serves, or it is stopping."""


class Follower:
    """One follower's lines that wait to be sent, and the count of those that never will be."""

    def __init__(self, wanted: TailFilter) -> None:
        self._wanted = wanted
        self._lines: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._second = 0.0
        self._in_second = 0
        self._skipped = 0
        self._ended = False

    def end(self) -> None:
        """Let `lines` come to its end."""
        self._ended = True
        self._news.set()

    def wants(self, line: dict[str, Any]) -> bool:
        """Return whether the line is of those that it asked for, as far as fields say."""
        return self._wanted.wants(line)

    def offer(self, text: str, now: float) -> None:
        """Take a line, or count it where there are too many."""
        if not self._wanted.wants_text(text):
            return
        if now - self._second >= 1.0:
            self._second, self._in_second = now, 0
        if self._in_second >= MAX_LINES_A_SECOND or len(self._lines) >= _MAX_WAITING:
            self._skipped += 1
            return
        self._in_second += 1
        self._lines.append(text.encode())
        self._news.set()

    def left_out(self, count: int) -> None:
        """Count lines that somebody else had to leave out for this follower."""
        self._skipped += count

    async def lines(self, ping_seconds: float) -> AsyncGenerator[list[bytes], None]:
        """Yield what has come in, as lists of JSON objects; an empty list when nothing has for a while.

        A `tail_sampled` line says how many were left out since the last of its kind.
        """
        loop = asyncio.get_running_loop()
        pinged = noted = loop.time()
        while not self._ended:
            try:
                async with asyncio.timeout(_NOTE_SECONDS if self._skipped else ping_seconds):
                    await self._news.wait()
            except TimeoutError:
                pass
            if self._lines:
                # A send for each line would cost a busy server more than the lines.
                await asyncio.sleep(_GATHER_SECONDS)
            self._news.clear()
            ready = list(self._lines)
            self._lines.clear()
            now = loop.time()
            if self._skipped and now - noted >= _NOTE_SECONDS:
                ready.append(orjson.dumps({"event": "tail_sampled", "skipped": self._skipped}))
                self._skipped, noted = 0, now
            if ready or now - pinged >= ping_seconds:
                pinged = now
                yield ready


class Followers:
    """The followers of one process; it listens to `observers` only while there is one."""

    def __init__(self, observers: Observers) -> None:
        self._observers = observers
        self._followers: set[Follower] = set()
        self._ended = False

    @contextmanager
    def following(self, wanted: TailFilter) -> Iterator[Follower]:
        """Follow while the block lasts.

        Raises:
            CannotFollow: There are too many already, or the server stops.
        """
        if self._ended:
            raise CannotFollow("this server is stopping; follow its successor")
        if len(self._followers) >= MAX_FOLLOWERS:
            raise CannotFollow(f"{MAX_FOLLOWERS} follow already; try again when one has left")
        follower = Follower(wanted)
        if not self._followers:
            self._observers.add(_OBSERVER, self.observe)
        self._followers.add(follower)
        try:
            yield follower
        finally:
            self._followers.discard(follower)
            if not self._followers:
                self._observers.remove(_OBSERVER)

    def end(self) -> None:
        """Send everybody away, for good: the server stops."""
        self._ended = True
        for follower in self._followers:
            follower.end()

    def observe(self, completion: Completion) -> None:
        """Offer a completion to everybody; it is written as text once, and only where somebody wants it."""
        line = completion.as_line()
        interested = [each for each in self._followers if each.wants(line)]
        if not interested:
            return
        text = scrubbed(orjson.dumps(line, default=str, option=orjson.OPT_NON_STR_KEYS).decode())
        now = asyncio.get_running_loop().time()
        for follower in interested:
            follower.offer(text, now)
