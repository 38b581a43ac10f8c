"""First category above the ideal, and short-query streams per second, against a real server process.

The ideal is the moment at which the first expansion's closing bracket leaves the scripted model, plus the one
search that it asks for. The model and the clients run in this process, the server in its own.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import httpx

from bench.table import Row, percentile, print_table
from tests.support.event_stream import frames
from tests.support.scripted_gemini import Call, Gate, Script, ScriptedGemini
from tests.support.scripted_gemini.scenarios import gated_text, json_text
from tests.support.server_process import ServerProcess, server_process
from tests.support.shop import AGENTIC

FIRST_CATEGORY_STREAMS = {1: 60, 32: 256}
"""How many streams are measured at each number of clients."""
SHORT_SECONDS = 4.0
SHORT_CLIENTS = 16

_PIECES = (
    '{"query_expansions": [["warm sleeping bag", "Sleeping Bags", 0.9]',
    ', ["winter boots", "Boots", 0.8]]}',
)
_SUMMARY = json_text("Warm things.", pieces=2)


class GatedModel:
    """Answers the plan call of each query behind a gate of that query's own, and any other call at once."""

    def __init__(self) -> None:
        self.gates: dict[str, Gate] = {}

    def __call__(self, call: Call) -> Script:
        """Return the script for a call."""
        if "responseMimeType" not in json.dumps(call.body.get("generationConfig", {})):
            return _SUMMARY
        text = json.dumps(call.body["contents"])
        query = next(query for query in self.gates if query in text)
        return gated_text(_PIECES, [self.gates[query]])


def main() -> None:
    """Print one table."""
    with tempfile.TemporaryDirectory() as folder:
        print_table("streams", asyncio.run(_measure(Path(folder))))


async def _measure(folder: Path) -> list[Row]:
    model = GatedModel()
    rows: list[Row] = []
    async with ScriptedGemini() as gemini:
        gemini.choose = model
        settings = {"gemini_base_url": gemini.base_url, "gemini_api_key": "bench-key"}
        async with server_process(folder, **settings) as server:
            await _first_categories(server, model, clients=4, count=20)
            for clients, count in FIRST_CATEGORY_STREAMS.items():
                above, searches = await _first_categories(server, model, clients=clients, count=count)
                name = f"first category above the ideal, {clients} clients"
                rows.append(
                    Row(name, f"{statistics.median(above):.2f}", f"{percentile(above, 99):.2f}", "ms")
                )
                search = f"the one search itself, {clients} clients"
                rows.append(
                    Row(search, f"{statistics.median(searches):.2f}", f"{percentile(searches, 99):.2f}", "ms")
                )
            rows.append(Row("short-query streams", f"{await _short_streams(server):.0f}", "", "per second"))
    return rows


async def _first_categories(
    server: ServerProcess, model: GatedModel, *, clients: int, count: int
) -> tuple[list[float], list[float]]:
    """Return, per stream, the milliseconds above the ideal and those of the search in it."""
    above: list[float] = []
    searches: list[float] = []
    waiting = iter(range(count))
    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(base_url=server.url, timeout=30, limits=limits) as client:

        async def work() -> None:
            for number in waiting:
                total, search = await _one_stream(
                    client, model, f"something warm for trip {clients} {number}."
                )
                above.append(total - search)
                searches.append(search)

        async with asyncio.TaskGroup() as group:
            for number in range(clients):
                group.create_task(work(), name=f"client:{number}")
    return above, searches


async def _one_stream(client: httpx.AsyncClient, model: GatedModel, query: str) -> tuple[float, float]:
    gate = model.gates[query] = Gate(query)
    arrived = search = 0.0
    async with client.stream("GET", AGENTIC, params={"q": query}) as response:
        stream = frames(response)
        async for frame in stream:
            if "hits" in frame.data:
                await gate.reached()
                opened = time.perf_counter()
                gate.open()
            elif "categoryHits" in frame.data and not arrived:
                arrived = time.perf_counter()
                search = frame.data["categoryHits"][0]["processingTimeMs"]
    del model.gates[query]
    return (arrived - opened) * 1000, search


async def _short_streams(server: ServerProcess) -> float:
    """Return how many complete bypass streams a second the server sends to keep-alive clients."""
    host, port = server.url.removeprefix("http://").split(":")
    queries = ("red tent", "warm boots", "wool blanket", "steel mug")
    requests = [
        f"GET {AGENTIC}?q={quote(query)} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
        for query in queries
    ]
    await _drain_for(host, int(port), requests, 1.0)
    done = await _drain_for(host, int(port), requests, SHORT_SECONDS)
    return done / SHORT_SECONDS


async def _drain_for(host: str, port: int, requests: Sequence[bytes], seconds: float) -> int:
    done = 0
    ends = time.perf_counter() + seconds

    async def client() -> None:
        nonlocal done
        reader, writer = await asyncio.open_connection(host, port, limit=1 << 20)
        try:
            while time.perf_counter() < ends:
                writer.write(requests[done % len(requests)])
                await reader.readuntil(b"event: stream-end")
                await reader.readuntil(b"0\r\n\r\n")
                done += 1
        finally:
            writer.close()

    async with asyncio.TaskGroup() as group:
        for number in range(SHORT_CLIENTS):
            group.create_task(client(), name=f"short:{number}")
    return done


if __name__ == "__main__":
    main()
