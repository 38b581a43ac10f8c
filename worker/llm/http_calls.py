"""HTTP/1.1 calls to one server whose answers are read as they arrive: no task is woken between two reads.

An answer of a model comes in a hundred pieces, so that what one piece costs is what a stream costs. httptools
reads the protocol, and what is read goes to a plain function; connections are kept, bounded and cut at once
when their call is given up. A proxy is asked to tunnel TLS; without TLS it is asked for the whole URL.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import aiohappyeyeballs

from worker.llm.http_connection import CallFailed, HttpConnection
from worker.llm.http_proxy import open_tunnel, proxy_headers

CONNECT_SECONDS = 2.0
KEEP_ALIVE_SECONDS = 120.0
DNS_SECONDS = 300.0
_HAPPY_EYEBALLS_SECONDS = 0.25
"""How long one address family may keep the other waiting. Source: RFC 8305."""


def look_up(host: str, port: int) -> list[Any]:
    """Return the addresses of a host; blocks."""
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


class CannotConnect(CallFailed):
    """There is no connection to the server, so that it has not seen the call."""


class HttpCalls:
    """Calls to one server over at most `max_connections` connections.

    `resolve` gives the addresses of a host and may block: it is called in a thread, one call at a time.
    """

    def __init__(
        self,
        base_url: str,
        *,
        proxy: str | None = None,
        max_connections: int = 256,
        resolve: Callable[[str, int], list[Any]] = look_up,
    ) -> None:
        address = urlsplit(base_url)
        self.proxy = None if proxy is None else urlsplit(proxy)
        self._is_tls = address.scheme == "https"
        self._host = address.hostname or ""
        self._port = address.port or (443 if self._is_tls else 80)
        self._host_header = address.netloc.rpartition("@")[2].encode("ascii", "replace")
        self._tls: ssl.SSLContext | None = None
        self._places = asyncio.Semaphore(max_connections)
        self._idle: list[tuple[HttpConnection, float]] = []
        self._open: set[HttpConnection] = set()
        self._resolve = resolve
        self._lookup: asyncio.Future[list[Any]] | None = None
        self._addresses: tuple[float, list[Any]] = (0.0, [])

    @asynccontextmanager
    async def call(
        self, method: bytes, url: str, headers: Mapping[str, str], body: bytes = b""
    ) -> AsyncIterator[HttpConnection]:
        """Begin a call, and end it on leaving the block."""
        answer = await self.begin(method, url, headers, body)
        try:
            yield answer
        finally:
            self.end(answer)

    async def begin(
        self, method: bytes, url: str, headers: Mapping[str, str], body: bytes = b""
    ) -> HttpConnection:
        """Send a call and return its answer once the headers are there; it MUST be given to `end`.

        A server may close a connection that was kept in the very moment in which it is used again: what it
        has not begun to answer is asked on a new one.

        Raises:
            CallFailed: The connection broke; `CannotConnect`, a subclass, where there was none.
            TimeoutError: The server did not answer.
        """
        request = self._head(method, url, headers, len(body)) + body
        await self._places.acquire()
        try:
            kept = self._kept()
            if kept is not None and await self._answers(kept, request):
                return kept
            connection = await self._connect()
            await self._answers(connection, request, is_new=True)
        except BaseException:
            self._places.release()
            raise
        return connection

    async def _answers(self, connection: HttpConnection, request: bytes, *, is_new: bool = False) -> bool:
        """Send a call; return whether its answer has begun, or False where a kept connection was dead."""
        begun = False
        try:
            connection.send(request)
            await connection.answered()
            begun = True
        except CallFailed:
            if is_new or connection.has_heard:
                raise
        finally:
            if not begun:
                self._drop(connection)
        return begun

    def end(self, connection: HttpConnection) -> None:
        """End a call: a connection whose answer was not read to its end is cut."""
        self._places.release()
        if connection.is_reusable:
            connection.let_go()
            self._idle.append((connection, time.monotonic()))
        else:
            self._drop(connection)

    def close(self) -> None:
        """Cut every connection, with whatever is being read from it."""
        for connection in self._open:
            connection.cut()
        self._open.clear()
        self._idle.clear()

    def _kept(self) -> HttpConnection | None:
        oldest = time.monotonic() - KEEP_ALIVE_SECONDS
        while self._idle:
            connection, since = self._idle.pop()
            if since > oldest and connection.is_open:
                return connection
            self._drop(connection)
        return None

    def _drop(self, connection: HttpConnection) -> None:
        connection.cut()
        self._open.discard(connection)

    async def _connect(self) -> HttpConnection:
        loop = asyncio.get_running_loop()
        host, port = self._host, self._port
        if self.proxy is not None:
            host, port = self.proxy.hostname or "", self.proxy.port or 80
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                addresses = await self._resolved(host, port)
                sock = await aiohappyeyeballs.start_connection(
                    addresses, happy_eyeballs_delay=_HAPPY_EYEBALLS_SECONDS, loop=loop
                )
                try:
                    if self.proxy is not None and self._is_tls:
                        await open_tunnel(sock, self.proxy, self._host, self._port)
                    tls = self._tls_context()
                    _, connection = await loop.create_connection(
                        HttpConnection,
                        sock=sock,
                        ssl=tls,
                        server_hostname=None if tls is None else self._host,
                    )
                except BaseException:
                    sock.close()
                    raise
        except (OSError, CallFailed) as error:
            # A timeout is one of them. The server may have moved.
            self._addresses = (0.0, [])
            raise CannotConnect(f"cannot connect to {host}:{port}") from error
        self._open.add(connection)
        return connection

    async def _resolved(self, host: str, port: int) -> list[Any]:
        until, addresses = self._addresses
        now = time.monotonic()
        if now >= until:
            if self._lookup is None or self._lookup.done():
                # Whoever waits may give up; a name server that hangs must not take thread after thread.
                loop = asyncio.get_running_loop()
                self._lookup = loop.run_in_executor(None, self._resolve, host, port)
                self._lookup.add_done_callback(lambda lookup: lookup.cancelled() or lookup.exception())
            addresses = await asyncio.shield(self._lookup)
            self._addresses = (now + DNS_SECONDS, addresses)
        return addresses

    def _tls_context(self) -> ssl.SSLContext | None:
        if self._is_tls and self._tls is None:
            self._tls = ssl.create_default_context()
            self._tls.set_alpn_protocols(["http/1.1"])
        return self._tls

    def _head(self, method: bytes, url: str, headers: Mapping[str, str], length: int) -> bytes:
        address = urlsplit(url)
        target = address.path + (f"?{address.query}" if address.query else "")
        lines = [b"Host: " + self._host_header, b"User-Agent: aisle"]
        if self.proxy is not None and not self._is_tls:
            target = url
            lines += proxy_headers(self.proxy)
        for name, value in headers.items():
            if "\r" in value or "\n" in value:
                raise CannotConnect(f"the header {name} holds a line end")
            lines.append(f"{name}: {value}".encode("latin-1", "replace"))
        if length or method == b"POST":
            lines.append(b"Content-Length: %d" % length)
        start = b"%b %b HTTP/1.1" % (method, target.encode("ascii", "replace"))
        return b"\r\n".join((start, *lines, b"", b""))
