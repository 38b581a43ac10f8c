"""Concurrent clients that read whole streams and note when what came, over plain sockets: they cost little.

Each client asks again when its stream has ended and a pause has passed; the clients start spread over one
stream's time, as shoppers do.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import quote, urlsplit

_CATEGORY = b'{"categoryHits":'
_SUMMARY = b'{"summary":'
_END = b"\r\n0\r\n\r\n"


@dataclass(slots=True)
class StreamTimes:
    """When the parts of one stream came, in seconds from its request at `asked_at`."""

    query: str = ""
    asked_at: float = 0.0
    first_category: float = 0.0
    last_category: float = 0.0
    first_word: float = 0.0
    end: float = 0.0
    categories: int = 0


@dataclass(slots=True, kw_only=True)
class Load:
    """What a round of streams took."""

    streams: list[StreamTimes] = field(default_factory=list)
    seconds: float = 0.0


async def read_streams(
    url: str,
    path: str,
    *,
    clients: int,
    each: int,
    spread_seconds: float,
    queries: Iterator[str],
    pause_seconds: float = 0.0,
) -> Load:
    """Let `clients` read `each` streams one after another, every one with a query of its own."""
    load = Load()
    began = time.perf_counter()

    async def client(number: int) -> None:
        await asyncio.sleep(spread_seconds * number / clients)
        host = urlsplit(url).netloc
        name, _, port = host.partition(":")
        loop = asyncio.get_running_loop()
        transport, reader = await loop.create_connection(_Reader, name, int(port))
        try:
            for _ in range(each):
                query = next(queries)
                target = f"{path}?maxCategories=6&q={quote(query)}"
                request = f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n"
                load.streams.append(await reader.ask(query, request.encode()))
                await asyncio.sleep(pause_seconds)
        finally:
            transport.close()

    async with asyncio.TaskGroup() as group:
        for number in range(clients):
            group.create_task(client(number), name=f"client:{number}")
    load.seconds = time.perf_counter() - began
    return load


class _Reader(asyncio.Protocol):
    """Reads one stream at a time on a keep-alive connection."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._scanned = 0
        self._times = StreamTimes()
        self._done: asyncio.Future[StreamTimes] | None = None

    async def ask(self, query: str, request: bytes) -> StreamTimes:
        """Send a request and return what its answer's times were."""
        self._received.clear()
        self._scanned = 0
        self._times = StreamTimes(query=query, asked_at=time.perf_counter())
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        async with asyncio.timeout(30):
            return await self._done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(ConnectionError("the server closed the connection"))

    def data_received(self, data: bytes) -> None:
        times = self._times
        now = time.perf_counter() - times.asked_at
        # Marks may be cut between two reads: scan again from a little before.
        start = max(0, self._scanned - len(_CATEGORY) + 1)
        self._received += data
        self._scanned = len(self._received)
        found = self._received.count(_CATEGORY, start)
        if found:
            times.first_category = times.first_category or now
            times.last_category = now
            times.categories += found
        elif not times.first_word and self._received.find(_SUMMARY, start) >= 0:
            times.first_word = now
        if self._received.endswith(_END) and self._done is not None and not self._done.done():
            if not self._received.startswith(b"HTTP/1.1 200"):
                self._done.set_exception(ConnectionError(bytes(self._received[:200]).decode()))
                return
            times.end = now
            self._done.set_result(times)
