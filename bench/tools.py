"""Measures every tool of the index on every face: `make bench-tools`.

Every query is first asked once in process: that is `first`. Then all of them go, in rounds of changing
order, in process, over gRPC and over MCP (Streamable HTTP), each with a client in this same process, so a
client's own work is in the figures; of MCP once with a bare HTTP client and once with the official one,
which also checks every answer's schema. `above` is the median of what a face takes longer than the same
round's call in process, `CPU above` the same of the time of all threads of both ends.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import uvloop

from bench.columns import print_columns
from bench.engine_catalogs import icecat_products
from bench.table import percentile
from bench.tool_faces import INDEX, Faces, open_faces
from search_proxy.grpc import search_pb2
from search_proxy.tools.tool_set import TOOLS

CALLS = 30
ROUNDS = 6
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
    uvloop.run(_measure())


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
    named = f"tools, {len(products):,} products"
    print_columns((named, "face", "first p50", "first p99", "p50 ms", "p99 ms", "above", "CPU above"), rows)


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
    first = [await _timed(ways["in process"], given) for given in calls]
    wall: dict[str, list[float]] = {way: [] for way in ways}
    cpu: dict[str, list[float]] = {way: [] for way in ways}
    for order in itertools.islice(itertools.permutations(ways), ROUNDS):
        for way in order:
            times = [await _timed(ways[way], given) for given in calls]
            wall[way] += [taken for taken, _ in times[WARM_UP:]]
            cpu[way] += [spent for _, spent in times[WARM_UP:]]
    once = [taken for taken, _ in first[WARM_UP:]]
    return [_row(tool, way, once, wall, cpu) for way in ways]


async def _timed(
    way: Callable[[dict[str, Any]], Awaitable[Any]], given: dict[str, Any]
) -> tuple[float, float]:
    began, spent = time.perf_counter(), time.process_time()
    await way(given)
    return (time.perf_counter() - began) * 1000, (time.process_time() - spent) * 1000


def _row(
    tool: str,
    way: str,
    first: Sequence[float],
    wall: Mapping[str, Sequence[float]],
    cpu: Mapping[str, Sequence[float]],
) -> tuple[str, ...]:
    is_base = way == "in process"
    return (
        tool if is_base else "",
        way,
        f"{median(first):.2f}" if is_base else "",
        f"{percentile(first, 99):.2f}" if is_base else "",
        f"{median(wall[way]):.2f}",
        f"{percentile(wall[way], 99):.2f}",
        "" if is_base else f"{_above(wall[way], wall['in process']):.2f}",
        "" if is_base else f"{_above(cpu[way], cpu['in process']):.2f}",
    )


def _above(face: Sequence[float], base: Sequence[float]) -> float:
    """Return the median of the differences between calls of the same round."""
    return median(one - other for one, other in zip(face, base, strict=True))


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
