"""Reads values from Redis on one connection that everybody in this process shares.

A pool gives a connection to one caller at a time, and redis-py spends 60 microseconds of CPU on a call. Here
every question is written at once and the answers come back in their order, for a fifth of that. redis-py
opens the connection (TLS, passwords, database) and then hands it over. Measured: docs/caching.md.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import hiredis
from redis.asyncio import Connection, Redis
from redis.exceptions import (
    BusyLoadingError,
    ConnectionError,  # noqa: A004
    InvalidResponse,
    RedisError,
    ResponseError,
    TimeoutError,  # noqa: A004
)

from cache.redis_connection import SOCKET_SECONDS

MAX_WAITING = 4096
"""Questions under way; at a hundred thousand a second the last of these waits 40 ms."""

Values = list[bytes | None]
Landed = Callable[[Values], None]
Lost = Callable[[], None]


class RedisReads:
    """Asks for values. Errors are redis-py's, as if it had been asked."""

    def __init__(self, client: Redis) -> None:
        self._pool = client.connection_pool
        self._line: _Line | None = None
        self._connecting = asyncio.Lock()
        self._attempts = 0
        self._failure: str | None = None

    async def mget(self, *names: str) -> Values:
        """Return the values of these names, None where there is none.

        A connection that has died since it was last used is replaced once.

        Raises:
            RedisError: Redis is not reachable, does not answer in time, or refuses.
        """
        command: tuple[Any, ...] = ("MGET", *names)
        question = hiredis.pack_command(command)
        line = await self.connect()
        try:
            return await line.ask(question)
        except ConnectionError:
            return await (await self.connect()).ask(question)

    def ask(self, *names: str, landed: Landed, lost: Lost) -> bool:
        """Ask without a task; return False, with nothing asked, where the connection is not open.

        `landed` is called with the values in the turn of the loop in which they come, `lost` where none do.
        """
        if self._line is None or not self._line.is_open:
            return False
        command: tuple[Any, ...] = ("MGET", *names)
        try:
            self._line.put(hiredis.pack_command(command), _Asked(landed, lost))
        except RedisError:
            return False
        return True

    async def connect(self) -> _Line:
        """Return the open connection; open it where there is none.

        Raises:
            RedisError: Redis is not reachable.
        """
        if self._line is not None and self._line.is_open:
            return self._line
        attempts = self._attempts
        async with self._connecting:
            if self._line is not None and self._line.is_open:
                return self._line
            if self._attempts != attempts and self._failure is not None:
                # Who waited for an attempt shares its end; one after the other they would wait for minutes.
                raise ConnectionError(self._failure)
            self._attempts += 1
            self._line = await self._opened()
            return self._line

    async def _opened(self) -> _Line:
        connection: Connection = self._pool.make_connection()  # type: ignore[no-untyped-call]
        try:
            async with asyncio.timeout(2 * SOCKET_SECONDS):
                await connection.connect()  # type: ignore[no-untyped-call]
            line = _Line(connection)
        except (RedisError, OSError) as error:
            self._failure = str(error) or "redis did not answer in time"
            await connection.disconnect(nowait=True)
            raise ConnectionError(self._failure) from error
        self._failure = None
        return line

    def close(self) -> None:
        """Close the connection; who still waits for an answer gets an error."""
        if self._line is not None:
            self._line.close()


class _Asked:
    """A question whose asker is called back; it is answered as a future would be."""

    __slots__ = ("_lost", "set_result")

    def __init__(self, landed: Landed, lost: Lost) -> None:
        self.set_result = landed
        self._lost = lost

    def done(self) -> bool:
        return False

    def set_exception(self, _: Exception) -> None:
        self._lost()


class _Line(asyncio.Protocol):
    """One connection, its unanswered questions in the order in which they were asked."""

    def __init__(self, connection: Connection) -> None:
        writer = connection._writer
        if writer is None:
            raise ConnectionError("redis closed the connection at once")
        # Without them redis-py takes itself for disconnected, and closes nothing when it is collected.
        connection._writer = connection._reader = None
        self._writer = writer
        self._transport = writer.transport
        self._transport.set_protocol(self)
        self._replies = hiredis.Reader()
        self._waiting: deque[asyncio.Future[Values] | _Asked] = deque()
        self._answered = 0
        self._watching: asyncio.TimerHandle | None = None
        self._broken: Exception | None = None

    @property
    def is_open(self) -> bool:
        return self._broken is None and not self._transport.is_closing()

    def ask(self, question: bytes) -> asyncio.Future[Values]:
        answer: asyncio.Future[Values] = asyncio.get_running_loop().create_future()
        self.put(question, answer)
        return answer

    def put(self, question: bytes, answer: asyncio.Future[Values] | _Asked) -> None:
        if not self.is_open:
            raise ConnectionError("the connection to redis was lost")
        if len(self._waiting) >= MAX_WAITING:
            raise TimeoutError(f"{len(self._waiting)} questions wait already")
        self._waiting.append(answer)
        self._transport.write(question)
        if self._watching is None:
            self._watch(asyncio.get_running_loop())

    def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
        self._break(ConnectionError("the connection to redis is being closed"))

    def data_received(self, data: bytes) -> None:
        self._replies.feed(data)
        try:
            while (reply := self._replies.gets()) is not False:
                if not isinstance(reply, hiredis.PushNotification):
                    self._answer(reply)
        except hiredis.ProtocolError as error:
            self._break(InvalidResponse(f"redis sent what is no answer: {error}"))

    def connection_lost(self, error: Exception | None) -> None:
        self._break(ConnectionError(f"redis closed the connection: {error or 'end of stream'}"))

    def _answer(self, reply: object) -> None:
        if not self._waiting:
            self._break(InvalidResponse("redis answered what nobody has asked"))
            return
        answer = self._waiting.popleft()
        self._answered += 1
        if answer.done():
            return
        if isinstance(reply, list):
            answer.set_result(reply)
        elif str(reply).startswith("LOADING"):
            answer.set_exception(BusyLoadingError(str(reply)))
        else:
            answer.set_exception(ResponseError(str(reply)))

    def _break(self, error: Exception) -> None:
        if self._broken is None:
            self._broken = error
        self._transport.abort()
        while self._waiting:
            answer = self._waiting.popleft()
            if not answer.done():
                answer.set_exception(error)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        # One timer for the connection instead of one for each question: it looks whether answers still come.
        answered = self._answered

        def look() -> None:
            self._watching = None
            if not self._waiting:
                return
            if self._answered == answered:
                self._break(TimeoutError("redis did not answer in time"))
            else:
                self._watch(loop)

        self._watching = loop.call_later(SOCKET_SECONDS, look)
