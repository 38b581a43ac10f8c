"""Streams of cached answers: how many a second, and what one costs beyond its searches.

A server process answers a pinned question over and over; beside it, in the same run, a bare ASGI application
streams the same bytes in as many pieces. A second server keeps no answer as it was made, so that each has its
searches made; a third does so too, but its searches come from memory: that is what an answer takes beyond
them. The clients run in this process, each server in its own.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx

from bench.process_cpu import process_cpu_ms
from bench.table import Row, print_table
from tests.support.server_process import server_process
from tests.support.shop import AGENTIC

QUERY = "something warm for a winter camping trip"
ANSWER = {
    "query_expansions": [
        ["winter sleeping bag", "Sleeping Bags", 0.95],
        ["insulated jacket", "Jackets", 0.9],
        ["winter boots", "Boots", 0.85],
    ],
    "summary": "Start with a warm bag, then a jacket, then boots.",
}
SECONDS = 1.5
ROUNDS = 3
CLIENTS = (1, 32)

_BARE = """
import sys, uvicorn
chunks = [part + b"\\n\\n" for part in sys.stdin.buffer.read().split(b"\\n\\n") if part]
async def app(scope, receive, send):
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for chunk in chunks:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print("bare at http://127.0.0.1:%d" % self.servers[0].sockets[0].getsockname()[1], flush=True)
Server(uvicorn.Config(app, port=0, loop="uvloop", http="httptools", log_level="error", lifespan="off")).run()
"""


def main() -> None:
    """Print one table."""
    with tempfile.TemporaryDirectory() as folder:
        print_table("cached answers", asyncio.run(_measure(Path(folder))))


async def _measure(folder: Path) -> list[Row]:
    rows: list[Row] = []
    async with server_process(folder) as server:
        body, _ = await _prepare(server.url)
        async with _bare_server(body) as bare:
            for clients in CLIENTS:
                ours, theirs = await _in_turn(server.url, bare.url, clients)
                rows.append(Row(f"aisle, {clients} clients", f"{ours:.0f}", "", "streams/s"))
                rows.append(Row(f"bare, {clients} clients", f"{theirs:.0f}", "", "streams/s"))
        again = await _stream_cpu(server.url, server.process.pid)
    async with server_process(folder, answer_memory_bytes="0") as server:
        _, searches_ms = await _prepare(server.url)
        anew = await _stream_cpu(server.url, server.process.pid)
    environment = {
        "AISLE_DATA_DIR": str(folder / "data"),
        "AISLE_PORT": "0",
        "AISLE_ANSWER_MEMORY_BYTES": "0",
    }
    async with (
        _process("-m", "bench.remembering_server", environment=environment) as remembering,
        _bare_server(body) as bare,
    ):
        await _prepare(remembering.url)
        own = await _stream_cpu(remembering.url, remembering.pid)
        floor = await _stream_cpu(bare.url, bare.pid)
    for clients in CLIENTS:
        rows.append(Row(f"CPU of a stream, {clients} clients", f"{again[clients]:.2f}", "", "ms"))
        rows.append(Row("  its searches made", f"{anew[clients]:.2f}", "", "ms"))
        rows.append(Row("  its own, searches from memory", f"{own[clients]:.2f}", "", "ms"))
        rows.append(Row("  bare", f"{floor[clients]:.2f}", "", "ms"))
    rows.append(Row("one category search in it", f"{searches_ms:.2f}", "", "ms"))
    return rows


async def _in_turn(one: str, other: str, clients: int) -> tuple[float, float]:
    """Return how many streams a second two servers give, measured in turn."""
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(await _stream_for(one, clients, SECONDS) / SECONDS)
        theirs.append(await _stream_for(other, clients, SECONDS) / SECONDS)
    return statistics.median(ours), statistics.median(theirs)


async def _stream_cpu(url: str, pid: int) -> dict[int, float]:
    """Return the CPU in ms that the server takes for one stream, by the number of clients."""
    return {clients: await _stream_cpu_ms(url, pid, clients) for clients in CLIENTS}


async def _stream_cpu_ms(url: str, pid: int, clients: int) -> float:
    await _stream_for(url, clients, SECONDS / 5)
    rounds = []
    for _ in range(ROUNDS):
        before = process_cpu_ms(pid)
        done = await _stream_for(url, clients, SECONDS)
        rounds.append((process_cpu_ms(pid) - before) / done)
    return statistics.median(rounds)


async def _prepare(url: str) -> tuple[bytes, float]:
    """Pin the answer and return the bytes of one stream, and what a category search took in it."""
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        pinned = await client.put("/api/v1/admin/answers/demo", params={"q": QUERY}, json=ANSWER)
        pinned.raise_for_status()
        for _ in range(20):
            response = await client.get(AGENTIC, params={"q": QUERY})
        answer = (await client.post(AGENTIC, json={"q": QUERY})).json()
    assert answer["source"] == "cached", answer["source"]
    return response.content, statistics.median(item["processingTimeMs"] for item in answer["categoryHits"])


@dataclass(frozen=True, slots=True)
class _Running:
    """A server process."""

    url: str
    pid: int


@asynccontextmanager
async def _process(
    *arguments: str, environment: Mapping[str, str] | None = None, stdin: bytes = b""
) -> AsyncIterator[_Running]:
    """Run Python with these arguments until the block is left; its first line ends with its address."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AISLE_", "GOOGLE_"))}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=clean | dict(environment or {}),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(stdin)
    process.stdin.close()
    try:
        line = (await process.stdout.readline()).decode()
        if "http" not in line:
            raise RuntimeError(f"{' '.join(arguments)[:60]!r} did not start")
        yield _Running(line.split()[-1].rstrip("/"), process.pid)
    finally:
        process.kill()
        await process.wait()


def _bare_server(body: bytes) -> AbstractAsyncContextManager[_Running]:
    return _process("-c", _BARE, stdin=body)


async def _stream_for(url: str, clients: int, seconds: float) -> int:
    host, port = url.removeprefix("http://").split(":")
    request = f"GET {AGENTIC}?q={quote(QUERY)} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
    ends = time.perf_counter() + seconds
    done = 0

    async def client() -> None:
        nonlocal done
        reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 20)
        try:
            while time.perf_counter() < ends:
                writer.write(request)
                await reader.readuntil(b"event: stream-end")
                await reader.readuntil(b"0\r\n\r\n")
                done += 1
        finally:
            writer.close()

    async with asyncio.TaskGroup() as group:
        for number in range(clients):
            group.create_task(client(), name=f"cached:{number}")
    return done


if __name__ == "__main__":
    main()
