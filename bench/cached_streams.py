"""Streams of cached answers: how many a second, and what one costs beyond its searches.

A server process answers a pinned question over and over; beside it, in the same run, a bare ASGI application
streams the same bytes in as many pieces. The clients run in this process, each server in its own.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import httpx

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
SECONDS = 3.0
ROUNDS = 3

_FACETS = {
    name: {"type": "string", "maxResults": 20} for name in ("category", "brand", "color", "size", "material")
}
_FACETS |= {"price": {"type": "number"}}

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
        body, searches_ms = await _prepare(server.url)
        async with _bare_server(body) as bare:
            for clients in (1, 32):
                ours, theirs = [], []
                for _ in range(ROUNDS):
                    ours.append(await _rate(server.url, clients))
                    theirs.append(await _rate(bare, clients))
                rows.append(
                    Row(f"aisle, {clients} clients", f"{statistics.median(ours):.0f}", "", "streams/s")
                )
                rows.append(
                    Row(f"bare, {clients} clients", f"{statistics.median(theirs):.0f}", "", "streams/s")
                )
        before, done = _cpu_ms(server.process.pid), 0
        ends = time.perf_counter() + SECONDS
        while time.perf_counter() < ends:
            done += await _stream_for(server.url, 1, 0.5)
        whole = (_cpu_ms(server.process.pid) - before) / done
        searches = await _search_cpu_ms(server.url, server.process.pid)
    rows.append(Row("CPU of one cached stream", f"{whole:.2f}", "", "ms"))
    rows.append(Row("CPU of its four searches alone", f"{searches:.2f}", "", "ms"))
    rows.append(Row("its own CPU beyond them", f"{whole - searches:.2f}", "", "ms"))
    rows.append(Row("one category search in it", f"{searches_ms:.2f}", "", "ms"))
    return rows


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


async def _search_cpu_ms(url: str, pid: int) -> float:
    """Return the CPU of the four searches of a stream, through the edge alone, less an empty request's."""
    queries = [QUERY, *(row[0] for row in ANSWER["query_expansions"])]
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:

        async def spend(path: str, bodies: list[dict[str, object]]) -> float:
            before = _cpu_ms(pid)
            for _ in range(100):
                for body in bodies:
                    (await client.post(path, json=body)).raise_for_status()
            return (_cpu_ms(pid) - before) / 100

        searching: list[dict[str, object]] = [{"q": query, "limit": 12} for query in queries]
        # The first search of a stream counts the facets of the page; the categories count none.
        searching[0] = {"q": QUERY, "limit": 10, "facets": {"fields": _FACETS}}
        empty = [{"q": "", "limit": 1} for _ in queries]
        path = "/api/v1/indexes/demo/search"
        return await spend(path, list(searching)) - await spend(path, list(empty))


@asynccontextmanager
async def _bare_server(body: bytes) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _BARE, stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(body)
    process.stdin.close()
    try:
        yield (await process.stdout.readline()).decode().split()[-1]
    finally:
        process.kill()
        await process.wait()


async def _rate(url: str, clients: int) -> float:
    return await _stream_for(url, clients, SECONDS) / SECONDS


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


def _cpu_ms(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 10.0


if __name__ == "__main__":
    main()
