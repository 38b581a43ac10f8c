"""The catalog planner against the real engine: what it promises holds in the index."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.planner import measure, plan_queries
from bench.planner_catalogs import (
    icecat_classes,
    icecat_documents,
    icecat_queries,
    icecat_relevant,
    open_catalog,
)
from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.caller import Caller
from search_proxy.filters import TermFilter, merge_filters, parse_filter
from search_proxy.models import Document, SearchRequest
from search_proxy.proxy import SearchProxy
from search_proxy.sample_store.store import load_sample
from worker.errors import PlanningFailed
from worker.planning.catalog_planner import CatalogPlanner
from worker.planning.plan import (
    PlanDecision,
    PlanEvent,
    PlanReport,
    PlanRequest,
    PlanSource,
    QueryComplement,
    QueryExpansion,
    Strategy,
)

pytestmark = pytest.mark.anyio

CALLER = Caller(account_id="shop", key_kind="secret")
REQUEST = PlanRequest(caller=CALLER, index="store", query="", max_categories=6)
SENTENCES = (
    "something warm for a winter camping trip",
    "gift for someone who just moved",
    "red mug under 20",
    "waterproof jacket not black",
    "lightweight tent for two people under 400",
    "something to keep my coffee hot on the train",
    "women's rain jacket in size M",
    "bedding for hot sleepers",
    "in stock tents under 300",
    "gifts under 30 euros",
    "most expensive tents",
    "storage for shoes",
)


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[EmbeddedBackend]:
    """Open an engine without any index."""
    async with open_embedded(tmp_path) as opened:
        yield opened


@pytest.fixture(scope="module")
def store_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Index the sample store once; no test writes to it."""
    folder = tmp_path_factory.mktemp("store")
    asyncio.run(_load(folder))
    return folder


async def _load(folder: Path) -> None:
    async with open_embedded(folder) as backend:
        await backend.add_documents("shop", "store", load_sample())


@pytest.fixture
async def store(store_folder: Path) -> AsyncIterator[SearchProxy]:
    """Open the sample store."""
    async with open_embedded(store_folder) as opened:
        yield SearchProxy(opened)


async def plan(search: SearchProxy, request: PlanRequest) -> tuple[list[PlanEvent], PlanReport]:
    """Plan once; return the events and the report."""
    events: list[PlanEvent] = []
    async with asyncio.timeout(5):
        report = await CatalogPlanner(search).plan(request, events.append)
    return events, report


def rows(events: list[PlanEvent]) -> list[QueryExpansion]:
    """Return the rows of a plan."""
    return [event for event in events if isinstance(event, QueryExpansion)]


async def test_every_row_of_every_plan_holds_what_is_promised(store: SearchProxy) -> None:
    """Three hits by the row's own query and filter, labels distinct and readable, confidence in order."""
    for sentence in SENTENCES:
        events, report = await plan(store, replace(REQUEST, query=sentence))
        offered = rows(events)
        assert offered, sentence
        assert len(offered) <= 6
        assert report.source is PlanSource.CATALOG
        names = [row.label.casefold() for row in offered]
        assert len(set(names)) == len(names), names
        assert all(row.label[0].isupper() and "_" not in row.label for row in offered), names
        confidences = [row.confidence for row in offered]
        assert confidences == sorted(set(confidences), reverse=True)
        assert all(0 <= confidence <= 1 for confidence in confidences)
        seen: list[set[str]] = []
        for row in offered:
            assert row.filter is not None
            request = SearchRequest(index="store", q=row.query, limit=12, filter=parse_filter(row.filter))
            found = await store.handle_search(CALLER, request)
            assert found.total_hits >= 3, (sentence, row)
            ids = {str(hit["_id"]) for hit in found.hits}
            assert ids not in seen, (sentence, row)
            seen.append(ids)


async def test_a_sentence_without_a_product_in_it_gets_categories(store: SearchProxy) -> None:
    """Source: the first request that anybody makes."""
    events, _ = await plan(store, replace(REQUEST, query="something warm for a winter camping trip"))
    labels = {row.label for row in rows(events)}
    assert len(labels) >= 3
    decision = next(event for event in events if isinstance(event, PlanDecision))
    assert (decision.strategy, decision.rewritten_query) == (
        Strategy.CONTENT_ONLY,
        "warm winter camping trip",
    )


