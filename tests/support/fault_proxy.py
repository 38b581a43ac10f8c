"""A TCP proxy that does to connections what networks and servers do: delay, cut, refuse, throttle."""

from __future__ import annotations

import asyncio
from types import TracebackType

_CHUNK = 65_536


class FaultProxy:
    """Stands between a client and a real server on the loopback; its faults may change at any moment."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.delay_seconds = 0.0
        """Every chunk of an answer waits this long."""
        self.is_silent = False
        """Answers are held back until this is lifted; `released` tells those that wait."""
        self.released = asyncio.Event()
        self.cut_after_bytes: int | None = None
        """A connection is broken after this many bytes of answers."""
        self.canned: bytes | None = None
        """Requests do not reach the server; each is answered with these bytes."""
        self.requests = 0
        """Chunks that came from clients."""

    async def __aenter__(self) -> FaultProxy:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Accept connections, on the same port as before."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Break every connection and refuse new ones."""
        self.released.set()
        if self._server is not None:
            self._server.close()
            self.break_connections()
            await self._server.wait_closed()
            self._server = None

    def break_connections(self) -> None:
        """Reset every connection there is."""
        for writer in list(self._writers):
            writer.transport.abort()

    def fall_silent(self) -> None:
        """Hold every answer back from now on."""
        self.is_silent = True
        self.released.clear()

    def speak(self) -> None:
        """Let the answers go."""
        self.is_silent = False
        self.released.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            upstream_reader, upstream = await asyncio.open_connection("127.0.0.1", self._target_port)
            self._writers.add(upstream)
            try:
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._forward(reader, upstream, writer), name="proxy:requests")
                    both.create_task(self._answer(upstream_reader, writer, upstream), name="proxy:answers")
            finally:
                self._writers.discard(upstream)
                upstream.close()
        except* OSError:
            pass  # The connection that was broken, by either side: what this proxy is for.
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _forward(
        self, reader: asyncio.StreamReader, upstream: asyncio.StreamWriter, client: asyncio.StreamWriter
    ) -> None:
        while chunk := await reader.read(_CHUNK):
            self.requests += 1
            if self.canned is not None:
                client.write(self.canned)
                await client.drain()
            else:
                upstream.write(chunk)
                await upstream.drain()
        upstream.transport.abort()

    async def _answer(
        self, upstream: asyncio.StreamReader, client: asyncio.StreamWriter, server: asyncio.StreamWriter
    ) -> None:
        sent = 0
        while chunk := await upstream.read(_CHUNK):
            if self.delay_seconds:
                await asyncio.sleep(self.delay_seconds)
            if self.is_silent:
                await self.released.wait()
            if self.cut_after_bytes is not None and sent + len(chunk) > self.cut_after_bytes:
                client.write(chunk[: self.cut_after_bytes - sent])
                await client.drain()
                break
            client.write(chunk)
            sent += len(chunk)
            await client.drain()
        client.close()
        server.transport.abort()


def http_answer(status: str, body: bytes) -> bytes:
    """Return a whole HTTP answer that keeps its connection open."""
    lines = (f"HTTP/1.1 {status}", "Content-Type: application/x-amz-json-1.0", f"Content-Length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode() + body
