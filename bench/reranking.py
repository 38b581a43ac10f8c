"""Measures what a better order costs a stream: first hits, rows and the end, without one, with one, too late.

Rerankers are scripted servers on the loopback: a cross-encoder that takes 50 ms, one that is too slow, and a
model that takes 300 ms. The variants are asked in turn within each round, so that a busy machine is busy for
all of them.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.columns import print_columns
from search_proxy.sample_store.store import load_sample
from tests.support.event_stream import frames
from tests.support.scripted_gemini import Call, End, Head, Pause, Script, ScriptedGemini, Send
from tests.support.scripted_gemini.scenarios import finished, text_chunk, unavailable
from tests.support.scripted_reranker import last_first, scripted_reranker
from tests.support.shop import AGENTIC, Shop, open_shop

ROUNDS = 25
WARM_UP = 3
ENCODER_SECONDS = 0.05
MODEL_SECONDS = 0.3
QUERIES = (
    "something warm for a winter camping trip",
    "a light tent for two in strong wind",
    "gift for a friend who likes to cook outside",
    "waterproof boots for long walks",
    "cosy things for the sofa in autumn",
)
VARIANTS: Mapping[str, dict[str, Any]] = {
    "none": {"kind": "none", "timeout_ms": None},
    "cross-encoder, 50 ms": {"kind": "http", "timeout_ms": None},
    "cross-encoder, late at 100 ms": {"kind": "http", "timeout_ms": 100},
    "model, 300 ms": {"kind": "model", "timeout_ms": None},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """When the parts of one stream had come, in ms after the request."""

    hits: float
    rows: float
    better: float | None
    end: float


async def ask(shop: Shop, query: str) -> Moments:
    """Read one stream to its end."""
    began = time.perf_counter()
    came: dict[str, float] = {}
    async with shop.client.stream("GET", AGENTIC, params={"q": query}) as response:
        async for frame in frames(response):
            now = (time.perf_counter() - began) * 1000
            for name in frame.data:
                if name != "hits" or "hits" not in came:
                    came[name] = now
            came[frame.name] = now
    end, rows = came["stream-end"], came.get("categoryHits", came["stream-end"])
    return Moments(hits=came["hits"], rows=rows, better=came.get("rerankedHits"), end=end)


def _by_model(call: Call) -> Script:
    """Order by the model after 300 ms; plan by the rules, so that only the order differs between variants."""
    schema = call.body.get("generationConfig", {}).get("responseJsonSchema", {})
    if schema.get("type") != "array":
        return unavailable()
    order = str(list(range(20, 0, -1)))
    return [Head(), Pause(MODEL_SECONDS), Send(text_chunk(order)), Send(finished()), End()]


@asynccontextmanager
async def _open(folder: Path) -> AsyncIterator[tuple[Shop, dict[str, bool]]]:
    state = {"late": False}

    async def wait() -> None:
        await asyncio.sleep(1.0 if state["late"] else ENCODER_SECONDS)

    async with ScriptedGemini() as gemini, scripted_reranker(last_first) as encoder:
        gemini.choose = _by_model
        encoder.wait = wait
        overrides = {
            "gemini_base_url": gemini.base_url,
            "gemini_api_key": "bench",
            "rerank_url": encoder.url,
        }
        async with open_shop(folder, load_sample(), **overrides) as shop:
            yield shop, state


async def _measure() -> list[tuple[str, ...]]:
    measured: dict[str, list[Moments]] = defaultdict(list)
    with TemporaryDirectory() as folder:
        async with _open(Path(folder)) as (shop, state):
            for number in range(-WARM_UP, ROUNDS):
                for name, reranking in VARIANTS.items():
                    settings = {"agentic_config": {"reranking": reranking}}
                    await shop.services.office.administration.set_settings(
                        "demo", "demo", settings, actor="bench"
                    )
                    state["late"] = "late" in name
                    # Another ending makes another question, so that no remembered order answers it.
                    found = await ask(shop, f"{QUERIES[number % len(QUERIES)]} {name} {number}")
                    if number >= 0:
                        measured[name].append(found)
    return [_line(name, found) for name, found in measured.items()]


def _line(name: str, found: list[Moments]) -> tuple[str, ...]:
    better = [each.better for each in found if each.better is not None]
    return (
        name,
        f"{statistics.median(each.hits for each in found):.1f}",
        f"{statistics.median(each.rows for each in found):.1f}",
        f"{statistics.median(better):.1f}" if better else "-",
        f"{statistics.median(each.end for each in found):.1f}",
        f"{len(better)} of {len(found)}",
    )


def main() -> None:
    """Print the table."""
    headers = ("reranker", "first hits ms p50", "last row", "better order", "stream end", "reranked")
    print_columns(headers, asyncio.run(_measure()))


if __name__ == "__main__":
    main()
