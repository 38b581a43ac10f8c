"""A stream whose server takes pieces at once: the same bytes in the same order, and no turn of a task."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.support.live_server import live_server
from worker.events import EventName
from worker.run import Run
from worker.run_registry import open_run_registry
from worker.sse import WRITES_NOW, RunStream

pytestmark = pytest.mark.anyio


@dataclass(slots=True)
class Server:
    """What a server was given: pieces at once, unless it is busy, and messages to wait for."""

    run: Run
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    sent: asyncio.Event = field(default_factory=asyncio.Event)
    at_once: list[bytes] = field(default_factory=list)
    everything: bytes = b""
    is_busy: bool = False

    def write(self, piece: bytes) -> bool:
        """Take a piece now."""
        if self.is_busy:
            return False
        self.at_once.append(piece)
        self.everything += piece
        return True

    async def send(self, message: Any) -> None:
        """Take a message; its piece is taken in another turn of the loop."""
        await asyncio.sleep(0)
        self.everything += message.get("body", b"")
        self.sent.set()

    async def has(self, text: bytes) -> None:
        """Wait until a message has brought the text; the writer rests again when this returns."""
        while text not in self.everything:
            self.sent.clear()
            await self.sent.wait()

    async def receive(self) -> Any:
        """Wait for a client that stays."""
        await asyncio.Event().wait()


@asynccontextmanager
async def served(server: Server, *, ping_seconds: float = 15.0) -> AsyncIterator[None]:
    """Stream a run that emits `init` and waits for the gate; leaving the block opens it."""

    async def work(run: Run) -> None:
        run.emit(EventName.INIT, {"categories": True})
        await server.gate.wait()

    async with asyncio.timeout(10), open_run_registry(grace_seconds=5, retention_seconds=5) as registry:
        registry.start(server.run, work)
        stream = RunStream(server.run, registry, ping_seconds=ping_seconds)
        scope = {"type": "http", "extensions": {WRITES_NOW: server.write}}
        async with asyncio.TaskGroup() as group:
            group.create_task(stream(scope, server.receive, server.send), name="stream")
            await server.has(b"init")
            yield
            server.gate.set()


def new_server() -> Server:
    """Return a server of a new run."""
    return Server(Run(account_id="acme", index="shop"))


def numbers(server: Server) -> list[int]:
    """Return the numbers of the events in the order in which the client has them."""
    lines = server.everything.decode().splitlines()
    return [int(line.rpartition("-")[2]) for line in lines if line.startswith("id: ")]


async def test_what_one_turn_of_the_loop_emits_leaves_together_without_a_turn_of_the_writer() -> None:
    """The server has it when everything of the next turn has run, in one piece."""
    server = new_server()
    async with served(server):
        server.run.emit(EventName.DELTA, {"summary": "one"})
        server.run.emit(EventName.DELTA, {"summary": "two"})
        await asyncio.sleep(0)
        assert len(server.at_once) == 1
        assert b"one" in server.at_once[0]
        assert b"two" in server.at_once[0]
    assert numbers(server) == [1, 2, 3, 4]
    assert server.everything.endswith(b"event: stream-end\ndata: {}\n\n")


async def test_what_a_busy_server_cannot_take_at_once_follows_in_order() -> None:
    """An event that has to wait holds back those behind it, so that none overtakes another."""
    server = new_server()
    async with served(server):
        server.run.emit(EventName.DELTA, {"summary": "one"})
        await asyncio.sleep(0)
        server.is_busy = True
        server.run.emit(EventName.DELTA, {"summary": "two"})
        await asyncio.sleep(0)
        server.is_busy = False
        server.run.emit(EventName.DELTA, {"summary": "three"})
        await server.has(b"three")
        assert len(server.at_once) == 1
        server.run.emit(EventName.DELTA, {"summary": "four"})
        await asyncio.sleep(0)
        assert b"four" in server.at_once[-1]
    assert numbers(server) == [1, 2, 3, 4, 5, 6]


async def test_a_stream_that_rests_still_gets_its_pings() -> None:
    """What was written at once is followed by a ping when nothing follows it."""
    server = new_server()
    async with served(server, ping_seconds=0.02):
        server.run.emit(EventName.DELTA, {"summary": "word"})
        await server.has(b": ping")
        assert b"word" in server.everything


async def test_a_stream_that_has_ended_is_told_of_no_news() -> None:
    """The run forgets who listened, so that what is emitted late reaches nobody's connection."""
    server = new_server()
    async with served(server):
        pass
    written = server.everything
    server.run.nudge()
    await asyncio.sleep(0)
    assert server.everything == written


async def test_the_server_takes_pieces_between_the_head_and_the_end_of_an_answer_only() -> None:
    """Before the head there is no answer to be a piece of, and behind the end nobody reads it."""
    taken: list[bool] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return
        write = scope["extensions"][WRITES_NOW]
        taken.append(write(b"early"))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        taken.append(write(b"one, "))
        await send({"type": "http.response.body", "body": b"two, ", "more_body": True})
        taken.append(write(b"three"))
        await send({"type": "http.response.body", "body": b""})
        taken.append(write(b"late"))

    async with asyncio.timeout(10), live_server(app) as url, httpx.AsyncClient() as client:
        for _ in range(2):
            assert (await client.get(url)).text == "one, two, three"
    assert taken == [False, True, True, False] * 2


async def test_an_answer_of_known_length_and_one_without_a_body_take_no_pieces() -> None:
    """A piece is a chunk; where none are sent it would spoil the answer."""
    taken: list[bool] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return
        length = [(b"content-length", b"4")]
        await send({"type": "http.response.start", "status": 200, "headers": length})
        taken.append(scope["extensions"][WRITES_NOW](b"more"))
        await send({"type": "http.response.body", "body": b"four"})

    async with asyncio.timeout(10), live_server(app) as url, httpx.AsyncClient() as client:
        assert (await client.get(url)).text == "four"
        assert (await client.head(url)).status_code == 200
    assert taken == [False, False]