async def test_a_query_that_is_one_category_gets_the_choices_within_it(store: SearchProxy) -> None:
    """Kinds of tent instead of one row that repeats the first hits."""
    events, _ = await plan(store, replace(REQUEST, query="lightweight tent for two people under 400"))
    offered = rows(events)
    assert len(offered) >= 3
    assert all("category:(Tents)" in str(row.filter) for row in offered[:3])
    assert all("price:[* TO 400]" in str(row.filter) for row in offered)


async def test_follow_up_queries_find_something(store: SearchProxy) -> None:
    """Two to four, and each is answered by the catalog."""
    events, _ = await plan(store, replace(REQUEST, query="cozy blanket for the sofa"))
    offered = [event.query for event in events if isinstance(event, QueryComplement)]
    assert 2 <= len(offered) <= 4
    for query in offered:
        further, _ = await plan(store, replace(REQUEST, query=query))
        assert rows(further), query


@pytest.mark.parametrize("query", ["hello", "thanks!", "what can you do?"])
async def test_small_talk_is_answered_without_rows(store: SearchProxy, query: str) -> None:
    """An answer, no flash of results. Source: design, strategies."""
    events, _ = await plan(store, replace(REQUEST, query=query))
    assert [type(event) for event in events] == [PlanDecision]
    assert isinstance(events[0], PlanDecision)
    assert events[0].strategy is Strategy.NO_MATCH
    assert events[0].message


async def test_a_vague_query_offers_categories_that_exist(store: SearchProxy) -> None:
    """Each option finds products of its own category. Source: design, strategies."""
    events, _ = await plan(store, replace(REQUEST, query="show me stuff"))
    assert isinstance(events[0], PlanDecision)
    assert events[0].strategy is Strategy.NEEDS_CLARIFICATION
    options = [event.query for event in events[1:] if isinstance(event, QueryComplement)]
    assert len(options) == 6
    for option in options:
        further, _ = await plan(store, replace(REQUEST, query=option))
        assert rows(further), option


async def test_demands_that_nothing_meets_are_given_up_and_said(store: SearchProxy) -> None:
    """A red mug under 2 euros does not exist; mugs do."""
    events, report = await plan(store, replace(REQUEST, query="red mug under 2"))
    assert report.warnings == ("demands_given_up",)
    assert any("Mug" in row.label for row in rows(events))
    assert [event.strategy for event in events if isinstance(event, PlanDecision)] == [
        Strategy.METADATA_ONLY,
        Strategy.CONTENT_ONLY,
    ]


@pytest.mark.parametrize(
    "query", ["xqzvw", "under 1", "🏕️", "over 20 under 10", "\\) OR *:*", "a" * 900, "cheapest"]
)
async def test_odd_queries_plan_without_an_error(store: SearchProxy, query: str) -> None:
    """Nothing that is typed can break the plan."""
    events, report = await plan(store, replace(REQUEST, query=query))
    assert report.source is PlanSource.CATALOG
    assert any(isinstance(event, PlanDecision) for event in events)


async def test_the_clients_filter_binds_every_count(store: SearchProxy) -> None:
    """Rows are chosen within what the client has filtered, which settles that field."""
    mine = TermFilter("brand", "Peatmoor")
    events, _ = await plan(store, replace(REQUEST, query="jacket for the rain", client_filter=mine))
    offered = rows(events)
    assert offered
    for row in offered:
        assert row.filter is not None
        assert "brand:" not in row.filter
        request = SearchRequest(
            index="store", q=row.query, limit=1, filter=merge_filters(mine, parse_filter(row.filter))
        )
        assert (await store.handle_search(CALLER, request)).total_hits >= 3


async def test_what_a_caller_may_not_see_is_in_no_label_option_or_example(backend: EmbeddedBackend) -> None:
    """The vocabulary is learned under the caller's rights, and kept apart. Source: design, view gate."""
    documents: list[Document] = [
        {"_id": f"{kind}{n}", "productTitle": f"{kind} number {n}", "category": kind, "visibility": group}
        for kind, group in (("Lamps", "public"), ("Rugs", "public"), ("Prototypes", "staff"))
        for n in range(5)
    ]
    await backend.add_documents("shop", "store", documents)
    planner = CatalogPlanner(SearchProxy(backend))
    public = replace(CALLER, key_kind="publishable", forced_filter=TermFilter("visibility", "public"))
    said: dict[str, str] = {}
    for name, caller in (("staff", CALLER), ("public", public)):
        events: list[PlanEvent] = []
        for query in ("hello", "show me stuff", "number"):
            await planner.plan(replace(REQUEST, caller=caller, query=query), events.append)
        said[name] = str(events)
    assert "Prototypes" in said["staff"]
    assert "rototypes" not in said["public"]
    assert "Lamps" in said["public"]


