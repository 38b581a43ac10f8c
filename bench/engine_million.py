"""Measures the engine on 1,000,000 made-up products: `python -m bench.engine_million`.

The products have the term statistics of a real shop, the vectors are made up around 3,000 centres of uneven
size, as those of products gather around kinds of products; queries lie near products. The index is made in
one process and searched in another, so that the memory of each is its own. Takes some minutes and 4 GB of
disk in the temporary folder. Only the model itself is left out.
"""

from __future__ import annotations

import asyncio
import itertools
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from bench.engine import FACETS, TOGETHER, loop_pause, measured, row_of
from bench.engine_catalogs import made_up_products, made_up_queries
from bench.loop_pause import LoopPause
from bench.table import Row, print_table
from search_proxy.backends.embedded import open_embedded
from search_proxy.engine.catalog_writer import add_documents
from search_proxy.engine.fusion import Fusion
from search_proxy.engine.snapshot import Snapshot, open_snapshot
from search_proxy.engine.vector_lane import VectorLane
from search_proxy.engine.vectors import VectorFile, appending
from search_proxy.filters import parse_filter
from search_proxy.models import SearchRequest

PRODUCTS = 1_000_000
BATCH = 50_000
QUERIES = 60
DIMENSION = 384
CENTRES = 3_000
DEPTH = 200

_FILTERS = {"0.1 %": "bucket:7", "1 %": "bucket:[10 TO 19]", "10 %": "bucket:[100 TO 199]"}


class MadeUpVectors:
    """Gives products and queries places around common centres, without a model."""

    model = "made-up"
    dimension = DIMENSION

    def __init__(self) -> None:
        chance = np.random.default_rng(3)
        self._centres = _unit(chance.standard_normal((CENTRES, DIMENSION), np.float32))

    def around(self, chance: np.random.Generator, count: int) -> npt.NDArray[np.float32]:
        """Return places around centres, some of which are far commoner than others."""
        which = (np.exp(chance.random(count) * np.log(CENTRES + 1)) - 1).astype(np.int64)
        return _unit(self._centres[which] + _unit(chance.standard_normal((count, DIMENSION), np.float32)))

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one place per text, the same for the same text."""
        return np.concatenate(
            [self.around(np.random.default_rng(zlib.crc32(text.encode())), 1) for text in texts]
        )

    def embed_query(self, query: str) -> npt.NDArray[np.float32]:
        """Return the place that the query has as a text."""
        vector: npt.NDArray[np.float32] = self.embed([query])[0]
        return vector


def main() -> None:
    """Print one table."""
    with tempfile.TemporaryDirectory() as name:
        rows = [row for part in (_make, _begin, _serve) for row in _in_own_process(part, Path(name))]
    print_table(f"embedded engine, {PRODUCTS:,} products", rows)


def _in_own_process(part: Callable[[Path], list[Row]], data: Path) -> list[Row]:
    """Return what `part` measured in a process that has nothing else in memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(part, data).result()


def _make(data: Path) -> list[Row]:
    with threadpool_limits(1, user_api="blas"):
        folder = _folder(data)
        rows = [_loading(folder)]
        rows.append(_embedding(open_snapshot(folder)[1], MadeUpVectors()))
    return [*rows, Row("most memory while it was made", _gigabytes("VmHWM"), "", "GiB")]


def _begin(data: Path) -> list[Row]:
    with threadpool_limits(1, user_api="blas"):
        return asyncio.run(_first_searches(data))


async def _first_searches(data: Path) -> list[Row]:
    """Return how late the event loop was while a process searched for the first time, six at once."""
    first = 0.0
    pauses: list[float] = []
    requests = [SearchRequest(index="shop", q=query, facets=FACETS) for query in made_up_queries(QUERIES)]
    async with open_embedded(data, MadeUpVectors(), Fusion(min_similarity=-1.0)) as engine, LoopPause(pauses):
        started = time.perf_counter()
        for start in range(0, len(requests), TOGETHER):
            async with asyncio.TaskGroup() as searches:
                for request in requests[start : start + TOGETHER]:
                    searches.create_task(engine.search("bench", request), name="search")
            if not start:
                first = time.perf_counter() - started
    return [
        Row(f"a new process's first {TOGETHER} searches", f"{first * 1000:,.0f}", "", "ms"),
        row_of("pauses of its event loop", [pause / 1000 for pause in pauses]),
        Row("the longest of them", f"{max(pauses):.1f}", "", "ms"),
    ]


