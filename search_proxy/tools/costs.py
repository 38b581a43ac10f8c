"""What a tool costs on one index: measured with the corpus's own words, whenever the index is opened anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import orjson

from search_proxy.errors import SearchError
from search_proxy.tools.context import ToolContext
from search_proxy.tools.definition import ToolDefinition, ToolFailure
from search_proxy.tools.tool_set import TOOLS

MAX_CALLS = 5
"""Per tool; a median of five is steady enough for 'cheap', and loading must not wait for more."""

CHEAP_MS = 5.0
MODERATE_MS = 50.0
_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCost:
    """The medians of a few calls: how long one took and how much it gave to read."""

    median_ms: float
    median_tokens: int
    calls: int

    def sentence(self) -> str:
        """Return the cost as a description says it."""
        word = "cheap"
        if self.median_ms > CHEAP_MS:
            word = "moderate" if self.median_ms <= MODERATE_MS else "expensive"
        return (
            f"{word}: {self.median_ms:.1f} ms and about {self.median_tokens} tokens to read, the medians of"
            f" {self.calls} calls measured on this index"
        )


async def measure_costs(
    context: ToolContext, clock: Callable[[], float] = time.perf_counter
) -> Mapping[str, ToolCost]:
    """Return the cost of every tool of the index that could be called."""
    titles = list(context.profile.sample_titles[:MAX_CALLS])
    ids = [str(hit["_id"]) for hit in (await context.find(None, "text", MAX_CALLS)).hits]
    costs = {}
    for tool in TOOLS:
        if tool.about_index:
            cost = await _measured(context, tool, _calls(tool, titles, ids), clock)
            if cost is not None:
                costs[tool.name] = cost
    return costs


async def _measured(
    context: ToolContext, tool: ToolDefinition, calls: list[dict[str, Any]], clock: Callable[[], float]
) -> ToolCost | None:
    times, sizes = [], []
    # The first call opens files that every later one finds open.
    for number, arguments in enumerate([*calls[:1], *calls]):
        started = clock()
        try:
            answer = await tool.handler(context, arguments)
        except (ToolFailure, SearchError):
            return None
        if number:
            times.append((clock() - started) * 1000)
            sizes.append(len(orjson.dumps(answer)) // _CHARACTERS_PER_TOKEN)
    if not times:
        return None
    return ToolCost(median_ms=median(times), median_tokens=round(median(sizes)), calls=len(times))


def _calls(tool: ToolDefinition, titles: list[str], ids: list[str]) -> list[dict[str, Any]]:
    queries = [" ".join(title.split()[:5])[:200] for title in titles]
    match tool.name:
        case "filter_documents":
            return [{"limit": 10}] * len(ids)
        case "get_document":
            return [{"document_id": identifier} for identifier in ids]
        case "read":
            return [{"document_ids": ids[:3]}] * min(3, len(ids))
        case "search":
            return [{"queries": queries[:3]}] * min(3, len(queries))
        case _:
            return [{"query": query} for query in queries]
