"""The tools that find documents: by words, by meaning, by both, by many queries at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from search_proxy.filters import Filter
from search_proxy.models import Hit, SearchLane
from search_proxy.tools.arguments import (
    MultiArguments,
    SearchArguments,
    SemanticArguments,
    read_arguments,
)
from search_proxy.tools.calibration import default_min_score
from search_proxy.tools.context import ToolContext
from search_proxy.tools.expansion import is_literal, paraphrases
from search_proxy.tools.filter_object import read_filter
from search_proxy.tools.hits import tool_hit
from search_proxy.tools.rank_fusion import fuse_ranks

FUSED_DEPTH = 100
"""Places of each lane that count for a fused page."""

PER_QUERY_DEPTH = 50


async def keyword_search(context: ToolContext, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Rank by the words of the query alone."""
    given = read_arguments(SearchArguments, arguments)
    wanted = read_filter(context.profile, given.filter, given.filter_text)
    result = await context.find(given.query, "text", given.limit, wanted=wanted)
    hits = [tool_hit(context.profile, hit, given.query, "bm25", hit["_score"]) for hit in result.hits]
    nothing = f"no document{_kept(wanted)} has these words{_widen(wanted)}"
    note = "" if hits else f"{nothing}{context.instead('semantic_search', 'search')}"
    return _page(hits, result.total_hits, note)


async def semantic_search(context: ToolContext, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Rank by meaning alone, nothing that is not close."""
    given = read_arguments(SemanticArguments, arguments)
    wanted = read_filter(context.profile, given.filter, given.filter_text)
    if not context.profile.has_vectors:
        raise context.unavailable(
            "semantic search is not available: this index has no vectors", "keyword_search", "search"
        )
    least = default_min_score(context.profile.embedding_model) if given.min_score is None else given.min_score
    others = [] if not given.expand or is_literal(given.query) else await paraphrases(context, given.query)
    if others:
        rankings = await _each(context, [given.query, *others], "vector", given.limit, wanted, least)
        hits, total = _fused(context, [given.query, *others], rankings, given.limit)
        return _page(hits, total, f"searched as well: {'; '.join(others)}")
    result = await context.find(given.query, "vector", given.limit, wanted=wanted, min_similarity=least)
    hits = [tool_hit(context.profile, hit, given.query, "cosine", hit["_score"]) for hit in result.hits]
    close = f"is as close as min_score {least:g}{_widen(wanted)}; lower it, or say it differently"
    nothing = f"nothing{_kept(wanted)} {close}"
    note = "" if hits else f"{nothing}{context.instead('keyword_search')}"
    literal = "the query is literal, so it was not expanded" if given.expand else ""
    return _page(hits, result.total_hits, note or literal)


async def fused_search(context: ToolContext, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Rank by words and by meaning in one page, fused by their places."""
    given = read_arguments(SearchArguments, arguments)
    wanted = read_filter(context.profile, given.filter, given.filter_text)
    queries, rankings = await _both_lanes(context, [given.query], FUSED_DEPTH, wanted)
    hits, total = _fused(context, queries, rankings, given.limit)
    without = "" if context.profile.has_vectors else "ranked by words alone: this index has no vectors"
    nothing = "" if hits else f"nothing{_kept(wanted)} matches{_widen(wanted)}"
    return _page(hits, total, "; ".join(each for each in (nothing, without) if each))


async def multi_search(context: ToolContext, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Search every query alone and return one page, fused by the places."""
    given = read_arguments(MultiArguments, arguments)
    wanted = read_filter(context.profile, given.filter, given.filter_text)
    asked = list(dict.fromkeys(given.queries))
    queries, rankings = await _both_lanes(context, asked, max(PER_QUERY_DEPTH, given.limit), wanted)
    hits, total = _fused(context, queries, rankings, given.limit)
    nothing = f"no query found anything{_kept(wanted)}{_widen(wanted)}"
    return _page(hits, total, "" if hits else f"{nothing}{context.instead('filter_documents')}")


async def _both_lanes(
    context: ToolContext, queries: Sequence[str], depth: int, wanted: Filter | None
) -> tuple[Sequence[str], Sequence[Sequence[Hit]]]:
    """Return every query's hits by words and, where there are vectors, by meaning: two rankings each.

    What is not close in meaning is left out, or the tails of many queries would outvote the head of one.
    """
    by_words = await _each(context, queries, "text", depth, wanted)
    if not context.profile.has_vectors:
        return queries, by_words
    least = default_min_score(context.profile.embedding_model)
    by_meaning = await _each(context, queries, "vector", depth, wanted, least)
    return [*queries, *queries], [*by_words, *by_meaning]


async def _each(
    context: ToolContext,
    queries: Sequence[str],
    lane: SearchLane,
    depth: int,
    wanted: Filter | None,
    least: float | None = None,
) -> Sequence[Sequence[Hit]]:
    """Return the hits of every query, searched side by side."""
    found: list[Sequence[Hit]] = [()] * len(queries)

    async def one(place: int) -> None:
        result = await context.find(queries[place], lane, depth, wanted=wanted, min_similarity=least)
        found[place] = result.hits

    async with asyncio.TaskGroup() as searches:
        for place in range(len(queries)):
            searches.create_task(one(place), name=f"tool-query:{place}")
    return found


def _fused(
    context: ToolContext, queries: Sequence[str], rankings: Sequence[Sequence[Hit]], limit: int
) -> tuple[list[dict[str, Any]], int]:
    """Return the best hits by fused rank; each shows the query that had it highest."""
    best: dict[str, tuple[int, str, Hit]] = {}
    for query, hits in zip(queries, rankings, strict=True):
        for place, hit in enumerate(hits):
            known = best.get(str(hit["_id"]))
            if known is None or place < known[0]:
                best[str(hit["_id"])] = (place, query, hit)
    ranked = fuse_ranks([[str(hit["_id"]) for hit in hits] for hits in rankings])
    return [
        tool_hit(context.profile, best[identifier][2], best[identifier][1], "rrf", score)
        for identifier, score in ranked[:limit]
    ], len(ranked)


def _page(hits: list[dict[str, Any]], total: int, note: str = "") -> dict[str, Any]:
    page: dict[str, Any] = {"hits": hits, "total": total}
    return {**page, "note": note} if note else page


def _kept(wanted: Filter | None) -> str:
    return "" if wanted is None else " that passes the filter"


def _widen(wanted: Filter | None) -> str:
    """Return the advice for an empty page: where there is a filter, it may be what left nothing."""
    return "" if wanted is None else "; widen the filter"
