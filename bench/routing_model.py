"""Measures what becomes of a model's routing on its way: of one that is right, and of one that fails.

The script answers each query of the routing set with the right strategy and filters, in the shape of real
plans, so this says nothing of how well a model understands shoppers. It says what the plan reader, the filter
check and the fallback keep of a right answer, and what is left where every second answer is broken.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from bench.columns import print_columns
from bench.planner_catalogs import CALLER, SHARED_DATA, open_catalog
from bench.routing import RoutedQuery, catalogs, conjuncts, read_queries
from search_proxy.filters import merge_filters, parse_filter
from search_proxy.proxy import SearchProxy
from tests.support.scripted_gemini import Call, Script, ScriptedGemini
from tests.support.scripted_gemini.scenarios import (
    early_eof,
    html_502,
    json_text,
    rate_limited,
    text_chunk,
    unavailable,
)
from worker.llm.breaker import CircuitBreaker
from worker.llm.credentials import ApiKey
from worker.llm.gemini_request import GeminiEndpoint
from worker.llm.gemini_rest import open_gemini_rest
from worker.llm.token_budget import TokenBudget
from worker.planning.agent_filter import check_agent_filter
from worker.planning.catalog_decision import decide
from worker.planning.catalog_planner import CatalogPlanner
from worker.planning.fallback_planner import GuardedModel, ResilientPlanner, RetryPolicy
from worker.planning.model_planner import ModelPlanner, ModelPlannerConfig
from worker.planning.plan import PlanDecision, PlanEvent, PlanRequest, PlanSource, QueryExpansion, Strategy

WITHOUT_SEARCH = (Strategy.NO_MATCH, Strategy.NEEDS_CLARIFICATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """How one query ended."""

    asked: RoutedQuery
    source: PlanSource
    strategy: Strategy | None
    filters: frozenset[str]


def right_plan(asked: RoutedQuery) -> dict[str, Any]:
    """Return the plan of a model that understands the query."""
    plan: dict[str, Any] = {"strategy": asked.strategy.value}
    if asked.strategy in WITHOUT_SEARCH:
        return plan | {"query_expansions": [], "message": "Some words."}
    wanted = merge_filters(*(parse_filter(text) for text in sorted(asked.filters)))
    written = "" if wanted is None else str(wanted)
    rows = [[f"{asked.query} {label}"[:200], label, 0.9, written] for label in ("First", "Second")]
    return plan | {"query_expansions": rows, "rewritten_query": asked.query}


def broken_plans(asked: RoutedQuery) -> Sequence[Script]:
    """Return the eight ways in which the answer to a query is broken."""
    rows = [["one", "One", 0.9, ""], ["two", "Two", 0.8, ""]]
    return (
        unavailable(),
        rate_limited(None),
        html_502(),
        early_eof(text_chunk('{"strategy": "hybrid", "query_expansions": [["a')),
        json_text("I would rather talk about something else."),
        json_text({"route": "search", "intent": asked.query}),
        json_text({"strategy": "no_match", "query_expansions": []}),
        json_text({"strategy": "needs_clarification", "query_expansions": rows, "message": "What?"}),
    )


class Routes:
    """Plans every query with a model that is asked over real HTTP, and with the rules behind it."""

    def __init__(self, proxies: Mapping[str, SearchProxy], server: ScriptedGemini) -> None:
        self._proxies = proxies
        self._server = server
        self._by_query = {asked.query: asked for asked in read_queries()}
        self._places = {query: place for place, query in enumerate(self._by_query)}
        self.fails = False
        server.choose = self._answer

    def _answer(self, call: Call) -> Script:
        asked = self._by_query[call.body["contents"][-1]["parts"][0]["text"]]
        place = self._places[asked.query]
        # Halves and catalogs alternate in the file, so that neither may decide what breaks.
        if not self.fails or (place // 2 + place // 16) % 2:
            return json_text(right_plan(asked))
        return broken_plans(asked)[place // 4 % 8]

    async def route(self, asked: RoutedQuery, planner: ResilientPlanner) -> Routed:
        """Plan one query."""
        request = PlanRequest(caller=CALLER, index=asked.catalog, query=asked.query, max_categories=5)
        events: list[PlanEvent] = []
        report = await planner.plan(request, events.append)
        decisions = [event.strategy for event in events if isinstance(event, PlanDecision) and event.strategy]
        proxy = self._proxies[asked.catalog]
        if report.source is PlanSource.CATALOG:
            # Rows of the rules carry their own category besides; their reading of the sentence is compared.
            read = decide(asked.query, await CatalogPlanner(proxy).vocabulary(request))
            found = conjuncts(read.filter)
        else:
            row = next((event for event in events if isinstance(event, QueryExpansion)), None)
            description = await proxy.describe_index(CALLER, asked.catalog)
            written = row.filter if row is not None else None
            found = conjuncts(check_agent_filter(written, description).filter if written else None)
        strategy = decisions[-1] if decisions else None
        return Routed(asked=asked, source=report.source, strategy=strategy, filters=found)


async def _measure() -> list[tuple[str, ...]]:
    async with AsyncExitStack() as stack:
        proxies = {
            name: await stack.enter_async_context(open_catalog(name, documents))
            for name, documents in catalogs().items()
        }
        server = await stack.enter_async_context(ScriptedGemini())
        endpoint = GeminiEndpoint(base_url=server.base_url)
        client = await stack.enter_async_context(open_gemini_rest(endpoint, ApiKey("bench")))
        routes = Routes(proxies, server)
        lines: list[tuple[str, ...]] = []
        for name, fails in (("always right", False), ("every second answer broken", True)):
            routes.fails = fails
            done = []
            for catalog, proxy in proxies.items():
                model = ModelPlanner(client, ModelPlannerConfig(), proxy.describe_index)
                planner = ResilientPlanner(
                    [
                        GuardedModel(
                            planner=model, breaker=CircuitBreaker(lambda: 0.0, failures_to_open=10**9)
                        )
                    ],
                    CatalogPlanner(proxy),
                    budget=TokenBudget(lambda: 0.0),
                    retry=RetryPolicy(attempts=1),
                )
                asked = [query for query in read_queries() if query.catalog == catalog]
                done += [await routes.route(query, planner) for query in asked]
            lines += [_line(name, half, done) for half in ("dev", "final", "voices", "voices2", "all")]
    return lines


def _line(name: str, half: str, done: Sequence[Routed]) -> tuple[str, ...]:
    chosen = [each for each in done if half in (each.asked.half, "all")]
    by_model = sum(each.source is PlanSource.LLM for each in chosen) / len(chosen)
    right = statistics.mean(each.strategy is each.asked.strategy for each in chosen)
    filters = statistics.mean(each.filters == each.asked.filters for each in chosen)
    counted = (name, half, str(len(chosen)))
    return (*counted, f"{100 * by_model:.0f}%", f"{100 * right:.1f}%", f"{100 * filters:.1f}%")


def main() -> None:
    """Print the table."""
    if not SHARED_DATA.is_dir():
        sys.exit(f"the catalogs are not at {SHARED_DATA}")
    headers = ("scripted model", "half", "queries", "by the model", "strategy", "exact filters")
    print_columns(headers, asyncio.run(_measure()))


if __name__ == "__main__":
    main()