def _serve(data: Path) -> list[Row]:
    with threadpool_limits(1, user_api="blas"):
        vectors = MadeUpVectors()
        lane = VectorLane(vectors, Fusion(depth=DEPTH, min_similarity=-1.0))
        rows = _searching(_folder(data), lane)
        rows.append(asyncio.run(loop_pause(data, vectors)))
        rows.append(Row("most memory while searching", _gigabytes("VmHWM"), "", "GiB"))
        rows.append(Row("of it no mapped file, at the end", _gigabytes("RssAnon"), "", "GiB"))
        rows.append(_recall(open_snapshot(_folder(data))[1], lane, made_up_queries(QUERIES)))
    return rows


def _searching(folder: Path, lane: VectorLane) -> list[Row]:
    opened = []
    for _ in range(3):
        started = time.perf_counter()
        _, snapshot = open_snapshot(folder)
        opened.append(time.perf_counter() - started)
    rows = [row_of("open", opened)]
    plain = [SearchRequest(index="shop", q=query) for query in made_up_queries(QUERIES)]
    faceted = [replace(one, facets=FACETS) for one in plain]
    text = {"search": plain, "search, 5 facets": faceted}
    rows += [row_of(name, taken) for name, taken in measured(snapshot, text, None).items()]
    hybrid = {"search, hybrid": plain, "search, hybrid, 5 facets": faceted}
    for share, wanted in _FILTERS.items():
        filtered = [replace(one, filter=parse_filter(wanted)) for one in faceted]
        hybrid[f"search, hybrid, 5 facets, filter keeps {share}"] = filtered
    return [*rows, *(row_of(name, taken) for name, taken in measured(snapshot, hybrid, lane).items())]


def _folder(data: Path) -> Path:
    return data / "indexes" / "bench" / "shop"


def _loading(folder: Path) -> Row:
    products = made_up_products(PRODUCTS)
    taken = 0.0
    while batch := list(itertools.islice(products, BATCH)):
        started = time.perf_counter()
        add_documents(folder, batch)
        taken += time.perf_counter() - started
    return Row(f"load {PRODUCTS:,} products", f"{PRODUCTS / taken:,.0f}", "", "products/s")


def _embedding(snapshot: Snapshot, vectors: MadeUpVectors) -> Row:
    chance = np.random.default_rng(5)
    with appending(snapshot.folder, vectors, again=False) as appender:
        for start in range(0, snapshot.size, BATCH):
            hashes = snapshot.text_hashes[start : start + BATCH]
            appender.append(hashes, vectors.around(chance, len(hashes)))
        started = time.perf_counter()
        VectorFile(snapshot.folder, vectors).group()
    return Row("group the vectors", f"{time.perf_counter() - started:.0f}", "", "s")


def _recall(snapshot: Snapshot, lane: VectorLane, queries: Sequence[str]) -> Row:
    """Return the share of the truly nearest products that the vector lane's candidates have."""
    matrix = VectorFile(snapshot.folder, lane.embedder).matrix
    nothing = np.empty(0, np.int64)
    shares = []
    for query in queries[:20]:
        vector = lane.embedder.embed_query(query)
        similarities = np.concatenate(
            [matrix[start : start + BATCH] @ vector for start in range(0, len(matrix), BATCH)]
        )
        # Every product has a text, and so a vector, of its own: positions are rows.
        truly = np.argsort(-similarities)[:DEPTH]
        found, _ = lane.near(snapshot, vector, snapshot.live, nothing, nothing)
        shares.append(len(np.intersect1d(truly, found)) / DEPTH)
    return Row(f"nearest {DEPTH} that are found", f"{100 * float(np.mean(shares)):.1f}", "", "%")


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    unit: npt.NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def _gigabytes(which: str) -> str:
    """Return a figure of this process, mapped files that are in memory among it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    kilobytes = next(int(line.split()[1]) for line in lines if line.startswith(which))
    return f"{kilobytes / 1024 / 1024:.2f}"


if __name__ == "__main__":
    main()
