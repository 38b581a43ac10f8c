"""Measures the planner that needs no model, on real judged queries: which rows it offers, how many are right.

Truth: the classes of the products that people graded as relevant (about half of the products have one).
Measured with the classes as the feed's categories, with the other products' categories derived, and with all
of them derived from titles; there, a derived category counts as the class that most of its products have.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from bench.columns import print_columns
from bench.planner_catalogs import (
    CALLER,
    SHARED_DATA,
    icecat_classes,
    icecat_documents,
    icecat_queries,
    icecat_relevant,
    open_catalog,
    retail_documents,
    wands_queries,
    with_derived_categories,
)
from search_proxy.filters import AndFilter, Filter, OrFilter, TermFilter, parse_filter
from search_proxy.models import Document
from search_proxy.proxy import SearchProxy
from worker.planning.catalog_decision import decide
from worker.planning.catalog_labels import category_label
from worker.planning.catalog_planner import CatalogPlanner
from worker.planning.catalog_roles import DERIVED_CATEGORY
from worker.planning.plan import PlanEvent, PlanRequest, QueryExpansion

MAX_CATEGORIES = 6
ROUNDS = 2
READ_QUERIES = 30
"""Rows to read on the retail catalog: of every seventh of the real home queries."""
INDEX = "bench"

_BANDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One query's rows, and how long the plan took."""

    query: str
    rows: tuple[QueryExpansion, ...]
    first_row_ms: float
    plan_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """What the rows of all queries are worth."""

    precision_at_1: float
    coverage: float
    rows: float
    precision: float
    queries: int


async def plan_queries(proxy: SearchProxy, queries: Sequence[str], rounds: int = ROUNDS) -> list[Planned]:
    """Plan each query a few times after one warm-up; the times are medians."""
    planner = CatalogPlanner(proxy)
    planned = []
    for query in queries:
        request = PlanRequest(caller=CALLER, index=INDEX, query=query, max_categories=MAX_CATEGORIES)
        firsts, wholes = [], []
        rows: list[QueryExpansion] = []
        for attempt in range(rounds + 1):
            rows, first, whole = await _plan_once(planner, request)
            if attempt or not rounds:
                firsts.append(first)
                wholes.append(whole)
        planned.append(
            Planned(
                query=query,
                rows=tuple(rows),
                first_row_ms=statistics.median(firsts),
                plan_ms=statistics.median(wholes),
            )
        )
    return planned


async def _plan_once(
    planner: CatalogPlanner, request: PlanRequest
) -> tuple[list[QueryExpansion], float, float]:
    rows: list[QueryExpansion] = []
    first: list[float] = []
    started = time.perf_counter()

    def emit(event: PlanEvent) -> None:
        if isinstance(event, QueryExpansion):
            rows.append(event)
            first.append((time.perf_counter() - started) * 1000)

    await planner.plan(request, emit)
    whole = (time.perf_counter() - started) * 1000
    return rows, first[0] if first else whole, whole


def measure(
    planned: Sequence[Planned],
    relevant: Mapping[str, Sequence[str]],
    class_of: Mapping[str, str],
    names: Mapping[str, str] = MappingProxyType({}),
) -> Quality:
    """Score rows against the classes of the relevant products; a query without rows is wrong.

    `names` says for categories of another naming which class they are.
    """
    firsts, coverages, counts, right = [], [], [], []
    for one in planned:
        classes = Counter(
            normal(class_of[product]) for product in relevant.get(one.query, ()) if product in class_of
        )
        if not classes:
            continue
        offered = [names.get(name, name) for name in map(row_class, one.rows)]
        counts.append(len(offered))
        firsts.append(bool(offered) and offered[0] in classes)
        right += [name in classes for name in offered]
        coverages.append(sum(classes[name] for name in set(offered)) / classes.total())
    return Quality(
        precision_at_1=statistics.mean(firsts),
        coverage=statistics.mean(coverages),
        rows=statistics.mean(counts),
        precision=statistics.mean(right),
        queries=len(firsts),
    )


def reliability(
    planned: Sequence[Planned], relevant: Mapping[str, Sequence[str]], class_of: Mapping[str, str]
) -> list[tuple[str, int, float, float]]:
    """Return per band of confidence: rows, their mean confidence, the part that was right."""
    judged = [
        (row.confidence, row_class(row) in classes)
        for one in planned
        if (classes := {normal(class_of[p]) for p in relevant.get(one.query, ()) if p in class_of})
        for row in one.rows
    ]
    bands = []
    for low, high in zip(_BANDS, _BANDS[1:], strict=False):
        inside = [(confidence, right) for confidence, right in judged if low <= confidence < high]
        if inside:
            mean = statistics.mean(confidence for confidence, _ in inside)
            right = statistics.mean(right for _, right in inside)
            bands.append((f"{low:.1f} to {min(high, 1.0):.1f}", len(inside), mean, right))
    return bands


