"""Measures conversations: append, load, turns per second, memory of idle objects, time to enter a turn.

`python -m bench.conversation` prints one table. Bodies are 2 KB, the conversation has 100 turns, SQLite
syncs every commit; Redis is a server of its own on the loopback, left out where the program is missing.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.table import Row, percentile, print_table
from conversation import ConversationConfig, Conversations, Interaction, open_conversations

SAMPLES = 1500
WARM_UP = 150
PARALLEL = 32
TURNS_EACH = 150
ROUNDS = 3
IDLE_OBJECTS = 5000

_INTERACTION = Interaction(
    query="waterproof trail shoes under 120",
    summary="Three pairs suit wet trails. " * 40,
    product_ids=tuple(f"product-{number:05d}" for number in range(30)),
    categories=("Trail shoes", "Gaiters", "Socks"),
    state={"price": {"max": 120}, "shown": [f"product-{number:05d}" for number in range(12)]},
)


def main() -> None:
    """Measure and print."""
    print_table("conversations", asyncio.run(_measure_all()))


async def _measure_all() -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        config = ConversationConfig(sqlite_path=Path(folder) / "conversations.db")
        async with open_conversations(config) as conversations:
            rows += await _measure(conversations, "sqlite", 0.5)
            rows.append(await _idle_memory(conversations))
    with _redis() as url:
        if url is not None:
            async with open_conversations(ConversationConfig(redis_url=url)) as conversations:
                rows += await _measure(conversations, "redis", 0.3)
    return rows


async def _measure(conversations: Conversations, storage: str, target_ms: float) -> list[Row]:
    async with conversations.turn("bench") as first:
        await first.commit(_INTERACTION)
    conversation_id = first.conversation_id
    entering: list[float] = []
    loading: list[float] = []
    appending: list[float] = []
    for _ in range(WARM_UP + SAMPLES):
        started = time.perf_counter()
        async with conversations.turn("bench", conversation_id) as turn:
            entered = time.perf_counter()
            await turn.history()
            loaded = time.perf_counter()
            await turn.commit(_INTERACTION)
            appended = time.perf_counter()
        entering.append(entered - started)
        loading.append(loaded - entered)
        appending.append(appended - loaded)

    async def read() -> None:
        await conversations.read("bench", conversation_id)

    async def read_and_decode() -> None:
        tuple((await conversations.read("bench", conversation_id)).interactions)

    reading = await _times(read)
    decoding = await _times(read_and_decode)
    rates = [await _turns_per_second(conversations) for _ in range(ROUNDS)]
    target = f"ms (target {target_ms})"
    return [
        _row(f"{storage}: enter a turn, before its first event", entering[WARM_UP:], "ms"),
        _row(f"{storage}: lease, and load the last 10 of 100 turns, one decoded", loading[WARM_UP:], target),
        _row(f"{storage}: append, durable", appending[WARM_UP:], target),
        _row(f"{storage}: read all 100 turns, the last one decoded", reading, target),
        _row(f"{storage}: read and decode all 100 turns", decoding, "ms"),
        Row(
            f"{storage}: turns of {PARALLEL} conversations at once (median, worst round)",
            f"{statistics.median(rates):,.0f}",
            f"{min(rates):,.0f}",
            "/s (target 5,000)" if storage == "sqlite" else "/s",
        ),
    ]


async def _turns_per_second(conversations: Conversations) -> float:
    async def shop() -> None:
        conversation_id: str | None = None
        for _ in range(TURNS_EACH):
            async with conversations.turn("bench", conversation_id) as turn:
                await turn.history()
                await turn.commit(_INTERACTION)
            conversation_id = turn.conversation_id

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(PARALLEL):
            group.create_task(shop(), name=f"shopper-{number}")
    return PARALLEL * TURNS_EACH / (time.perf_counter() - started)


async def _idle_memory(conversations: Conversations) -> Row:
    async def one() -> None:
        async with conversations.turn("bench") as turn:
            await turn.commit(Interaction(query="q"))

    await one()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(IDLE_OBJECTS):
        await one()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    per_object = max(0, after - before) / IDLE_OBJECTS
    return Row("memory per idle object", f"{per_object:,.0f}", "", "bytes (target 4,096)")


async def _times(work: Callable[[], Awaitable[None]]) -> list[float]:
    times: list[float] = []
    for _ in range(WARM_UP + SAMPLES // 3):
        started = time.perf_counter()
        await work()
        times.append(time.perf_counter() - started)
    return times[WARM_UP:]


def _row(name: str, seconds: list[float], unit: str) -> Row:
    median, p99 = (f"{percentile(seconds, percent) * 1000:.3f}" for percent in (50, 99))
    return Row(name, median, p99, unit)


@contextmanager
def _redis() -> Iterator[str | None]:
    program = shutil.which("redis-server")
    if program is None:
        yield None
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [program, "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        for line in server.stdout:
            if "Ready to accept connections" in line:
                break
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.kill()
        server.wait(timeout=5)
        if server.stdout is not None:
            server.stdout.close()


if __name__ == "__main__":
    main()
