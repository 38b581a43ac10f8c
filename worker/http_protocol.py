"""HTTP/1.1 as uvicorn speaks it with httptools, but for URLs that hold a whole payload, and for its writes.

httptools parses URLs of at most 64 KiB; a payload of 64 KiB is a third longer as base64. The query of a long
URL is therefore taken off before the parser sees it and put back behind it. uvicorn writes the head of an
answer by itself, which is a system call and wakes the client for nothing: it leaves with what follows. And a
stream may write its pieces without a task's turn and three coroutines for each (`WRITES_NOW`).
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from worker.sse import WRITES_NOW

LONGEST_PARSED_URL = 65_000
LONGEST_URL = 256 * 1024
"""A longer one is refused while it arrives; the limit of a payload is said at 88 KiB already."""


class LongUrlProtocol(HttpToolsProtocol):
    """One connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, with writes that join the head of an answer to its first bytes."""
        super().connection_made(cast(asyncio.Transport, _JoiningTransport(transport, self.loop)))

    def on_url(self, url: bytes) -> None:
        """Take a piece of the URL, up to the bound."""
        super().on_url(url)
        if len(self.url) > LONGEST_URL:
            raise ValueError(f"a URL has at most {LONGEST_URL} bytes")

    def on_headers_complete(self) -> None:
        """Start the request; the application runs only after this has returned."""
        writer = _PieceWriter()
        self.scope["extensions"] = {WRITES_NOW: cast(Any, writer.write)}
        if len(self.url) <= LONGEST_PARSED_URL:
            super().on_headers_complete()
        else:
            self.url, _, query = self.url.partition(b"?")
            super().on_headers_complete()
            self.scope["query_string"] = query
        if self.cycle is not None and self.cycle.scope is self.scope:
            # Weakly: the exchange knows its scope, the scope this writer; circles wait for a collection.
            writer.exchange = weakref.ref(self.cycle)


class _PieceWriter:
    """Writes pieces of one answer, while the server would send them at once and in chunks."""

    def __init__(self) -> None:
        self.exchange: Callable[[], RequestResponseCycle | None] = lambda: None

    def write(self, piece: bytes) -> bool:
        """Write a piece that is not empty, or return False: then it has to be sent and waited for."""
        exchange = self.exchange()
        if (
            exchange is None
            or exchange.flow.write_paused
            or exchange.disconnected
            or exchange.transport.is_closing()
            or exchange.response_complete
            or not exchange.chunked_encoding
        ):
            return False
        exchange.transport.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        return True


class _JoiningTransport:
    """The transport of a connection as uvicorn uses it; the head of an answer waits for the next write.

    Where none comes in the same turn of the loop, the head leaves alone.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""
        self.is_closing: Callable[[], bool] = transport.is_closing
        self.get_extra_info: Callable[..., Any] = transport.get_extra_info
        self.pause_reading: Callable[[], None] = transport.pause_reading
        self.resume_reading: Callable[[], None] = transport.resume_reading

    def write(self, data: bytes) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(b"HTTP/1."):
            self._head = data
            self._loop.call_soon(self._flush)
            return
        self._transport.write(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        self._transport.abort()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._flush()
        self._transport.set_protocol(protocol)

    def _flush(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)
