"""Measures the embedded engine: `make bench-engine`.

Loading, opening and searching 43,000 made-up products (and loading the real electronics catalog, where it
is), text only, with five facets, under filters of four selectivities, and with vectors of 384 numbers. The
vectors are made up and the query's is given, so the hybrid figures leave out only the model itself, which
`make bench-embedding` has. Words are warm but in the lines that say so; filters never are.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from bench.engine_catalogs import icecat_products, made_up_products, made_up_queries
from bench.table import Row, percentile, print_table
from search_proxy.backends.embedded import open_embedded
from search_proxy.engine.catalog_writer import add_documents
from search_proxy.engine.embedder import Embedder
from search_proxy.engine.embedding_run import embed_missing
from search_proxy.engine.fusion import Fusion
from search_proxy.engine.remembered import Remembered
from search_proxy.engine.searching import search_snapshot
from search_proxy.engine.snapshot import Passing, Snapshot, open_snapshot
from search_proxy.engine.vector_lane import VectorLane
from search_proxy.filters import parse_filter
from search_proxy.models import FacetField, FacetsRequest, SearchRequest

PRODUCTS = 43_000
BATCH = 20_000
QUERIES = 80
ROUNDS = 2
TOGETHER = 6
DIMENSION = 384

FACETS = FacetsRequest(
    fields=(
        FacetField(name="brand", max_results=20),
        FacetField(name="category", max_results=20),
        FacetField(name="productCollections", kind="array", max_results=20),
        FacetField(name="color", max_results=20),
        FacetField(name="price", kind="number"),
    )
)
_TREE = " OR ".join(f"(bucket:{at} OR bucket:[{at + 1} TO {at + 4}])" for at in range(0, 1_000, 10))
_FILTERS = {
    "0.1 %": "bucket:7",
    "1 %": "bucket:[10 TO 19]",
    "10 %": "bucket:[100 TO 199]",
    "50 %": "bucket:[* TO 499]",
    "50 %, 200 terms": _TREE,
}


class MadeUpEmbedder:
    """Gives every text a direction of its own, without a model."""

    model = "made-up"
    dimension = DIMENSION

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one unit vector per text, the same for the same text."""
        seeds = [zlib.crc32(text.encode()) for text in texts]
        vectors = np.stack([np.random.default_rng(s).standard_normal(DIMENSION, np.float32) for s in seeds])
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def embed_query(self, query: str) -> npt.NDArray[np.float32]:
        """Return the vector that the query has as a text."""
        vector: npt.NDArray[np.float32] = self.embed([query])[0]
        return vector


def main() -> None:
    """Print one table."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name, threadpool_limits(1, user_api="blas"):
        data = Path(name)
        folder = data / "indexes" / "bench" / "shop"
        products = list(made_up_products(PRODUCTS))
        rows.append(_loading(f"load {PRODUCTS:,} made-up products", folder, products))
        if real := icecat_products():
            rows.append(_loading(f"load {len(real):,} Icecat products", folder.with_name("icecat"), real))
        opened = [_seconds(lambda: open_snapshot(folder)[1].row_by_id) for _ in range(5)]
        rows.append(row_of(f"open {PRODUCTS:,} products", opened))
        _, snapshot = open_snapshot(folder)
        rows.extend(_searching(snapshot, None, ""))
        embedder = MadeUpEmbedder()
        embed_missing(folder, embedder, lambda done, of: None)
        rows.extend(_searching(snapshot, VectorLane(embedder, Fusion(min_similarity=-1.0)), ", hybrid"))
        rows.append(asyncio.run(loop_pause(data, embedder)))
    print_table("embedded engine", rows)


def _loading(name: str, folder: Path, products: Sequence[dict[str, Any]]) -> Row:
    started = time.perf_counter()
    for start in range(0, len(products), BATCH):
        add_documents(folder, products[start : start + BATCH])
    return Row(name, f"{len(products) / (time.perf_counter() - started):,.0f}", "", "products/s")


def _searching(snapshot: Snapshot, lane: VectorLane | None, suffix: str) -> list[Row]:
    plain = [SearchRequest(index="shop", q=query) for query in made_up_queries(QUERIES)]
    faceted = [replace(one, facets=FACETS) for one in plain]
    asked = {f"search{suffix}": plain, f"search{suffix}, 5 facets": faceted}
    for share, text in _FILTERS.items():
        wanted = parse_filter(text)
        asked[f"search{suffix}, 5 facets, filter keeps {share}"] = [
            replace(one, filter=wanted) for one in faceted
        ]
    first = row_of(f"search{suffix}, each query for the first time", _first_time(snapshot, plain, lane))
    return [first, *(row_of(name, taken) for name, taken in measured(snapshot, asked, lane).items())]


def _first_time(
    snapshot: Snapshot, requests: Sequence[SearchRequest], lane: VectorLane | None
) -> list[float]:
    """Return the seconds that each search took in an index whose words nobody has asked for yet."""
    _, fresh = open_snapshot(snapshot.folder)
    search_snapshot(fresh, requests[0], lane)
    return [_seconds(partial(search_snapshot, fresh, request, lane)) for request in requests[1:]]


def measured(
    snapshot: Snapshot, asked: Mapping[str, Sequence[SearchRequest]], lane: VectorLane | None
) -> dict[str, list[float]]:
    """Return the seconds that each search took, in every round but the first; filters are evaluated anew.

    One search of each kind follows the other, so that what disturbs the machine disturbs all of them.
    """
    snapshot.passing = Remembered(0, Passing.memory)
    taken: dict[str, list[float]] = {name: [] for name in asked}
    for at in range(ROUNDS + 1):
        for together in zip(*asked.values(), strict=True):
            for name, request in zip(asked, together, strict=True):
                started = time.perf_counter()
                search_snapshot(snapshot, request, lane)
                if at:  # The first round warms up.
                    taken[name].append(time.perf_counter() - started)
    return taken


async def loop_pause(data: Path, embedder: Embedder) -> Row:
    """Return how long the event loop was kept from running while six searches ran at once, repeatedly."""
    pauses: list[float] = []
    async with open_embedded(data, embedder, Fusion(min_similarity=-1.0)) as engine:
        requests = [SearchRequest(index="shop", q=query, facets=FACETS) for query in made_up_queries(60)]
        for request in requests[:TOGETHER]:
            await engine.search("bench", request)

        async def watch() -> None:
            while True:
                before = time.perf_counter()
                await asyncio.sleep(0)
                pauses.append(time.perf_counter() - before)

        async with asyncio.TaskGroup() as group:
            watcher = group.create_task(watch(), name="watch")
            for start in range(0, len(requests), TOGETHER):
                async with asyncio.TaskGroup() as searches:
                    for request in requests[start : start + TOGETHER]:
                        searches.create_task(engine.search("bench", request), name="search")
            watcher.cancel()
    longest = f"{max(pauses) * 1000:.2f}"
    return Row(f"longest pause of the event loop, {TOGETHER} hybrid searches at once", longest, "", "ms")


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def row_of(name: str, seconds: Sequence[float]) -> Row:
    """Return the median and the 99th percentile in milliseconds."""
    milliseconds = [taken * 1000 for taken in seconds]
    return Row(name, f"{statistics.median(milliseconds):.2f}", f"{percentile(milliseconds, 99):.2f}", "ms")


if __name__ == "__main__":
    main()
