"""The event stream of a run, over real HTTP and over a raw socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.support.event_stream import frames
from tests.support.live_server import live_server
from worker.events import EventName
from worker.run import Run
from worker.run_registry import RunRegistry, open_run_registry
from worker.sse import RunStream

pytestmark = pytest.mark.anyio


@dataclass(slots=True)
class Stage:
    """A server of one run whose work the test drives."""

    run: Run
    registry: RunRegistry
    gate: asyncio.Event
    url: str = ""


@asynccontextmanager
async def staged(
    *, ping_seconds: float = 15.0, send_timeout_seconds: float = 20.0, retention_seconds: float = 60.0
) -> AsyncIterator[Stage]:
    """Serve one run that emits `init`, waits for the gate, and ends."""
    async with open_run_registry(grace_seconds=0.0, retention_seconds=retention_seconds) as registry:
        stage = Stage(Run(account_id="acme", index="shop"), registry, asyncio.Event())

        async def work(run: Run) -> None:
            run.emit(EventName.INIT, {"categories": True})
            await stage.gate.wait()
            run.emit(EventName.DELTA, {"summary": "done"})

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan":
                return
            if scope["path"] == "/start":
                registry.start(stage.run, work)
            response = RunStream(
                stage.run,
                registry,
                ping_seconds=ping_seconds,
                send_timeout_seconds=send_timeout_seconds,
                headers={"x-test": "yes"},
            )
            await response(scope, receive, send)

        async with asyncio.timeout(20), live_server(app) as stage.url:
            yield stage


async def test_a_stream_has_the_headers_that_proxies_need_and_ends_with_its_run() -> None:
    """No buffering, no transformation, one writer, a proper end. Source: decision 0005."""
    async with staged() as stage, httpx.AsyncClient(timeout=10) as client:
        async with client.stream("GET", f"{stage.url}/start") as response:
            stream = frames(response)
            assert (await anext(stream)).name == "init"
            stage.gate.set()
            assert [frame.name async for frame in stream] == ["delta", "stream-end"]
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert response.headers["cache-control"] == "no-cache, no-transform"
        assert response.headers["x-accel-buffering"] == "no"
        assert response.headers["x-test"] == "yes"


async def test_an_answer_that_waits_for_nothing_leaves_in_one_piece() -> None:
    """What is ready in the first turn of a run's task is one send, with the end in it."""
    sent: list[Any] = []

    async def never() -> Any:
        await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        sent.append(message)

    async def work(run: Run) -> None:
        run.emit(EventName.INIT, {"categories": True})
        run.emit(EventName.DELTA, {"summary": "done"})

    async with asyncio.timeout(5), open_run_registry(grace_seconds=0.0, retention_seconds=60) as registry:
        run = Run(account_id="acme", index="shop")
        registry.start(run, work)
        await RunStream(run, registry)({"type": "http"}, never, send)
        assert run.subscribers == 0
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    body = sent[1]["body"]
    assert (sent[1]["more_body"], body.count(b"event: "), body[-len(b"data: {}\n\n") :]) == (
        False,
        3,
        b"data: {}\n\n",
    )


async def test_a_ping_comes_when_nothing_else_does() -> None:
    """A comment keeps proxies from closing a quiet stream."""
    async with (
        staged(ping_seconds=0.01) as stage,
        httpx.AsyncClient(timeout=10) as client,
        client.stream("GET", f"{stage.url}/start") as response,
    ):
        async for line in response.aiter_lines():
            if line == ": ping":
                stage.gate.set()
            if line == "event: stream-end":
                break
        else:
            raise AssertionError("the stream had no ping or no end")


async def test_two_readers_of_one_run_see_the_same_and_the_first_ones_leaving_does_not_end_it() -> None:
    """The run is not the response's. Source: decision 0003."""
    async with (
        staged() as stage,
        httpx.AsyncClient(timeout=10) as client,
        client.stream("GET", f"{stage.url}/start") as first,
    ):
        assert (await anext(frames(first))).name == "init"
        async with client.stream("GET", f"{stage.url}/join") as second:
            stream = frames(second)
            assert (await anext(stream)).name == "init"
            await first.aclose()
            stage.gate.set()
            assert [frame.name async for frame in stream] == ["delta", "stream-end"]


async def test_a_reader_that_does_not_read_is_given_up_and_the_run_is_not() -> None:
    """A full socket costs its own connection only. Source: decision 0005."""
    async with staged(send_timeout_seconds=0.2) as stage:
        host, port = stage.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
        writer.write(b"GET /start HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"init")
        stage.registry.subscribe(stage.run)
        filler = "x" * 1_000_000
        for _ in range(7):
            stage.run.emit(EventName.DELTA, {"summary": filler})
        while stage.run.subscribers > 1:
            stage.run.emit(EventName.DELTA, {"summary": "x"})
            await asyncio.sleep(0)
        assert not stage.run.finished
        stage.gate.set()
        last = [event async for event in stage.run.events(after=stage.run.last_seq)]
        assert last[-1].name == "stream-end"
        stage.registry.unsubscribe(stage.run)
        writer.close()
