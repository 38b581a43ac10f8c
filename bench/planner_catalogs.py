"""Loads real catalogs into a temporary embedded index, for the planner's benchmarks."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.caller import Caller
from search_proxy.feeds.category_derivation import derive_categories
from search_proxy.models import Document
from search_proxy.proxy import SearchProxy

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
"""Where real catalogs lie beside a checkout; they are not part of the project."""

ACCOUNT = "bench"
CALLER = Caller(account_id=ACCOUNT, key_kind="open")


def icecat_documents(*, with_category: bool) -> list[Document]:
    """Return the Icecat products as a feed would give them, their parsed class as category or not at all."""
    documents: list[Document] = []
    for record in _json_lines(SHARED_DATA / "icecat" / "products.jsonl.gz"):
        document: dict[str, Any] = {
            **record["attributes"],
            "_id": record["id"],
            "productTitle": record["title"],
            "brand": record["brand"],
            "mpn": record["mpn"],
            "description": record["description"] or "",
            "currency": "EUR",
        }
        if record.get("price_eur") is not None:
            document["price"] = record["price_eur"]
        if with_category and record.get("derived_class"):
            document["category"] = record["derived_class"]
        documents.append(document)
    return documents


def retail_documents() -> list[Document]:
    """Return the retail demo store's products."""
    return [
        {
            "_id": record["id"],
            "productTitle": record["name"],
            "currency": "USD",
            **{name: record[name] for name in ("category", "style", "description", "price", "current_stock")},
        }
        for record in _json_lines(SHARED_DATA / "retail_demo" / "products.jsonl.gz")
    ]


def icecat_classes() -> dict[str, str]:
    """Return the parsed class of each Icecat product that has one, by id."""
    records = _json_lines(SHARED_DATA / "icecat" / "products.jsonl.gz")
    return {record["id"]: record["derived_class"] for record in records if record.get("derived_class")}


def icecat_queries() -> dict[int, str]:
    """Return the judged queries by id."""
    lines = (SHARED_DATA / "icecat" / "dev_queries.jsonl").read_text().splitlines()
    return {record["query_id"]: record["query"] for record in map(json.loads, lines)}


def icecat_relevant(minimum_grade: int = 2) -> dict[int, list[str]]:
    """Return the products graded at least `minimum_grade`, by query id."""
    relevant: dict[int, list[str]] = defaultdict(list)
    with gzip.open(SHARED_DATA / "icecat" / "dev_labels.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            if int(row["grade_0_3"]) >= minimum_grade:
                relevant[int(row["query_id"])].append(row["product_id"])
    return dict(relevant)


def wands_queries() -> list[str]:
    """Return real furniture and home queries."""
    lines = (SHARED_DATA / "queries" / "wands_dev_queries.jsonl").read_text().splitlines()
    return [json.loads(line)["query"] for line in lines]


def with_derived_categories(documents: Sequence[Document]) -> list[Document]:
    """Return the documents with `derivedCategory` where they have no category, as the loader stores it."""
    derived = derive_categories(documents)
    return [
        {**document, "derivedCategory": derived[document["_id"]]} if document["_id"] in derived else document
        for document in documents
    ]


@asynccontextmanager
async def open_catalog(index: str, documents: Sequence[Document]) -> AsyncIterator[SearchProxy]:
    """Open a temporary index over the documents."""
    with TemporaryDirectory() as folder:
        async with open_embedded(Path(folder)) as backend:
            await _load(backend, index, documents)
            yield SearchProxy(backend)


async def _load(backend: EmbeddedBackend, index: str, documents: Sequence[Document]) -> None:
    await backend.add_documents(ACCOUNT, index, documents)


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        for line in file:
            yield json.loads(line)
