"""What three followers cost a busy server: `python -m bench.tail`.

Planned answers of the sample store, in rounds with and without `aisle tail` clients, one right after the
other; the followers read all they get over plain sockets. CPU is the server's.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.process_cpu import process_cpu_ms
from bench.stream_load import read_streams
from bench.table import Row, print_table
from tests.support.server_process import server_process
from tests.support.shop import AGENTIC

FOLLOWERS = 3
CLIENTS = 8
STREAMS = 12
ROUNDS = 6
LIMIT_PERCENT = 3.0


@dataclass(frozen=True, slots=True)
class _Round:
    streams_per_second: float
    cpu_ms: float


def main() -> None:
    """Print one table."""
    with tempfile.TemporaryDirectory() as folder:
        print_table("aisle tail", asyncio.run(_measure(Path(folder))))


async def _measure(folder: Path) -> list[Row]:
    alone: list[_Round] = []
    followed: list[_Round] = []
    queries = (f"warm things for winter camping trip {number}" for number in itertools.count())
    async with server_process(folder) as server:
        await _round(server.url, server.process.pid, queries)
        for _ in range(ROUNDS):
            alone.append(await _round(server.url, server.process.pid, queries))
            async with AsyncExitStack() as stack:
                for _ in range(FOLLOWERS):
                    await stack.enter_async_context(_follower(server.url))
                followed.append(await _round(server.url, server.process.pid, queries))
    lost = [
        1 - two.streams_per_second / one.streams_per_second for one, two in zip(alone, followed, strict=True)
    ]
    more = [two.cpu_ms / one.cpu_ms - 1 for one, two in zip(alone, followed, strict=True)]
    return [
        Row("streams a second, nobody follows", f"{_median(alone, 'streams_per_second'):.0f}", "", ""),
        Row(
            f"streams a second, {FOLLOWERS} follow", f"{_median(followed, 'streams_per_second'):.0f}", "", ""
        ),
        Row("CPU of a stream, nobody follows", f"{_median(alone, 'cpu_ms'):.2f}", "", "ms"),
        Row(f"CPU of a stream, {FOLLOWERS} follow", f"{_median(followed, 'cpu_ms'):.2f}", "", "ms"),
        Row("throughput lost", f"{statistics.median(lost):.1%}", "", f"limit {LIMIT_PERCENT:g} %"),
        Row("CPU added", f"{statistics.median(more):.1%}", "", ""),
    ]


async def _round(url: str, pid: int, queries: Iterator[str]) -> _Round:
    before = process_cpu_ms(pid)
    load = await read_streams(
        url, AGENTIC, clients=CLIENTS, each=STREAMS, spread_seconds=0.0, queries=queries
    )
    done = len(load.streams)
    return _Round(done / load.seconds, (process_cpu_ms(pid) - before) / done)


@asynccontextmanager
async def _follower(url: str) -> AsyncIterator[None]:
    """Follow over a plain socket: somebody elsewhere, whose own work is not this machine's."""
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET /api/v1/tail HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    await reader.readuntil(b": following")

    async def read_all() -> None:
        while await reader.read(1 << 16):
            pass

    async with asyncio.TaskGroup() as group:
        reading = group.create_task(read_all(), name="bench-follower")
        try:
            yield
        finally:
            reading.cancel()
            writer.close()


def _median(rounds: list[_Round], name: str) -> float:
    return float(statistics.median(getattr(each, name) for each in rounds))


if __name__ == "__main__":
    main()
