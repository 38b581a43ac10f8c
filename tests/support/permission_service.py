"""A permission service on a real socket that can fail in every way that one can."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import orjson

Behaviour = Callable[[Mapping[str, Any], asyncio.StreamWriter], Awaitable[None]]
"""Writes the answer to what was asked, or does not."""


class PermissionService:
    """Answers by `behaviour`, and keeps what it was asked."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.asked: list[Mapping[str, Any]] = []
        self.heads: list[bytes] = []
        self.released = asyncio.Event()
        """Set when a test is over, for behaviours that would never end."""
        self.port = 0

    @property
    def url(self) -> str:
        """Where it takes questions."""
        return f"http://127.0.0.1:{self.port}/view"

    @property
    def host(self) -> str:
        """Its host as an operator lists it."""
        return f"127.0.0.1:{self.port}"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, a question after the other."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.split(b":")[1])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length")
                )
                question = orjson.loads(await reader.readexactly(length))
                self.heads.append(head)
                self.asked.append(question)
                await self.behaviour(question, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


def reply(body: bytes, status: str = "200 OK", *headers: str, length: int | None = None) -> bytes:
    """Return a whole HTTP answer; `length` may lie."""
    size = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", f"content-length: {size}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def allowing(may_be_seen: Callable[[Mapping[str, Any], str], bool]) -> Behaviour:
    """Return the behaviour of a service that works: it allows the ids of which the function says so."""

    async def behave(question: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        allowed = [one for one in question["ids"] if may_be_seen(question, one)]
        writer.write(reply(orjson.dumps({"allowed": allowed})))

    return behave


def saying(answer: bytes) -> Behaviour:
    """Return the behaviour of a service that writes these bytes, whatever it is asked."""

    async def behave(_: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return behave


@asynccontextmanager
async def permission_service(behaviour: Behaviour) -> AsyncIterator[PermissionService]:
    """Serve until the block ends."""
    service = PermissionService(behaviour)
    server = await asyncio.start_server(service.answer, "127.0.0.1", 0)
    service.port = server.sockets[0].getsockname()[1]
    try:
        yield service
    finally:
        service.released.set()
        server.close()
        await server.wait_closed()
