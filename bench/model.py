"""What one streamed model answer costs the worker, through each client: `python -m bench.model`.

The scripted model runs in a process of its own and sends each chunk by itself, so that no read finds two.
Times are this process's CPU, but for the last rows: how long after a stop the server has seen the socket
go.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

import uvloop

from bench.table import Row, percentile, print_table
from tests.support.scripted_gemini import Head, Pause, ScriptedGemini, Send, Stall
from tests.support.scripted_gemini.paced import Pace, PacedModel
from tests.support.scripted_gemini.scenarios import split, text_chunk
from worker.grounding import GroundedText
from worker.llm.credentials import ApiKey
from worker.llm.gemini_request import GeminiEndpoint
from worker.llm.gemini_rest import open_gemini_rest
from worker.llm.gemini_sdk import open_gemini_sdk
from worker.llm.language_model import LanguageModel, Message, ModelRequest
from worker.llm.search_tool import plan_schema
from worker.planning.plan_fields import PlanFields
from worker.planning.plan_parser import PlanParser
from worker.planning.plan_reader import PlanReader
from worker.summary_prices import PriceCheck

_CHUNKS = 40
_MANY_CHUNKS = 200
_AT_ONCE = 16
_ROUNDS = 9
_STOPS = 100
_PACE = 0.05
_KEY = ApiKey("bench")
_REQUEST = ModelRequest(
    model="gemini-3.5-flash-lite",
    system="You plan searches. " * 60,
    messages=(Message(role="user", text="something warm for a winter camping trip"),),
    response_schema=plan_schema(max_expansions=6, allow_filters=True),
)
_SUMMARY = (
    "For cold nights start with the [Polar Tent](<p:t-1>) at $349 and a warm bag such as <Down Bag|b-1>. "
    "A pad with a high R-value keeps more warmth than a heavier bag does, and a dry base layer helps too. "
)

Open = Callable[[GeminiEndpoint], AbstractAsyncContextManager[LanguageModel]]


@asynccontextmanager
async def _rest(endpoint: GeminiEndpoint) -> AsyncIterator[LanguageModel]:
    async with open_gemini_rest(endpoint, _KEY) as model:
        yield model


@asynccontextmanager
async def _sdk(endpoint: GeminiEndpoint) -> AsyncIterator[LanguageModel]:
    async with open_gemini_sdk(endpoint, _KEY) as model:
        yield model


_CLIENTS: dict[str, Open] = {"rest": _rest, "sdk": _sdk}


def main() -> None:
    """Measure and print one table."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        rows = runner.run(_measure())
    print_table("model", rows)


async def _measure() -> list[Row]:
    rows: list[Row] = []
    for name, open_model in _CLIENTS.items():
        few = await _cpu_ms_per_answer(open_model, _CHUNKS)
        many = await _cpu_ms_per_answer(open_model, _MANY_CHUNKS)
        per_chunk = (statistics.median(many) - statistics.median(few)) / (_MANY_CHUNKS - _CHUNKS) * 1000
        rows.append(_row(f"{name}: CPU of a plan of {_CHUNKS} chunks, parsed", few, "ms"))
        rows.append(Row(f"{name}: CPU of each chunk more", f"{per_chunk:.1f}", "", "us"))
    rows.append(_row(f"plan parser: a plan in {_CHUNKS} pieces", _per_call_us(_parse_plan), "us"))
    rows.append(_row("grounded text: a summary in 60 pieces", _per_call_us(_ground_summary), "us"))
    for name, open_model in _CLIENTS.items():
        rows.append(_row(f"{name}: from stop to closed socket", await _stop_ms(open_model), "ms"))
    return rows


def _row(name: str, values: list[float], unit: str) -> Row:
    return Row(name, f"{statistics.median(values):.2f}", f"{percentile(values, 99):.2f}", unit)


async def _cpu_ms_per_answer(open_model: Open, chunks: int) -> list[float]:
    command = [sys.executable, "-m", "tests.support.scripted_gemini"]
    command += ["--pace", str(_PACE), "--plan-chunks", str(chunks)]
    server = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert server.stdout is not None
        address = (await server.stdout.readline()).decode().split()[-1]
        async with open_model(GeminiEndpoint(base_url=address)) as model:
            costs = [await _round(model) for _ in range(_ROUNDS + 1)]
    finally:
        server.terminate()
        await server.wait()
    return costs[1:]


async def _round(model: LanguageModel) -> float:
    started = time.process_time()
    async with asyncio.TaskGroup() as group:
        for number in range(_AT_ONCE):
            group.create_task(_answer(model), name=f"answer:{number}")
    return (time.process_time() - started) * 1000 / _AT_ONCE


async def _answer(model: LanguageModel) -> None:
    reader = PlanReader()
    async with aclosing(model.stream(_REQUEST)) as stream:  # type: ignore[type-var]
        async for event in stream:
            reader.read(event)
    reader.close()


def _per_call_us(work: Callable[[], None]) -> list[float]:
    costs = []
    for _ in range(300):
        started = time.process_time_ns()
        work()
        costs.append((time.process_time_ns() - started) / 1000)
    return costs[100:]


def _parse_plan() -> None:
    parser = PlanParser(PlanFields())
    for piece in _PIECES:
        parser.feed(piece)
    parser.close()


def _ground_summary() -> None:
    text = GroundedText({"t-1", "b-1"}, PriceCheck([349.0]))
    for piece in _SUMMARY_PIECES:
        text.feed(piece)
    text.close()


async def _stop_ms(open_model: Open) -> list[float]:
    """Return how long the server took to see each of the stops, made at random moments of a stream."""
    moments = random.Random(7)
    steps = [step for n in range(50) for step in (Send(text_chunk(f"{n} ")), Pause(0.001))]
    took: list[float] = []
    async with (
        ScriptedGemini([Head(), *steps, Stall()]) as server,
        open_model(GeminiEndpoint(base_url=server.base_url)) as model,
    ):
        for number in range(_STOPS):
            async with asyncio.TaskGroup() as group:
                reading = group.create_task(_answer(model), name=f"answer:{number}")
                call = await server.called(number + 1)
                await asyncio.sleep(moments.random() * 0.06)
                stopped_at = time.monotonic()
                reading.cancel()
            await call.gone.wait()
            took.append(((call.gone_at or stopped_at) - stopped_at) * 1000)
    return took


_PIECES = split(json.dumps(PacedModel.plan()), _CHUNKS)
_SUMMARY_PIECES = split(_SUMMARY * 3, Pace().summary_chunks)


if __name__ == "__main__":
    main()