async def test_a_new_generation_is_learned_anew(backend: EmbeddedBackend) -> None:
    """A brand that arrives with the next write is a brand in the next query."""
    documents: list[Document] = [
        {"_id": f"a{n}", "productTitle": f"Lamp {n}", "category": "Lamps", "brand": "Acme"} for n in range(4)
    ]
    await backend.add_documents("shop", "store", documents)
    planner = CatalogPlanner(SearchProxy(backend))
    request = replace(REQUEST, query="zorblax lamp for the desk")
    before: list[PlanEvent] = []
    await planner.plan(request, before.append)
    renamed = [{**document, "_id": f"z{n}", "brand": "Zorblax"} for n, document in enumerate(documents)]
    await backend.add_documents("shop", "store", renamed)
    after: list[PlanEvent] = []
    await planner.plan(request, after.append)
    assert [event.strategy for event in (before[0], after[0]) if isinstance(event, PlanDecision)] == [
        Strategy.CONTENT_ONLY,
        Strategy.HYBRID,
    ]


async def test_without_filters_the_words_of_a_row_find_its_products(store: SearchProxy) -> None:
    """An account may switch filters off; then each row's query says what its label says."""
    events, _ = await plan(
        store, replace(REQUEST, query="something warm for a winter camping trip", allow_filters=False)
    )
    offered = rows(events)
    assert offered
    for row in offered:
        assert row.filter is None
        assert row.label.split()[-1].lower() in row.query
        found = await store.handle_search(CALLER, SearchRequest(index="store", q=row.query))
        assert found.total_hits >= 3


async def test_the_best_row_is_emitted_before_the_next_is_counted(store: SearchProxy) -> None:
    """A consumer that has had enough after one row has caused no further row."""

    class Enough(Exception):
        """The first row is all that is wanted."""

    emitted: list[PlanEvent] = []

    def emit(event: PlanEvent) -> None:
        emitted.append(event)
        if isinstance(event, QueryExpansion):
            raise Enough

    with pytest.raises(Enough):
        await CatalogPlanner(store).plan(replace(REQUEST, query="family tent"), emit)
    assert len(rows(emitted)) == 1


@pytest.mark.parametrize("limit", [0, 1, 3])
async def test_no_more_rows_than_asked_for(store: SearchProxy, limit: int) -> None:
    """The caller's limit binds in every shape of plan."""
    for query in ("family tent", "something warm for a winter camping trip", "gifts under 30 euros"):
        events, _ = await plan(store, replace(REQUEST, query=query, max_categories=limit))
        assert len(rows(events)) <= limit


async def test_a_catalog_without_any_category_plans_all_the_same(backend: EmbeddedBackend) -> None:
    """Titles and prices are enough for no error; what cannot be divided has no rows."""
    await backend.add_documents(
        "shop", "store", [{"_id": f"{n}", "productTitle": f"Thing {n}", "price": n} for n in range(12)]
    )
    events, report = await plan(SearchProxy(backend), replace(REQUEST, query="some thing under 100 please"))
    assert report.source is PlanSource.CATALOG
    assert isinstance(events[0], PlanDecision)


async def test_an_unknown_index_is_a_failed_plan(backend: EmbeddedBackend) -> None:
    """The seam's error, not the engine's. Source: worker.planning.planner."""
    planner = CatalogPlanner(SearchProxy(backend))
    events: list[PlanEvent] = []
    with pytest.raises(PlanningFailed, match="nowhere"):
        await planner.plan(replace(REQUEST, index="nowhere", query="tent"), events.append)
    assert events == []


async def test_rows_are_right_on_a_real_judged_catalog(shared_data: Path) -> None:
    """P@1 and coverage of relevant products at least .75 on real queries. Source: docs/strategies.md."""
    queries = icecat_queries()
    relevant = {queries[key]: products for key, products in icecat_relevant().items() if key in queries}
    async with open_catalog("bench", icecat_documents(with_category=True)) as proxy:
        planned = await plan_queries(proxy, list(queries.values()), rounds=0)
    quality = measure(planned, relevant, icecat_classes())
    assert quality.precision_at_1 >= 0.75
    assert quality.coverage >= 0.75
