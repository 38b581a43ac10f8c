"""A stopped call leaves nothing behind: no socket, no task, on either client, at whatever moment.

The measured times are printed by `python -m bench.model`; here only the order of events is asserted.
"""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from tests.support.scripted_gemini import Head, Pause, ScriptedGemini, Send, Stall
from tests.support.scripted_gemini import scenarios as s
from tests.worker.llm.clients import CLIENTS, OpenModel, asking, developer, outcome
from worker.llm.language_model import LanguageModel

pytestmark = pytest.mark.anyio

STOPS = 100


@pytest.fixture
async def server() -> AsyncIterator[ScriptedGemini]:
    """Serve a stream that never ends by itself."""
    pieces = [step for n in range(20) for step in (Send(s.text_chunk(f"{n} ")), Pause(0.0005))]
    async with ScriptedGemini([Pause(0.001), Head(), *pieces, Stall()]) as scripted:
        yield scripted


@pytest.fixture(params=sorted(CLIENTS))
def open_model(request: pytest.FixtureRequest) -> OpenModel:
    """Open one of the clients under contract."""
    return CLIENTS[request.param]


async def consume(model: LanguageModel, busy: asyncio.Event | None) -> None:
    """Read a stream; after its third event, wait for `busy` as a consumer does that has work of its own."""
    seen = 0
    async with aclosing(model.stream(asking())) as stream:  # type: ignore[type-var]
        async for _ in stream:
            seen += 1
            if busy is not None and seen == 3:
                await busy.wait()


async def test_a_hundred_stops_at_random_moments_leave_no_socket(
    open_model: OpenModel, server: ScriptedGemini
) -> None:
    """Before the request, before the first byte, between chunks, in a stall: the server sees it go."""
    moments = random.Random(5)
    gc.disable()
    try:
        async with open_model(developer(server)) as model, asyncio.timeout(60):
            for number in range(STOPS):
                turns = moments.randrange(120)
                async with asyncio.TaskGroup() as group:
                    reading = group.create_task(
                        consume(model, asyncio.Event() if number % 2 else None), name=f"read:{number}"
                    )
                    for _ in range(turns):
                        await asyncio.sleep(moments.choice((0, 0, 0.0003)))
                    reading.cancel()
            for call in server.calls:
                await call.gone.wait()
            await server.idle()
            assert len(server.calls) > STOPS // 2
    finally:
        gc.enable()


async def test_a_consumer_that_stops_at_its_own_await_frees_the_socket(
    open_model: OpenModel, server: ScriptedGemini
) -> None:
    """Not at the next garbage collection: at once. Source: python-genai issue 2425."""
    gc.disable()
    try:
        async with open_model(developer(server)) as model, asyncio.timeout(5):
            async with aclosing(model.stream(asking())) as stream:  # type: ignore[type-var]
                await anext(aiter(stream))
            await server.calls[0].gone.wait()
    finally:
        gc.enable()


async def test_an_abandoned_stream_leaves_room_for_the_next(
    open_model: OpenModel, server: ScriptedGemini
) -> None:
    """After twice as many stops as there are connections, a call is still answered."""
    async with open_model(developer(server)) as model, asyncio.timeout(10):
        for _ in range(20):
            async with aclosing(model.stream(asking())) as stream:  # type: ignore[type-var]
                await anext(aiter(stream))
        server.script(s.json_text())
        events, error = await outcome(model, asking())
    assert error is None
    assert events


async def test_no_task_outlives_a_stop(open_model: OpenModel, server: ScriptedGemini) -> None:
    """The client keeps no task of a call that was stopped."""
    async with open_model(developer(server)) as model, asyncio.timeout(5):
        async with aclosing(model.stream(asking())) as stream:  # type: ignore[type-var]
            await anext(aiter(stream))
        await server.calls[0].gone.wait()
        await asyncio.sleep(0)
        names = [task.get_name() for task in asyncio.all_tasks()]
    assert [name for name in names if name.startswith("model:")] == []


async def test_closing_the_client_ends_its_streams(open_model: OpenModel, server: ScriptedGemini) -> None:
    """A worker that shuts down does not wait for the model."""
    async with asyncio.timeout(5):
        async with open_model(developer(server)) as model:
            stream = model.stream(asking())
            await anext(aiter(stream))
        await server.calls[0].gone.wait()
        async with aclosing(stream):  # type: ignore[type-var]
            pass


async def test_a_finished_stream_leaves_its_connection_to_the_next(
    open_model: OpenModel, server: ScriptedGemini
) -> None:
    """TLS is paid once: calls in a row use one connection."""
    server.script(s.json_text())
    async with open_model(developer(server)) as model:
        for _ in range(5):
            await outcome(model, asking())
    assert {call.connection for call in server.calls} == {1}


async def test_calls_at_once_get_a_connection_each(open_model: OpenModel, server: ScriptedGemini) -> None:
    """The pool is as large as the streams that were asked for, beyond a library's default of 100."""
    async with open_model(developer(server)) as model, asyncio.timeout(20), asyncio.TaskGroup() as group:
        readers = [group.create_task(consume(model, None), name=f"read:{n}") for n in range(120)]
        await server.called(120)
        for reader in readers:
            reader.cancel()
