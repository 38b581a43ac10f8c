"""Measures embedding, and search with a query that has to be embedded: `make bench-embedding`.

Texts and queries are those of the real electronics catalog where it is, of a made-up shop otherwise. The
hybrid searches embed every query anew, on 43,000 made-up products with made-up vectors that cost what
real ones cost; their queries are made up too, of words that have twice the tokens of real ones.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.engine_catalogs import SHARED_DATA, icecat_products, made_up_products, made_up_queries
from bench.loop_pause import LoopPause
from bench.relevance import read_judgments
from bench.table import Row, percentile, print_table
from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.embedding.minilm import MAX_TOKENS, MiniLmEmbedder, open_minilm
from search_proxy.embedding.minilm_files import DIMENSION, MiniLmFiles
from search_proxy.embedding.setup import DEFAULT_MODELS
from search_proxy.engine.embedder import embedded_text
from search_proxy.engine.embedding_run import TEXTS_PER_APPEND
from search_proxy.filters import parse_filter
from search_proxy.models import FacetField, FacetsRequest, SearchRequest

PRODUCTS = 43_000
TEXTS = 3 * TEXTS_PER_APPEND
LONG_TEXTS = 128
ROUNDS = 3
QUERIES = 200
FRESH = 700
THREADS = 2

_FACETS = FacetsRequest(
    fields=tuple(
        FacetField(name=name, max_results=20) for name in ("brand", "category", "color", "bucket", "rating")
    )
)


class MadeUpVectors:
    """Products have made-up vectors, queries the model's own."""

    model = "made-up"
    dimension = DIMENSION

    def __init__(self, model: MiniLmEmbedder) -> None:
        self._model = model
        self._chance = np.random.default_rng(3)

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors that mean nothing."""
        rows = self._chance.standard_normal((len(texts), DIMENSION), np.float32)
        unit: npt.NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def embed_query(self, query: str) -> npt.NDArray[np.float32]:
        """Return the model's vector."""
        return self._model.embed_query(query)


def main() -> None:
    """Print one table."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    with open_minilm(ready_model(), THREADS) as model:
        rows = [Row("load the model", f"{(time.perf_counter() - started) * 1e3:.0f}", "", "ms")]
        rows += _embedding(model)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rows.append(Row("memory of the model and of embedding", f"{(after - before) / 1024:.0f}", "", "MB"))
        rows += asyncio.run(_searching(model))
    print_table("embedding", rows)


def ready_model() -> MiniLmFiles:
    """Return the model of this checkout, or end with the command that makes it."""
    files = MiniLmFiles(DEFAULT_MODELS)
    if not files.are_ready():
        sys.exit("the embedding model is not set up: python -m search_proxy.embedding.setup")
    return files


def _embedding(model: MiniLmEmbedder) -> list[Row]:
    real = icecat_products()
    products = real or list(made_up_products(TEXTS))
    texts = [embedded_text(product) for product in products[:: max(1, len(products) // TEXTS)]][:TEXTS]
    long = [" ".join([text] * 40) for text in texts[:LONG_TEXTS]]
    tokens = statistics.mean(len(model.token_ids(text)) for text in texts)
    model.embed(texts[:200])
    shoppers = [one.query for one in read_judgments(SHARED_DATA / "icecat")] if real else []
    queries = shoppers[:QUERIES] or made_up_queries(QUERIES)
    asked = statistics.mean(len(model.token_ids(query)) for query in queries)
    taken = [_milliseconds(lambda query=query: model.embed_query(query)) for query in queries * 3]  # type: ignore[misc]
    return [
        _row(f"embed a query, {asked:.0f} tokens", taken),
        _rate(f"embed products, {tokens:.0f} tokens each, {THREADS} threads", model, texts),
        _rate(f"embed texts cut at {MAX_TOKENS} tokens, {THREADS} threads", model, long),
    ]


async def _searching(model: MiniLmEmbedder) -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        data = Path(name)
        async with AsyncExitStack() as stack:
            engine = await stack.enter_async_context(open_embedded(data, MadeUpVectors(model)))
            await engine.add_documents("bench", "shop", list(made_up_products(PRODUCTS)))
            await engine.embed_missing("bench", "shop")
            rows = await _hybrid(engine)
        async with open_embedded(data, model) as engine:
            await engine.add_documents("bench", "fresh", list(made_up_products(FRESH)))
            # As the server does after start-up: what stays is not looked at again and again.
            gc.freeze()
            rows += await _beside(engine)
        return rows


async def _hybrid(engine: EmbeddedBackend) -> list[Row]:
    # Each once, of words that the products have: a word that none has would be a typing error to repair.
    queries = list(dict.fromkeys(made_up_queries(2 * QUERIES)))[:QUERIES]
    plain = [SearchRequest(index="shop", q=query, facets=_FACETS) for query in queries]
    await _searched(engine, plain[:5])
    first = await _searched(engine, plain[5:])
    again = await _searched(engine, plain[5:])
    narrow = [replace(one, filter=parse_filter("bucket:[10 TO 19]")) for one in plain]
    few = await _searched(engine, narrow)
    return [
        _row(f"hybrid, 5 facets, {PRODUCTS:,} products, a query never asked before", first),
        _row("the same, its vector in the cache", again),
        _row("the same, a filter keeps 1 %", few),
    ]


async def _beside(engine: EmbeddedBackend) -> list[Row]:
    """Search while a background run embeds, and watch the event loop."""
    pauses: list[float] = []
    taken: list[float] = []
    requests = [SearchRequest(index="fresh", q=query, facets=_FACETS) for query in made_up_queries(QUERIES)]
    await _searched(engine, requests[:5])
    async with LoopPause(pauses), asyncio.TaskGroup() as group:
        embedding = group.create_task(engine.embed_missing("bench", "fresh"), name="embed")
        while not embedding.done():
            taken += await _searched(engine, requests[len(taken) % QUERIES :][:1])
    return [
        _row("search beside a background run that embeds", taken),
        _row("pause of the event loop meanwhile", pauses),
        Row("longest", f"{max(pauses):.2f}", "", "ms"),
    ]


async def _searched(engine: EmbeddedBackend, requests: Sequence[SearchRequest]) -> list[float]:
    taken = []
    for request in requests:
        started = time.perf_counter()
        await engine.search("bench", request)
        taken.append((time.perf_counter() - started) * 1e3)
    return taken


def _rate(name: str, model: MiniLmEmbedder, texts: Sequence[str]) -> Row:
    """Embed as a background run does, step by step, several times over."""
    steps = [texts[start : start + TEXTS_PER_APPEND] for start in range(0, len(texts), TEXTS_PER_APPEND)]
    taken = [_milliseconds(lambda: [model.embed(step) for step in steps]) for _ in range(ROUNDS)]
    return Row(name, f"{len(texts) / statistics.median(taken) * 1e3:,.0f}", "", "texts/s")


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1e3


def _row(name: str, taken: Sequence[float]) -> Row:
    return Row(name, f"{statistics.median(taken):.2f}", f"{percentile(taken, 99):.2f}", "ms")


if __name__ == "__main__":
    main()