def row_class(row: QueryExpansion) -> str:
    """Return the class that a row stands for: the category in its filter, else its label."""
    named = _category_in(parse_filter(row.filter)) if row.filter else None
    return normal(named or row.label)


def normal(name: str) -> str:
    """Return a class name as it is compared: its label, casefolded."""
    return category_label(name).casefold()


def _category_in(part: Filter) -> str | None:
    if isinstance(part, TermFilter):
        return part.value if part.field in ("category", DERIVED_CATEGORY) else None
    if isinstance(part, AndFilter | OrFilter):
        return _category_in(part.left) or _category_in(part.right)
    return None


def class_names(documents: Sequence[Document], class_of: Mapping[str, str]) -> dict[str, str]:
    """Return for each derived category the class that most of its products have."""
    members: dict[str, Counter[str]] = defaultdict(Counter)
    for document in documents:
        identity = str(document["_id"])
        if identity in class_of and DERIVED_CATEGORY in document:
            members[normal(str(document[DERIVED_CATEGORY]))][normal(class_of[identity])] += 1
    return {name: classes.most_common(1)[0][0] for name, classes in members.items()}


async def _plan_icecat(documents: Sequence[Document]) -> list[Planned]:
    async with open_catalog(INDEX, documents) as proxy:
        return await plan_queries(proxy, list(icecat_queries().values()))


def _line(name: str, planned: Sequence[Planned], quality: Quality) -> tuple[str, ...]:
    return (
        name,
        f"{quality.precision_at_1:.3f}",
        f"{quality.coverage:.3f}",
        f"{quality.rows:.2f}",
        f"{quality.precision:.3f}",
        f"{statistics.median(one.first_row_ms for one in planned):.1f}",
        f"{statistics.median(one.plan_ms for one in planned):.1f}",
        str(quality.queries),
    )


async def _decision_ms() -> float:
    documents = retail_documents()
    async with open_catalog(INDEX, documents) as proxy:
        request = PlanRequest(caller=CALLER, index=INDEX, query="", max_categories=1)
        vocabulary = await CatalogPlanner(proxy).vocabulary(request)
    times = []
    for query in wands_queries() * ROUNDS:
        started = time.perf_counter()
        decide(query, vocabulary)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


async def _print_all() -> None:
    queries = icecat_queries()
    relevant = {
        queries[query_id]: products for query_id, products in icecat_relevant().items() if query_id in queries
    }
    classes = icecat_classes()
    given = icecat_documents(with_category=True)
    filled = with_derived_categories(given)
    derived = with_derived_categories(icecat_documents(with_category=False))
    lines = []
    for name, documents, names in (
        ("classes are the category", given, {}),
        ("classes, the rest derived", filled, {}),
        ("no class, all derived", derived, class_names(derived, classes)),
    ):
        planned = await _plan_icecat(documents)
        lines.append(_line(name, planned, measure(planned, relevant, classes, names)))
        if documents is given:
            bands = reliability(planned, relevant, classes)
    print_columns(
        ("Icecat", "P@1", "coverage", "rows", "row precision", "first row ms", "plan ms", "queries"), lines
    )
    print()
    print_columns(
        ("confidence", "rows", "mean", "right"),
        [(band, str(rows), f"{mean:.2f}", f"{right:.2f}") for band, rows, mean, right in bands],
    )
    print(f"\ndecision alone: {await _decision_ms():.3f} ms p50\n")
    await _print_rows_to_read()


async def _print_rows_to_read() -> None:
    queries = wands_queries()[::7][:READ_QUERIES]
    async with open_catalog(INDEX, retail_documents()) as proxy:
        planned = await plan_queries(proxy, queries)
    print_columns(
        ("query on the retail catalog", "rows"),
        [(one.query, " | ".join(f"{row.label} {row.confidence:.2f}" for row in one.rows)) for one in planned],
    )


def main() -> None:
    """Print the tables."""
    if not SHARED_DATA.is_dir():
        sys.exit(f"the judged catalogs are not at {SHARED_DATA}")
    asyncio.run(_print_all())


if __name__ == "__main__":
    main()
