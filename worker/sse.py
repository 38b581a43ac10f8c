"""Streams a run to one client as server-sent events.

One writer sends everything: events, the ping when nothing has happened, and the end. While it rests, events
are written without it where the server can take them at once, those of one turn of the loop together. A
second task watches for the client's leaving and ends the writer's wait. A client that does not read within
the send timeout is given up; the run is not.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from worker.run import EventsLost, Run
from worker.run_registry import RunRegistry

logger = logging.getLogger(__name__)

WRITES_NOW = "aisle.writes_now"
"""The ASGI extension of a server that takes a piece of the body at once and says whether it could."""
RETRY_MS = 2000
"""How long a browser waits before it reconnects."""

_HEAD_WAITS_SECONDS = 0.02
"""The first event comes after the cache's lookup, a few milliseconds; nobody waits longer for a head."""

STREAM_HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
}


class RunStream(Response):
    """A response that subscribes to a run and writes it, from the event after `after`."""

    def __init__(
        self,
        run: Run,
        registry: RunRegistry,
        *,
        after: int = 0,
        ping_seconds: float = 15.0,
        send_timeout_seconds: float = 20.0,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(headers=STREAM_HEADERS | (headers or {}))
        self._run = run
        self._registry = registry
        self._after = after
        self._send_timeout_seconds = send_timeout_seconds
        self._seq = after
        self._writes_now: Callable[[bytes], bool] = _never
        self._resting: asyncio.Future[None] | None = None
        self._is_called = False
        self._loop = asyncio.get_running_loop()
        self._watch = _StreamWatch(run, ping_seconds, send_timeout_seconds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Write the stream until the run's end, the client's leaving or the send timeout."""
        self._writes_now = scope.get("extensions", {}).get(WRITES_NOW, _never)
        self._registry.subscribe(self._run)
        try:
            # An answer that has nothing to wait for is made in the first turn of its run's task.
            await asyncio.sleep(0)
            if self._run.finished:
                await self._write_whole(send)
                return
            async with asyncio.TaskGroup() as group:
                watcher = group.create_task(
                    self._end_with_client(receive), name=f"sse-watcher:{self._run.id}"
                )
                await self._write(send)
                watcher.cancel()
        finally:
            self._registry.unsubscribe(self._run)

    async def _end_with_client(self, receive: Receive) -> None:
        await client_gone(receive)
        self._watch.client_left()

    async def _write(self, send: Send) -> None:
        try:
            async with asyncio.timeout(None) as limit:
                with self._watch.ending(limit):
                    await self._wait_for_first_event()
                    await self._send(send, self._start_message())
                    with self._run.heard_by(self._hear_news):
                        await self._write_events(send)
        except TimeoutError:
            if not self._watch.has_no_client:
                logger.info("sse_client_too_slow", extra={"run_id": self._run.id})
        except OSError:
            # The server says so when the client has left; the watcher sees it too.
            return

    async def _write_whole(self, send: Send) -> None:
        """Write a run that has ended: there is nothing to wait for but a client that does not read."""
        try:
            async with asyncio.timeout(self._send_timeout_seconds):
                await send(self._start_message())
                await self._write_events(send)
        except TimeoutError:
            logger.info("sse_client_too_slow", extra={"run_id": self._run.id})
        except OSError:
            return

    async def _wait_for_first_event(self) -> None:
        """Let the head of the answer leave together with the first event, if that comes soon."""
        alone = asyncio.get_running_loop().call_later(_HEAD_WAITS_SECONDS, self._run.nudge)
        try:
            await self._run.wait_for_news(self._after)
        finally:
            alone.cancel()

    async def _write_events(self, send: Send) -> None:
        run = self._run
        first = b"retry: %d\n\n" % RETRY_MS
        is_end = False
        while not is_end:
            try:
                events = run.pending_after(self._seq)
                is_end = run.finished
            except EventsLost:
                logger.warning("sse_events_lost", extra={"run_id": run.id, "after": self._seq})
                events, is_end = [], True
            if events or is_end:
                self._seq = events[-1].seq if events else self._seq
                frames = first + b"".join([event.frame(run.id) for event in events])
                await self._send(send, _body(frames, more=not is_end))
                first = b""
                continue
            await self._rest()
            if self._watch.ping_is_due():
                await self._send(send, _body(first + b": ping\n\n"))
                first = b""

    async def _rest(self) -> None:
        """Return when there is something that cannot be written at once, by `_write_news`."""
        self._resting = self._loop.create_future()
        try:
            await self._resting
        finally:
            self._resting = None

    def _hear_news(self) -> None:
        """Let what is emitted in this turn of the loop leave together, in the next."""
        if not self._is_called and self._resting is not None:
            self._is_called = True
            self._loop.call_soon(self._write_news)

    def _write_news(self) -> None:
        """Write what has just been emitted, or wake the writer; while it writes, it looks by itself."""
        self._is_called = False
        resting, run = self._resting, self._run
        if resting is None or resting.done():
            return
        try:
            events = [] if run.finished else run.pending_after(self._seq)
        except EventsLost:
            events = []
        if events:
            frames = events[0].frame(run.id)
            if len(events) > 1:
                frames += b"".join([event.frame(run.id) for event in events[1:]])
            if self._writes_now(frames):
                self._seq = events[-1].seq
                self._watch.sent()
                return
        resting.set_result(None)

    async def _send(self, send: Send, message: dict[str, Any]) -> None:
        self._watch.sends()
        await send(message)
        self._watch.sent()

    def _start_message(self) -> dict[str, Any]:
        # The length of a stream is not known when it starts.
        headers = [header for header in self.raw_headers if header[0] != b"content-length"]
        return {"type": "http.response.start", "status": 200, "headers": headers}


class _StreamWatch:
    """Ends a stream whose client does not read, and says when a ping is due, with one timer for each.

    A stream sends some eighty times; a timeout around every send and every wait would cost more than both.
    """

    def __init__(self, run: Run, ping_seconds: float, send_timeout_seconds: float) -> None:
        self.has_no_client = False
        self._is_over = False
        self._sending_since: float | None = None
        self._sent_at = 0.0
        self._loop = asyncio.get_running_loop()
        self._run = run
        self._ping_seconds = ping_seconds
        self._send_timeout_seconds = send_timeout_seconds

    @contextmanager
    def ending(self, limit: asyncio.Timeout) -> Iterator[None]:
        """Let `limit` expire when a send takes too long."""
        self._limit = limit
        self._send_timer = self._loop.call_later(self._send_timeout_seconds, self._look_at_send)
        self.sent()
        self._ping_timer = self._loop.call_later(self._ping_seconds, self._look_at_ping)
        try:
            yield
        finally:
            self._is_over = True
            self._send_timer.cancel()
            self._ping_timer.cancel()

    def client_left(self) -> None:
        """End the stream now."""
        self.has_no_client = True
        if not self._is_over:
            self._limit.reschedule(self._loop.time())

    def sends(self) -> None:
        """Note that a send has begun."""
        self._sending_since = self._loop.time()

    def sent(self) -> None:
        """Note that a send is over."""
        self._sending_since = None
        self._sent_at = self._loop.time()

    def ping_is_due(self) -> bool:
        """Return whether nothing was sent for the time between two pings."""
        return self._loop.time() >= self._sent_at + self._ping_seconds

    def _look_at_send(self) -> None:
        now = self._loop.time()
        end = (now if self._sending_since is None else self._sending_since) + self._send_timeout_seconds
        if now < end:
            self._send_timer = self._loop.call_at(end, self._look_at_send)
        else:
            self._limit.reschedule(now)

    def _look_at_ping(self) -> None:
        if self.ping_is_due():
            self._run.nudge()
        again = max(self._sent_at + self._ping_seconds, self._loop.time() + self._ping_seconds / 10)
        self._ping_timer = self._loop.call_at(again, self._look_at_ping)


def _never(_: bytes) -> bool:
    """Stand in for a server that writes nothing at once."""
    return False


async def client_gone(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        continue


def _body(chunk: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.response.body", "body": chunk, "more_body": more}
