"""Whole answers by a model at 1, 32, 128 clients: `python -m bench.model_streams [bare|rest|sdk|naive]...`.

The worker has core 0 for itself; the paced model, a search engine that takes 30 ms and the clients share
core 1. The model sends its first byte after 300 ms, its plan of six categories in 40 chunks and a summary in
60, 20 ms apart. The ideal is the chunk that closes the first category, and one search. Every query is a new
one, so that nothing comes from a cache. `bare` is the least code that streams, the floor of this machine;
`naive` awaits the whole plan.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import uvloop

from bench.columns import print_columns
from bench.mock_search import SEARCH_SECONDS
from bench.stream_load import Load, read_streams
from bench.table import percentile
from tests.support.scripted_gemini.paced import Pace, PacedModel
from tests.support.scripted_gemini.scenarios import split

_PATH = "/api/v1/indexes/demo/agentic-search"
_STREAMS_OF_A_CLIENT = {1: 6, 32: 3, 128: 3}
_STREAM_SECONDS = 2.3
_WORKERS = ("bare", "rest", "sdk", "naive")
_TWINS = {"bare": "bench.bare_twin", "naive": "bench.naive_twin"}
_TICKS = os.sysconf("SC_CLK_TCK")
_HEADINGS = (
    "worker",
    "clients",
    "above ideal p50 ms",
    "p99 ms",
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

    def cpu_seconds(self) -> float:
        """Return what it has used so far."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

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
    firsts: dict[tuple[str, int], float] = {}
    costs: dict[tuple[str, int], float] = {}
    rows: list[tuple[str, ...]] = []
    async with (
        _started(1, "tests.support.scripted_gemini") as model,
        _started(1, "bench.mock_search") as search,
    ):
        for name in asked:
            async with _server(name, model, search) as server:
                queries = (f"something warm for winter camping trip {number}" for number in itertools.count())
                await _round(server, 8, 1, queries)
                for clients, each in _STREAMS_OF_A_CLIENT.items():
                    before = server.cpu_seconds()
                    load = await _round(server, clients, each, queries)
                    cost = (server.cpu_seconds() - before) * 1000 / len(load.streams)
                    firsts[name, clients] = statistics.median(each.first_category for each in load.streams)
                    costs[name, clients] = cost
                    rows.append(_row(name, clients, load, cost, server.resident_mb()))
    print_columns(_HEADINGS, rows)
    for name, clients in firsts:
        if name == "naive" and ("rest", clients) in firsts:
            later = firsts[name, clients] / firsts["rest", clients]
            dearer = costs[name, clients] / costs["rest", clients]
            sys.stdout.write(
                f"{clients} clients: the naive twin's first category comes {later:.2f} times later,"
                f" its CPU is {dearer:.2f} times as much\n"
            )


def _row(name: str, clients: int, load: Load, cost: float, resident_mb: float) -> tuple[str, ...]:
    above = [(each.first_category - _ideal_seconds()) * 1000 for each in load.streams]
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
        f"{word:.0f}",
        f"{end:.0f}",
        f"{cost:.2f}",
        f"{len(load.streams) / load.seconds:.1f}",
        f"{resident_mb:.0f}",
        f"{os.getloadavg()[0]:.1f}",
    )


async def _round(server: _Process, clients: int, each: int, queries: Iterator[str]) -> Load:
    return await read_streams(
        server.url, _PATH, clients=clients, each=each, spread_seconds=_STREAM_SECONDS, queries=queries
    )


def _ideal_seconds() -> float:
    """Return when the first category can be there at the earliest, after the request."""
    pace = Pace()
    text = json.dumps(PacedModel.plan())
    closes_at = text.index("]")
    sent = 0
    for number, piece in enumerate(split(text, pace.plan_chunks)):
        sent += len(piece)
        if sent > closes_at:
            return pace.first_byte_seconds + number * pace.gap_seconds + SEARCH_SECONDS
    raise AssertionError("the plan has no category")


@asynccontextmanager
async def _server(name: str, model: _Process, search: _Process) -> AsyncIterator[_Process]:
    if name in _TWINS:
        async with _started(0, _TWINS[name], model.url, search.url) as twin:
            yield twin
        return
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "AISLE_DATA_DIR": folder,
            "AISLE_PORT": "0",
            "AISLE_GEMINI_BASE_URL": model.url,
            "AISLE_GEMINI_CLIENT": name,
            "GOOGLE_API_KEY": "bench",
        }
        async with _started(0, "bench.streams_server", search.url, **settings) as worker:
            yield worker


@asynccontextmanager
async def _started(core: int, module: str, *arguments: str, **settings: str) -> AsyncIterator[_Process]:
    """Run a module on one core until the block is left; its first line of output ends with its address."""
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
        _pin(process.pid, core)
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
