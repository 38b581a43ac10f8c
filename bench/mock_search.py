"""A backend that asks a search engine at another address, and the 12 products that this one always finds.

It stands in for any engine behind HTTP, so that what a stream costs the worker can be told from what an
engine costs. The engine itself is in `bench/upstreams.py`.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import orjson

from search_proxy.filters import Filter
from search_proxy.models import FieldInfo, FoundDocument, IndexDescription, SearchRequest, SearchResult
from worker.llm.http_calls import HttpCalls

HITS = 12
_COLOURS = ("black", "blue", "green", "red")
_BRANDS = ("Alder", "Birch", "Cedar", "Douglas")
_CATEGORIES = ("Tents", "Sleeping Bags", "Sleeping Pads", "Stoves", "Layers", "Lights")


def found_products() -> dict[str, Any]:
    """Return the one answer: 12 products as a catalog has them, and facets."""
    hits = [
        {
            "_id": f"p-{number}-{_COLOURS[number % 4]}",
            "parentProductId": f"p-{number}",
            "productTitle": f"{_BRANDS[number % 4]} outdoor product number {number}",
            "variantTitle": f"{_COLOURS[number % 4]} / one size",
            "variantImageUrl": f"https://images.example/p-{number}-{_COLOURS[number % 4]}.jpg",
            "price": 20.0 + 15 * number,
            "currency": "USD",
            "description": "Light, warm and dry; packs small and lasts for many cold nights outside. " * 2,
            "productCollections": [_CATEGORIES[number % 6]],
            "brand": _BRANDS[number % 4],
            "color": _COLOURS[number % 4],
            "_score": 9.5 - number / 4,
        }
        for number in range(HITS)
    ]
    facets = {
        "productCollections": {name: {"count": 20} for name in _CATEGORIES},
        "brand": {name: {"count": 30} for name in _BRANDS},
        "color": {name: {"count": 30} for name in _COLOURS},
        "price": {"min": 20.0, "max": 185.0, "avg": 102.5, "sum": 1230.0, "count": 120},
    }
    return {"hits": hits, "totalHits": 120, "facets": facets}


_DESCRIPTION = IndexDescription(
    index="demo",
    documents=120,
    products=120,
    fields=(
        FieldInfo(name="productTitle", kind="string", documents=120, distinct=120),
        FieldInfo(
            name="productCollections",
            kind="array",
            documents=120,
            distinct=6,
            top_values=tuple((name, 20) for name in _CATEGORIES),
        ),
        FieldInfo(
            name="brand",
            kind="string",
            documents=120,
            distinct=4,
            top_values=tuple((name, 30) for name in _BRANDS),
        ),
        FieldInfo(
            name="color",
            kind="string",
            documents=120,
            distinct=4,
            top_values=tuple((name, 30) for name in _COLOURS),
        ),
        FieldInfo(name="price", kind="number", documents=120, minimum=20.0, maximum=185.0),
    ),
    category_field="productCollections",
    language="en",
    generation="1",
)


class RemoteSearch:
    """A `SearchBackend` that asks the mock engine; its description is in memory, as every backend's."""

    def __init__(self, calls: HttpCalls, url: str) -> None:
        self._calls = calls
        self._url = url

    async def search(self, account_id: str, request: SearchRequest) -> SearchResult:
        """Return what the mock engine answers."""
        started = time.perf_counter()
        asked = orjson.dumps({"account": account_id, "q": request.q, "limit": request.limit})
        body = bytearray()
        response = await self._calls.begin(b"POST", self._url, {}, asked)
        try:
            response.read_into(body.extend)
            await response.ended()
        finally:
            self._calls.end(response)
        answer = orjson.loads(body)
        return SearchResult(
            hits=tuple(answer["hits"]),
            total_hits=answer["totalHits"],
            facets=answer["facets"] if request.facets else {},
            query=request.q,
            limit=request.limit,
            offset=request.offset,
            processing_time_ms=(time.perf_counter() - started) * 1000,
        )

    async def get_documents(self, account_id: str, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return no document: the benchmark asks for none."""
        return [FoundDocument(id=each, document=None) for each in ids]

    async def describe(self, account_id: str, index: str, wanted: Filter | None = None) -> IndexDescription:
        """Return the description."""
        return _DESCRIPTION

    async def list_indexes(self, account_id: str) -> Sequence[str]:
        """Return the one index."""
        return ["demo"]


@asynccontextmanager
async def open_remote_search(url: str) -> AsyncIterator[RemoteSearch]:
    """Open a backend with connections enough for every category of every stream."""
    calls = HttpCalls(url, max_connections=4096)
    try:
        yield RemoteSearch(calls, url)
    finally:
        calls.close()
