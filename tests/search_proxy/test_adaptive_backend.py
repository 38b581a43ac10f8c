"""An engine that filters after ranking, adapted: what is chosen, what it costs, and what may be missed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from search_proxy.backends.adaptive import AdaptiveConfig, filtering_first
from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.filters import InFilter, parse_filter
from search_proxy.models import FacetField, FacetsRequest, Retrieval, SearchRequest, SearchResult, SortField
from tests.support.post_filtering import PostFilteringBackend, open_post_filtering
from tests.support.shop import products

pytestmark = pytest.mark.anyio

RARE = "brand:(Norrland) AND price:[40 TO 46]"
COMMON = "inStock:(true)"


@pytest.fixture
async def remote(tmp_path: Path) -> AsyncIterator[PostFilteringBackend]:
    """Return a post-filtering engine with the small shop of 120 products."""
    async with open_post_filtering(tmp_path / "remote") as engine:
        await engine.add_documents("demo", "shop", products())
        yield engine


@pytest.fixture
async def exact(tmp_path: Path) -> AsyncIterator[EmbeddedBackend]:
    """Return the engine that filters first, with the same products."""
    async with open_embedded(tmp_path / "exact") as engine:
        await engine.add_documents("demo", "shop", products())
        yield engine


def _request(filter_text: str | None, q: str | None = "warm camping trip", **more: object) -> SearchRequest:
    wanted = None if filter_text is None else parse_filter(filter_text)
    return SearchRequest(index="shop", q=q, filter=wanted, limit=12, **more)  # type: ignore[arg-type]


def _found(result: SearchResult) -> list[tuple[str, float | None]]:
    return [(hit["_id"], hit["_score"]) for hit in result.hits]


async def test_an_engine_that_filters_first_is_left_alone(exact: EmbeddedBackend) -> None:
    """Embedded, filtering first is exact and cheap at every size; the result says so."""
    assert filtering_first(exact, AdaptiveConfig()) is exact
    result = await exact.search("demo", _request(COMMON))
    assert result.retrieval == Retrieval(choice="filter_first", universe=96)
    assert (await exact.search("demo", _request(None))).retrieval is None


async def test_without_the_adapter_a_rare_filter_loses_hits(
    remote: PostFilteringBackend, exact: EmbeddedBackend
) -> None:
    """This is what is adapted: the page is ranked first, and little of it passes."""
    dropped = await remote.search("demo", _request(RARE))
    assert len(dropped.hits) < len((await exact.search("demo", _request(RARE))).hits)


@pytest.mark.parametrize("filter_text", [RARE, COMMON, "color:(red) OR NOT category:(Tents)"])
@pytest.mark.parametrize("limit", [0, 20, 1_000])
async def test_hits_totals_and_facets_are_those_of_filtering_first(
    remote: PostFilteringBackend, exact: EmbeddedBackend, filter_text: str, limit: int
) -> None:
    """Whichever way is chosen, as long as ranking went deep enough."""
    adapted = filtering_first(remote, AdaptiveConfig(scope_limit=limit))
    fields = (
        FacetField(name="color"),
        FacetField(name="price", kind="number"),
        FacetField(name="category", max_results=3),
    )
    sorts = (SortField(name="price"),)
    for request in (
        _request(filter_text, facets=FacetsRequest(fields=fields)),
        _request(filter_text, sort_by=sorts, offset=2),
        _request(filter_text, collapse=False, attributes_to_retrieve=("price",)),
        _request(filter_text, q="nosuchword"),
    ):
        mine, right = await adapted.search("demo", request), await exact.search("demo", request)
        assert _found(mine) == _found(right)
        assert mine.hits == right.hits
        assert (mine.total_hits, mine.facets, mine.universe_size) == (
            right.total_hits,
            right.facets,
            right.universe_size,
        )


async def test_a_small_universe_is_looked_at_once_and_handed_over_as_ids(
    remote: PostFilteringBackend,
) -> None:
    """One search without words, one within the ids. Source: seed, adaptive hybrid."""
    adapted = filtering_first(remote, AdaptiveConfig(scope_limit=10))
    result = await adapted.search("demo", _request(RARE))
    peek, scoped = remote.asked
    assert (peek.q, peek.limit, peek.attributes_to_retrieve) == (None, 10, ("_id",))
    assert isinstance(scoped.filter, InFilter)
    assert len(scoped.filter.values) == result.universe_size == 8
    assert result.retrieval == Retrieval(choice="scoped", universe=8)
    assert result.retrieval.to_wire() == {"choice": "scoped", "universe": 8}


async def test_a_large_universe_is_ranked_deep_and_dropped_from(remote: PostFilteringBackend) -> None:
    """The peek, one deep ranking without the filter, and one search within what passed."""
    adapted = filtering_first(remote, AdaptiveConfig(scope_limit=10))
    result = await adapted.search("demo", _request(COMMON))
    _, deep, scoped = remote.asked
    assert (deep.q, deep.filter, deep.limit) == ("warm camping trip", None, 1_000)
    assert isinstance(scoped.filter, InFilter)
    assert result.retrieval == Retrieval(choice="ranked_then_dropped", universe=96, ceiling=1_000)


async def test_a_ranking_that_was_cut_says_so(remote: PostFilteringBackend) -> None:
    """Fewer were ranked than matched, so that some that pass may be missing: the recall has a ceiling."""
    adapted = filtering_first(remote, AdaptiveConfig(scope_limit=10, depth=30))
    result = await adapted.search("demo", _request(COMMON))
    assert result.retrieval is not None
    assert result.retrieval.to_wire() == {
        "choice": "ranked_then_dropped",
        "universe": 96,
        "ceiling": 30,
        "cut": True,
    }
    assert 0 < result.total_hits <= 30


async def test_the_callers_forced_filter_binds_either_way(remote: PostFilteringBackend) -> None:
    """What a key may not see is in no hit, total or facet, nor in the ids that are handed over."""
    forced = parse_filter("brand:(Fellhorn)")
    facets = FacetsRequest(
        fields=(FacetField(name="brand"), FacetField(name="color", exclude_terms=("color:red",)))
    )
    for limit in (0, 1_000):
        adapted = filtering_first(remote, AdaptiveConfig(scope_limit=limit))
        request = _request("color:(red)", facets=facets, forced_filter=forced)
        result = await adapted.search("demo", request)
        assert set(result.facets["brand"]) <= {"Fellhorn"}
        assert set(result.facets["color"]) == {"green", "black"}


async def test_browsing_and_searches_without_a_filter_are_passed_on(remote: PostFilteringBackend) -> None:
    """There is nothing to bring together, so nothing is peeked at."""
    adapted = filtering_first(remote, AdaptiveConfig())
    for request in (
        _request(None),
        _request(COMMON, q=None),
        _request(COMMON, q="*"),
        _request(COMMON, q=""),
    ):
        remote.asked.clear()
        result = await adapted.search("demo", request)
        assert remote.asked == [request]
        assert result.retrieval is None
