"""How soon the catalog's categories stand in for a model that fails: `python -m bench.model_failures`.

A real server with the sample store; the model fails in one way after another. Times are those between the
events as a client reads them: from `status: degraded`, which is sent at the decision to go on without the
model, to the first category after it and to the last.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from bench.table import Row, percentile, print_table
from tests.support.event_stream import frames
from tests.support.scripted_gemini import Script, ScriptedGemini
from tests.support.scripted_gemini import scenarios as s
from tests.support.server_process import server_process
from tests.support.shop import AGENTIC

_STREAMS = 40
_ASKED = (
    "warm jacket for autumn hikes",
    "gift for a coffee lover",
    "desk lamp for reading",
    "small sofa in grey",
)
_CUT = s.text_chunk('{"query_expansions": [["warm winter jacket", "Jackets", 0.9], ["b')

FAILURES: dict[str, Script] = {
    "prompt blocked": s.blocked_prompt(),
    "overloaded, asked twice": s.unavailable(),
    "cut after one category": s.hung_up(_CUT),
    "text without a plan": s.json_text("I cannot help with that."),
    # The key's breaker opens at once: from the second stream on the model is not asked any more.
    "key refused, breaker open": s.bad_key(),
}


def main() -> None:
    """Print one table."""
    with tempfile.TemporaryDirectory() as folder:
        print_table("model fails", asyncio.run(_measure(Path(folder))))


async def _measure(folder: Path) -> list[Row]:
    rows: list[Row] = []
    numbers = itertools.count()
    async with ScriptedGemini() as gemini:
        settings = {"gemini_base_url": gemini.base_url, "gemini_api_key": "bench-key"}
        async with server_process(folder, **settings) as server, httpx.AsyncClient(timeout=30) as client:
            for name, script in FAILURES.items():
                firsts: list[float] = []
                lasts: list[float] = []
                for number in range(_STREAMS + 4):
                    gemini.script(script)
                    first, last = await _one_stream(client, f"{server.url}{AGENTIC}", numbers)
                    if not last:
                        raise RuntimeError(f"{name}: no category stood in")
                    if number >= 4:
                        firsts.append(first)
                        lasts.append(last)
                    gemini.script(s.json_text())
                    await _one_stream(client, f"{server.url}{AGENTIC}", numbers)
                rows.append(_row(f"{name}: first category after the decision", firsts))
                rows.append(_row(f"{name}: last category after the decision", lasts))
    return rows


def _row(name: str, values: list[float]) -> Row:
    return Row(name, f"{statistics.median(values):.1f}", f"{percentile(values, 99):.1f}", "ms")


async def _one_stream(client: httpx.AsyncClient, url: str, numbers: Iterator[int]) -> tuple[float, float]:
    """Return the milliseconds from the decision to the first and the last category after it."""
    number = next(numbers)
    query = f"{_ASKED[number % len(_ASKED)]} {number}"
    decided = 0.0
    came: list[float] = []
    async with client.stream("GET", url, params={"q": query}) as response:
        async for frame in frames(response):
            now = time.perf_counter()
            if frame.data.get("status") == "degraded":
                decided = now
            elif "categoryHits" in frame.data and decided:
                came.append((now - decided) * 1000)
    return (came[0], came[-1]) if came else (0.0, 0.0)


if __name__ == "__main__":
    main()
