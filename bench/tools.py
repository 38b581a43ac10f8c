"""Measures every tool of the index on every face: `make bench-tools`.

The same calls go, in turn, in process, over gRPC and over MCP (Streamable HTTP), each with a client in this
same process, so a client's own work is in the figures; of MCP once with a bare HTTP client and once with the
official one, which also checks every answer's schema. `above` is what a face adds at the median.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.columns import print_columns
from bench.engine_catalogs import icecat_products
from bench.table import percentile
from bench.tool_faces import INDEX, Faces, open_faces
from search_proxy.grpc import search_pb2
from search_proxy.tools.tool_set import TOOLS

CALLS = 40
WARM_UP = 5
_GRPC: Mapping[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "keyword_search": ("KeywordSearch", lambda given: search_pb2.KeywordSearchRequest(**given)),
    "semantic_search": ("SemanticSearch", lambda given: search_pb2.SemanticSearchRequest(**given)),
    "filter_documents": (
        "FilterDocuments",
        lambda given: search_pb2.FilterRequest(filter=search_pb2.Filter(**given["filter"])),
    ),
    "fused_search": ("FusedSearch", lambda given: search_pb2.FusedSearchRequest(**given)),
    "get_document": ("GetDocument", lambda given: search_pb2.GetDocumentRequest(**given)),
}


def main() -> None:
    """Print the table."""
    asyncio.run(_measure())


async def _measure() -> None:
    products = icecat_products()
    if not products:
        sys.exit("the electronics catalog is not beside this checkout")
    chosen = products[:: len(products) // (CALLS + WARM_UP)][: CALLS + WARM_UP]
    with tempfile.TemporaryDirectory() as folder:
        async with open_faces(Path(folder), products, with_vectors=True) as faces:
            rows = [
                row
                for tool in TOOLS
                if tool.about_index and not await _is_unavailable(faces, tool.name)
                for row in await _rows(faces, tool.name, [_arguments(tool.name, one) for one in chosen])
            ]
    print_columns((f"tools, {len(products):,} products", "face", "p50 ms", "p99 ms", "above ms"), rows)


async def _is_unavailable(faces: Faces, tool: str) -> bool:
    if tool != "semantic_search":
        return False
    answer = await faces.toolbox.call(faces.caller, INDEX, tool, {"query": "printer"})
    return answer.failure is not None


async def _rows(faces: Faces, tool: str, calls: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    ways: dict[str, Callable[[dict[str, Any]], Awaitable[Any]]] = {
        "in process": lambda given: faces.toolbox.call(faces.caller, INDEX, tool, given)
    }
    if tool in _GRPC:
        method, request = _GRPC[tool]
        ways["gRPC"] = lambda given: getattr(faces.stub, method)(request(given))
    ways["MCP, the wire alone"] = lambda given: faces.post(tool, given)
    ways["MCP, Python client"] = lambda given: faces.mcp.call_tool(tool, given)
    times: dict[str, list[float]] = {way: [] for way in ways}
    # The first face of a call finds the engine's caches cold, so each face is first in its turn.
    orders = itertools.cycle(itertools.permutations(ways))
    for number, (given, order) in enumerate(zip(calls, orders, strict=False)):
        for way in order:
            started = time.perf_counter()
            await ways[way](given)
            if number >= WARM_UP:
                times[way].append((time.perf_counter() - started) * 1000)
    base = median(times["in process"])
    return [
        (
            tool if way == "in process" else "",
            way,
            f"{median(taken):.2f}",
            f"{percentile(taken, 99):.2f}",
            "" if way == "in process" else f"{median(taken) - base:.2f}",
        )
        for way, taken in times.items()
    ]


def _arguments(tool: str, product: Mapping[str, Any]) -> dict[str, Any]:
    words = product["productTitle"].split()
    match tool:
        case "filter_documents":
            return {"filter": {"brand": [product["brand"]]}}
        case "search":
            return {"queries": [" ".join(words[:3]), " ".join(words[2:6]) or words[0], product["brand"]]}
        case "get_document":
            return {"document_id": product["_id"]}
        case "read":
            return {"document_ids": [product["_id"]]}
        case _:
            return {"query": " ".join(words[:5])}


if __name__ == "__main__":
    main()
