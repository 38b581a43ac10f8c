"""One connection to a server and the answer that is being read from it; a call at a time.

Bytes go to `take` as they are read, outside of the parser, all of one read together. What `take` raises ends
the call and is raised where its end is waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import httptools

READ_SECONDS = 30.0
"""The last resort; a planner's own deadlines are far shorter."""
_MOST_HEADER_BYTES = 65_536


class CallFailed(Exception):
    """The connection broke, or what came is not HTTP."""


class HttpConnection(asyncio.Protocol):
    """Reads answers. `status` and `headers`, in lower case, are those of the answer that has begun."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._answered: asyncio.Future[None] | None = None
        self._ended: asyncio.Future[None] | None = None
        self._take: Callable[[bytes], None] | None = None
        self._arrived: list[bytes] = []
        self._header_bytes = 0
        self._is_open = False
        self._is_whole = False
        self._keeps_alive = False
        self.has_heard = False
        """Whether anything has come since the last call was sent."""
        self._heard_at = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._limit: asyncio.TimerHandle | None = None

    @property
    def is_open(self) -> bool:
        """Whether the connection can carry a call, as far as this end knows."""
        return self._is_open

    @property
    def is_reusable(self) -> bool:
        """Whether the answer was read to its end and the server keeps the connection."""
        return self._is_open and self._is_whole and self._keeps_alive and not self._arrived

    def send(self, request: bytes) -> None:
        """Send a whole call."""
        self._answered, self._ended = self._loop.create_future(), self._loop.create_future()
        self._take, self._is_whole, self._keeps_alive = None, False, False
        self._header_bytes, self.has_heard = 0, False
        self._heard_at = self._loop.time()
        self._watch = self._loop.call_later(READ_SECONDS, self._look)
        if not self._is_open:
            self._fail(CallFailed("the connection was closed"))
            return
        self._transport.write(request)

    async def answered(self) -> None:
        """Return when status and headers are there.

        Raises:
            CallFailed: They will not come.
            TimeoutError: The server has been silent for too long.
        """
        assert self._answered is not None
        await self._answered

    def read_into(self, take: Callable[[bytes], None]) -> None:
        """Give the body to `take` from now on, what is there already first."""
        self._take = take
        self._deliver()

    async def ended(self) -> None:
        """Return when the body has ended.

        Raises:
            CallFailed: It will not.
            TimeoutError: The server has been silent for too long.
        """
        assert self._ended is not None
        await self._ended

    @property
    def has_ended(self) -> bool:
        """Whether the end of the body has come, one way or the other."""
        return self._ended is not None and self._ended.done()

    def when_ended(self, call: Callable[[], None]) -> None:
        """Call `call` when the body has ended, one way or the other."""
        assert self._ended is not None
        self._ended.add_done_callback(lambda _: call())

    def end_within(self, seconds: float) -> None:
        """Wait at most so long for the end of the body; a connection that did not end is not used again."""
        if self._limit is None:
            self._limit = self._loop.call_later(seconds, self._settle, None)

    def let_go(self) -> None:
        """Forget who was reading: an idle connection must not keep an answer in memory."""
        self._take = self._answered = self._ended = None
        self.headers = {}

    def cut(self) -> None:
        """Close the connection at once, whatever is under way."""
        self._is_open = False
        self._settle(CallFailed("the call was cut off"))
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note that the connection is there."""
        self._transport = cast(asyncio.Transport, transport)
        self._is_open = True

    def data_received(self, data: bytes) -> None:
        """Read what has come."""
        self.has_heard = True
        self._heard_at = self._loop.time()
        if self._ended is None or self._ended.done():
            # Nobody asked: whatever it is, the connection is no good for the next call.
            self.cut()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._keeps_alive = False
            if not self._is_whole:
                self._fail(CallFailed(f"the answer is not HTTP: {error}"))
                return
        self._deliver()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the answer: well, where its body lasts as long as the connection."""
        self._is_open = False
        if self._is_whole:
            return
        lasts = not self.headers.keys() & {"content-length", "transfer-encoding"}
        answered = self._answered is not None and self._answered.done()
        if exc is None and lasts and answered:
            self._is_whole = True
            self._deliver()
        else:
            self._fail(CallFailed("the connection was closed"))

    def on_message_begin(self) -> None:
        """Begin an answer, which may be an interim one; behind a whole one there should be none."""
        if self._is_whole:
            raise httptools.HttpParserError("more was answered than was asked for")
        self.headers = {}

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take one header; of equal ones the first counts."""
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > _MOST_HEADER_BYTES:
            raise httptools.HttpParserError("the headers are too large")
        self.headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))

    def on_headers_complete(self) -> None:
        """Let the caller see the answer, unless a better one follows."""
        self.status = self._parser.get_status_code()
        if self.status >= 200 and self._answered is not None and not self._answered.done():
            self._answered.set_result(None)

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._arrived.append(body)

    def on_message_complete(self) -> None:
        """Note that the answer is whole."""
        if self.status >= 200:
            self._is_whole = True
            self._keeps_alive = self._parser.should_keep_alive()

    def _deliver(self) -> None:
        if self._take is not None and self._arrived:
            arrived = self._arrived[0] if len(self._arrived) == 1 else b"".join(self._arrived)
            self._arrived.clear()
            try:
                self._take(arrived)
            except Exception as error:  # noqa: BLE001 - raised again where the end is waited for
                self._fail(error)
                return
        if self._is_whole and (self._take is not None or not self._arrived):
            self._settle(None)

    def _fail(self, error: Exception) -> None:
        self._is_whole = False
        self._settle(error)

    def _settle(self, error: Exception | None) -> None:
        for timer in (self._watch, self._limit):
            if timer is not None:
                timer.cancel()
        self._watch = self._limit = None
        for future in (self._answered, self._ended):
            if future is None or future.done():
                continue
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)
                # Whoever waits gets it; a call that was given up has nobody who waits.
                future.exception()

    def _look(self) -> None:
        due = self._heard_at + READ_SECONDS
        if self._loop.time() >= due:
            self._fail(TimeoutError("the server has been silent for too long"))
        else:
            self._watch = self._loop.call_at(due, self._look)
