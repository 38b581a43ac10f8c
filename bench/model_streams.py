"""Whole answers by a model at 1, 32, 128 clients: `python -m bench.model_streams [bare|rest|sdk|naive]...`.

The worker has core 0 for itself; the paced model, a search engine that takes 30 ms and the clients are one
process on core 1. The model sends its first byte after 300 ms, its plan of six categories in 40 chunks and a
summary in 60, 20 ms apart. The ideal is the chunk that closes the first category, and one search. `own` is
the part of that which the worker took: from the request to the call of the model, from the chunk to the
search, from the hits to the client. Every query is a new one, so that nothing comes from a cache. `bare` is
the least code that streams, the floor of this machine; `naive` awaits the whole plan.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import uvloop

from bench.columns import print_columns
from bench.process_cpu import process_cpu_ms
from bench.stream_load import Load, StreamTimes, read_streams
from bench.table import percentile
from bench.upstreams import Upstreams, ideal_seconds, numbered_query, open_upstreams
from tests.support.scripted_gemini.paced import PacedModel

_PATH = "/api/v1/indexes/demo/agentic-search"
_STREAMS_OF_A_CLIENT = {1: 5, 32: 3, 128: 3}
_STREAM_SECONDS = 2.3
_PAUSE_SECONDS = 0.05
"""Nobody asks in the very moment in which the worker stores and logs the answer before."""
_WORKERS = ("bare", "rest", "sdk", "naive")
_TWINS = {"bare": "bench.bare_twin", "naive": "bench.naive_twin"}
_HEADINGS = (
    "worker",
    "clients",
    "above ideal p50 ms",
    "p99 ms",
    "own p50 ms",
    "own p99 ms",
    "to model",
    "to search",
    "to client",
    "first word p50 ms",
    "end p50 ms",
    "CPU ms/stream",
    "streams/s",
    "RSS MB",
    "load",
)


@dataclass(frozen=True, slots=True)
class _Process:
    """A process of the benchmark and where it listens."""

    url: str
    pid: int

    def resident_mb(self) -> float:
        """Return what it has in memory."""
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Measure and print one table."""
    asked = sys.argv[1:] or list(_WORKERS)
    unknown = next((name for name in asked if name not in _WORKERS), None)
    if unknown is not None:
        sys.exit(f"there is no {unknown!r}; choose among {', '.join(_WORKERS)}")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_measure(asked))


async def _measure(asked: Sequence[str]) -> None:
    _pin(0, 1)
    gc.disable()  # A pause of the clients would count as one of the worker's.
    firsts: dict[tuple[str, int], float] = {}
    costs: dict[tuple[str, int], float] = {}
    rows: list[tuple[str, ...]] = []
    numbers = itertools.count(1)
    async with open_upstreams() as upstreams:
        for name in asked:
            async with _server(name, upstreams) as server:
                await _round(server, 8, 1, numbers)
                for clients, each in _STREAMS_OF_A_CLIENT.items():
                    before = process_cpu_ms(server.pid)
                    load = await _round(server, clients, each, numbers)
                    cost = (process_cpu_ms(server.pid) - before) / len(load.streams)
                    firsts[name, clients] = statistics.median(each.first_category for each in load.streams)
                    costs[name, clients] = cost
                    rows.append(_row(name, clients, load, upstreams, cost, server.resident_mb()))
    print_columns(_HEADINGS, rows)
    for name, clients in firsts:
        if name == "naive" and ("rest", clients) in firsts:
            later = firsts[name, clients] / firsts["rest", clients]
            dearer = costs[name, clients] / costs["rest", clients]
            sys.stdout.write(
                f"{clients} clients: the naive twin's first category comes {later:.2f} times later,"
                f" its CPU is {dearer:.2f} times as much\n"
            )


def _row(
    name: str, clients: int, load: Load, upstreams: Upstreams, cost: float, resident_mb: float
) -> tuple[str, ...]:
    above = [(each.first_category - ideal_seconds()) * 1000 for each in load.streams]
    own = [_own_ms(each, upstreams) for each in load.streams]
    whole = [sum(each) for each in own]
    word = statistics.median(each.first_word for each in load.streams) * 1000
    end = statistics.median(each.end for each in load.streams) * 1000
    if any(each.categories < len(PacedModel.plan()["query_expansions"]) for each in load.streams):
        # A client that is too slow for the load runs into its deadlines, and the rules give fewer rows.
        name = f"{name} (late)"
    return (
        name,
        str(clients),
        f"{statistics.median(above):.1f}",
        f"{percentile(above, 99):.1f}",
        f"{statistics.median(whole):.1f}",
        f"{percentile(whole, 99):.1f}",
        *(f"{statistics.median(part):.2f}" for part in zip(*own, strict=True)),
        f"{word:.0f}",
        f"{end:.0f}",
        f"{cost:.2f}",
        f"{len(load.streams) / load.seconds:.1f}",
        f"{resident_mb:.0f}",
        f"{os.getloadavg()[0]:.1f}",
    )


def _own_ms(stream: StreamTimes, upstreams: Upstreams) -> tuple[float, float, float]:
    """Return what the worker itself took: to the model's call, to the search, to the client."""
    seen = upstreams.of(stream.query.rpartition(" ")[2])
    to_model = seen.model_called - stream.asked_at
    to_search = seen.search_asked - seen.category_written
    to_client = stream.asked_at + stream.first_category - seen.search_answered
    return to_model * 1000, to_search * 1000, to_client * 1000


async def _round(server: _Process, clients: int, each: int, numbers: Iterator[int]) -> Load:
    queries = (numbered_query(number) for number in numbers)
    return await read_streams(
        server.url,
        _PATH,
        clients=clients,
        each=each,
        spread_seconds=_STREAM_SECONDS,
        queries=queries,
        pause_seconds=_PAUSE_SECONDS,
    )


@asynccontextmanager
async def _server(name: str, upstreams: Upstreams) -> AsyncIterator[_Process]:
    if name in _TWINS:
        async with _started(_TWINS[name], upstreams.model_url, upstreams.search_url) as twin:
            yield twin
        return
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "AISLE_DATA_DIR": folder,
            "AISLE_PORT": "0",
            "AISLE_GEMINI_BASE_URL": upstreams.model_url,
            "AISLE_GEMINI_CLIENT": name,
            "GOOGLE_API_KEY": "bench",
        }
        async with _started("bench.streams_server", upstreams.search_url, **settings) as worker:
            yield worker


@asynccontextmanager
async def _started(module: str, *arguments: str, **settings: str) -> AsyncIterator[_Process]:
    """Run a module on core 0 until the block is left; its first line of output ends with its address."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AISLE_", "GOOGLE_"))}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        *arguments,
        env=clean | settings,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        _pin(process.pid, 0)
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        if "http" not in line:
            raise RuntimeError(f"{module} did not start")
        yield _Process(line.split()[-1].rstrip("/"), process.pid)
    finally:
        process.kill()
        await process.wait()


def _pin(pid: int, core: int) -> None:
    if (os.cpu_count() or 1) > 1:
        os.sched_setaffinity(pid, {core})


if __name__ == "__main__":
    main()
