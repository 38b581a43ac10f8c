"""Measures what a merchant's load takes: `make bench-loading`.

The real electronics catalog (19,406 products with 30 attributes each, of 5,000 kinds), read as it is and with
its attributes at the top of each record, committed at once and as `aisle catalog load` does it; and what the
first searches take after one more product was committed.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from bench.engine import row_of
from bench.engine_catalogs import SHARED_DATA, icecat_products
from bench.table import Row, print_table
from search_proxy.backends.embedded import open_embedded
from search_proxy.engine.catalog_writer import add_documents
from search_proxy.engine.describing import describe_snapshot
from search_proxy.engine.open_indexes import OpenIndexes
from search_proxy.engine.searching import search_snapshot
from search_proxy.feeds.loading import LoadReport, LoadTarget, load_feed
from search_proxy.feeds.reader import open_feed
from search_proxy.models import FacetField, FacetsRequest, SearchRequest

ROUNDS = 3
COMMITS = 5
_FACETS = FacetsRequest(
    fields=(
        *(FacetField(name=name, max_results=20) for name in ("brand", "category", "type", "product_colour")),
        FacetField(name="price", kind="number"),
    )
)
_FEED = SHARED_DATA / "icecat" / "products.jsonl.gz"


def main() -> None:
    """Print one table."""
    products = icecat_products()
    if not products:
        raise SystemExit("the electronics catalog is not on this machine")
    with tempfile.TemporaryDirectory() as name:
        data = Path(name)
        flat = data / "flat.jsonl"
        flat.write_bytes(b"".join(orjson.dumps(product) + b"\n" for product in products))
        count = len(products)
        rows = [
            *_rates("read the feed", count, lambda: _read(_FEED)),
            *_rates("read it, attributes at the top", count, lambda: _read(flat)),
            *_rates("write it in one commit", count, lambda: _write(data, products)),
            *_rates("load it as the command does", count, lambda: asyncio.run(_load(data))),
            *_after_commits(data, products),
        ]
    print_table(f"load {count:,} real products", rows)


def _rates(name: str, count: int, work: Callable[[], None]) -> list[Row]:
    taken, busy = [], []
    for at in range(ROUNDS + 1):
        started, cpu = time.perf_counter(), time.process_time()
        work()
        if at:  # The first round warms up.
            taken.append(time.perf_counter() - started)
            busy.append(time.process_time() - cpu)
    per_second = [f"{count / statistics.median(seconds):,.0f}" for seconds in (taken, busy)]
    return [
        Row(name, per_second[0], "", "products/s"),
        Row(f"{name}, by processor time", per_second[1], "", "products/s"),
    ]


def _read(path: Path) -> None:
    for _ in open_feed(path):
        pass


def _write(data: Path, products: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory(dir=data) as folder:
        add_documents(Path(folder) / "shop", products)


async def _load(data: Path) -> None:
    with tempfile.TemporaryDirectory(dir=data) as folder:
        async with open_embedded(Path(folder)) as engine:
            await load_feed(open_feed(_FEED), engine, LoadTarget(account_id="a", index="shop"), LoadReport())


def _after_commits(data: Path, products: list[dict[str, Any]]) -> Iterator[Row]:
    folder = data / "kept" / "a" / "shop"
    add_documents(folder, products)
    indexes = OpenIndexes(data / "kept")
    plain = SearchRequest(index="shop", q="laser printer")
    taken: dict[str, list[float]] = {"commit one product": [], "describe": [], "search": [], "5 facets": []}
    for at in range(COMMITS + 1):
        indexes.snapshot("a", "shop")
        with _added(taken["commit one product"], wanted=bool(at)):
            add_documents(folder, [{**products[0], "_id": f"new-{at}"}])
        snapshot = indexes.snapshot("a", "shop")
        with _added(taken["search"], wanted=bool(at)):
            search_snapshot(snapshot, plain)
        with _added(taken["5 facets"], wanted=bool(at)):
            search_snapshot(snapshot, replace(plain, facets=_FACETS))
        with _added(taken["describe"], wanted=bool(at)):
            describe_snapshot(snapshot, "shop")
    names = {"search": "first search after it", "5 facets": "first with 5 facets", "describe": "describe it"}
    yield from (row_of(names.get(name, name), seconds) for name, seconds in taken.items())


@contextmanager
def _added(into: list[float], *, wanted: bool) -> Iterator[None]:
    started = time.perf_counter()
    yield
    if wanted:
        into.append(time.perf_counter() - started)


if __name__ == "__main__":
    main()
