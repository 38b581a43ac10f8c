"""Measures the rules that route a query: the right strategy, and exactly the right filters.

The set holds queries for three catalogs: half used while the rules were written, half kept for measuring,
and `voices` and `voices2`, written in other voices before anybody looked at what the rules made of them.
`--dev` prints what went wrong in the first half instead.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.columns import print_columns
from bench.planner_catalogs import (
    CALLER,
    SHARED_DATA,
    icecat_documents,
    open_catalog,
    retail_documents,
    with_derived_categories,
)
from search_proxy.filters import AndFilter, Filter
from search_proxy.models import Document
from search_proxy.sample_store.store import load_sample
from worker.planning.catalog_decision import Decision, decide
from worker.planning.catalog_planner import CatalogPlanner
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.plan import PlanRequest, Strategy

QUERIES = Path(__file__).with_name("routing_queries.jsonl")
ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedQuery:
    """A query with what a person would have done with it."""

    catalog: str
    query: str
    strategy: Strategy
    filters: frozenset[str]
    half: Literal["dev", "final", "voices", "voices2"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the rules did with a query."""

    asked: RoutedQuery
    decision: Decision
    filters: frozenset[str]
    milliseconds: float

    @property
    def right_strategy(self) -> bool:
        """Say whether the strategy is the right one."""
        return self.decision.strategy is self.asked.strategy

    @property
    def right_filters(self) -> bool:
        """Say whether the filters are exactly the right ones."""
        return self.filters == self.asked.filters


def read_queries() -> list[RoutedQuery]:
    """Return the routing set."""
    return [
        RoutedQuery(
            catalog=record["catalog"],
            query=record["query"],
            strategy=Strategy(record["strategy"]),
            filters=frozenset(record["filters"]),
            half=record["half"],
        )
        for record in map(json.loads, QUERIES.read_text().splitlines())
    ]


def conjuncts(part: Filter | None) -> frozenset[str]:
    """Return the parts that a filter ANDs, as text."""
    if part is None:
        return frozenset()
    if isinstance(part, AndFilter):
        return conjuncts(part.left) | conjuncts(part.right)
    return frozenset((str(part),))


def route(asked: RoutedQuery, vocabulary: Vocabulary) -> Outcome:
    """Decide a query a few times; the time is the median."""
    times = []
    decision = decide(asked.query, vocabulary)
    for _ in range(ROUNDS):
        started = time.perf_counter()
        decision = decide(asked.query, vocabulary)
        times.append((time.perf_counter() - started) * 1000)
    return Outcome(
        asked=asked,
        decision=decision,
        filters=conjuncts(decision.filter),
        milliseconds=statistics.median(times),
    )


def catalogs() -> Mapping[str, Sequence[Document]]:
    """Return the three catalogs that the set asks about."""
    return {
        "sample": load_sample(),
        "retail": retail_documents(),
        "icecat": with_derived_categories(icecat_documents(with_category=True)),
    }


async def learn_vocabularies() -> Mapping[str, Vocabulary]:
    """Return the vocabulary of each catalog of the set."""
    vocabularies = {}
    for name, documents in catalogs().items():
        async with open_catalog(name, documents) as proxy:
            request = PlanRequest(caller=CALLER, index=name, query="", max_categories=1)
            vocabularies[name] = await CatalogPlanner(proxy).vocabulary(request)
    return vocabularies


def _table(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    lines: list[tuple[str, ...]] = []
    for half in ("dev", "final", "voices", "voices2"):
        for catalog in ("sample", "retail", "icecat", "all"):
            chosen = [
                outcome
                for outcome in outcomes
                if outcome.asked.half == half and catalog in (outcome.asked.catalog, "all")
            ]
            lines.append(
                (
                    half,
                    catalog,
                    str(len(chosen)),
                    f"{100 * statistics.mean(outcome.right_strategy for outcome in chosen):.1f}%",
                    f"{100 * statistics.mean(outcome.right_filters for outcome in chosen):.1f}%",
                    f"{statistics.median(outcome.milliseconds for outcome in chosen):.3f}",
                )
            )
    return lines


def _mistakes(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    return [
        (
            outcome.asked.query,
            f"{outcome.asked.strategy} {sorted(outcome.asked.filters)}",
            f"{outcome.decision.strategy} {sorted(outcome.filters)}",
        )
        for outcome in outcomes
        if outcome.asked.half == "dev" and not (outcome.right_strategy and outcome.right_filters)
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="print the mistakes of the first half instead")
    arguments = parser.parse_args()
    if not SHARED_DATA.is_dir():
        sys.exit(f"the catalogs are not at {SHARED_DATA}")
    vocabularies = asyncio.run(learn_vocabularies())
    outcomes = [route(asked, vocabularies[asked.catalog]) for asked in read_queries()]
    if arguments.dev:
        print_columns(("query", "right", "rules"), _mistakes(outcomes))
        return
    print_columns(("half", "catalog", "queries", "strategy", "exact filters", "ms p50"), _table(outcomes))


if __name__ == "__main__":
    main()
