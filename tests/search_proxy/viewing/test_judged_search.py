"""A permission service behind ranking: page, total and facets agree with what it lets through."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_proxy.backends.embedded import EmbeddedBackend
from search_proxy.errors import InvalidSearch
from search_proxy.models import FacetField, FacetsRequest, SearchRequest, SearchResult
from search_proxy.proxy import SearchProxy
from search_proxy.suggestions import suggest_queries
from search_proxy.viewing.gate import View
from search_proxy.viewing.gates import open_view_gates
from search_proxy.viewing.judging import judged_search
from tests.search_proxy.viewing.view_shop import ACCOUNT, INDEX, OWNER, open_view_shop, shopper
from tests.support.permission_service import PermissionService, allowing, permission_service, reply, saying

pytestmark = pytest.mark.anyio

_LAMPS = [
    {"_id": f"lamp-{number:02}", "productTitle": f"lamp {number}", "size": f"s{number}", "n": number}
    for number in range(40)
]
_SIZES = FacetsRequest(fields=(FacetField(name="size"),))
_ALL = SearchRequest(index="lamps", q="lamp", facets=_SIZES)


def _number(identifier: str) -> int:
    return int(identifier.removeprefix("lamp-"))


@asynccontextmanager
async def _shop(
    folder: Path, **view_gate: Any
) -> AsyncIterator[tuple[SearchProxy, EmbeddedBackend, PermissionService]]:
    """Yield a shop whose service refuses every third lamp to those who are not of gold."""
    rule = allowing(lambda asked, one: "gold" in asked["groups"] or _number(one) % 3 != 0)
    async with (
        asyncio.timeout(20),
        permission_service(rule) as service,
        open_view_gates([service.host]) as gates,
        open_view_shop(
            folder, {"kind": "http", "url": service.url, "timeout_ms": 5_000} | view_gate, gates
        ) as (
            proxy,
            backend,
        ),
    ):
        await backend.add_documents(ACCOUNT, "lamps", _LAMPS)
        yield proxy, backend, service


def _ids(result: SearchResult) -> list[str]:
    return [str(hit["_id"]) for hit in result.hits]


async def test_pages_are_full_and_no_hit_stands_on_two_of_them(tmp_path: Path) -> None:
    """What was taken out of a page moves the next ones up."""
    async with _shop(tmp_path) as (proxy, _, _service):
        pages = [
            await proxy.handle_search(shopper(), replace(_ALL, limit=5, offset=at)) for at in (0, 5, 10, 15)
        ]
        seen = [identifier for page in pages for identifier in _ids(page)]
        assert len(seen) == len(set(seen)) == 20
        assert all(_number(identifier) % 3 for identifier in seen)
        assert [(page.limit, page.offset) for page in pages] == [(5, 0), (5, 5), (5, 10), (5, 15)]


async def test_total_and_facets_are_without_what_was_withheld(tmp_path: Path) -> None:
    """And the number of it is told, to this caller alone."""
    async with _shop(tmp_path) as (proxy, _, _service):
        result = await proxy.handle_search(shopper(), replace(_ALL, limit=40))
        open_ones = {one["_id"] for one in _LAMPS if _number(str(one["_id"])) % 3}
        assert set(_ids(result)) == open_ones
        assert (result.total_hits, result.withheld) == (len(open_ones), len(_LAMPS) - len(open_ones))
        assert set(result.facets["size"]) == {one["size"] for one in _LAMPS if one["_id"] in open_ones}
        gold = await proxy.handle_search(shopper("gold"), replace(_ALL, limit=40))
        assert (gold.total_hits, gold.withheld, len(gold.hits)) == (40, 0, 40)
        assert (await proxy.handle_search(OWNER, replace(_ALL, limit=40))).total_hits == 40


async def test_one_page_that_nothing_is_taken_out_of_is_one_question(tmp_path: Path) -> None:
    """The account itself is not asked about; a page that is asked for again is remembered."""
    async with _shop(tmp_path) as (proxy, _, service):
        await proxy.handle_search(OWNER, _ALL)
        assert service.asked == []
        for _ in range(3):
            await proxy.handle_search(shopper("gold"), _ALL)
        assert len(service.asked) == 1


async def test_a_write_ends_what_was_remembered(tmp_path: Path) -> None:
    """A verdict belongs to the generation that it was given for."""
    async with _shop(tmp_path) as (proxy, backend, service):
        await proxy.handle_search(shopper("gold"), _ALL)
        await backend.add_documents(ACCOUNT, "lamps", [{"_id": "lamp-99", "productTitle": "other"}])
        service.behaviour = allowing(lambda asked, one: False)
        result = await proxy.handle_search(shopper("gold"), _ALL)
        assert (result.hits, result.is_closed) == ((), True)


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_page_that_is_no_page_stays_an_error(tmp_path: Path, limit: int) -> None:
    """Judging from the first hit on repairs no request."""
    async with _shop(tmp_path) as (proxy, _, _service):
        with pytest.raises(InvalidSearch):
            await proxy.handle_search(shopper(), replace(_ALL, limit=limit, offset=10))
        with pytest.raises(InvalidSearch):
            await proxy.handle_search(shopper(), replace(_ALL, limit=10, offset=-5))


async def test_a_service_that_fails_leaves_no_hit_no_count_and_no_value(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says why and how many, and names none."""
    caplog.set_level(logging.INFO)
    async with _shop(tmp_path) as (proxy, backend, service):
        service.behaviour = saying(reply(b"", "500 Oops"))
        result = await proxy.handle_search(shopper("gold"), replace(_ALL, limit=7))
        assert (result.hits, result.total_hits, result.facets) == ((), 0, {"size": {}})
        assert (result.withheld, result.is_closed, result.universe_size) == (7, True, None)
        found = await proxy.get_documents(shopper("gold"), "lamps", ["lamp-01"])
        assert found[0].document is None
        assert await suggest_queries(backend, proxy, shopper("gold"), "lamps", "lam", 5) == []
    failures = [record for record in caplog.records if record.msg == "view_gate_failed"]
    assert {record.__dict__["reason"] for record in failures} == {"status"}
    assert failures[0].__dict__["withheld"] == 7
    assert "lamp-" not in " ".join(str(record.__dict__) for record in caplog.records)


async def test_documents_and_completions_ask_the_service_too(tmp_path: Path) -> None:
    """A document that it refuses is absent; a phrase that only such ones have is not offered."""
    async with _shop(tmp_path) as (proxy, backend, _):
        asked = ["lamp-00", "lamp-01", "lamp-03"]
        found = await proxy.get_documents(shopper(), "lamps", asked)
        assert [entry.document is not None for entry in found] == [False, True, False]
        gold = await proxy.get_documents(shopper("gold"), "lamps", asked)
        assert all(entry.document is not None for entry in gold)
        twice = [{"_id": f"lamp-{n}", "productTitle": "sapphire lamp"} for n in (60, 63)]
        await backend.add_documents(ACCOUNT, "lamps", twice)
        assert await suggest_queries(backend, proxy, shopper(), "lamps", "sapph", 5) == []
        assert "sapphire lamp" in await suggest_queries(backend, proxy, shopper("gold"), "lamps", "sapph", 5)


async def test_what_groups_do_not_open_is_not_even_asked_about(tmp_path: Path) -> None:
    """The service decides over what retrieval let through, never beyond it."""
    async with _shop(tmp_path) as (proxy, _, service):
        service.behaviour = allowing(lambda asked, one: True)
        result = await proxy.handle_search(shopper(), SearchRequest(index=INDEX, q="tent"))
        assert set(_ids(result)) == {"open-1", "open-2", "all-1"}
        assert all(set(asked["ids"]) <= {"open-1", "open-2", "all-1"} for asked in service.asked)


async def test_where_a_service_judges_nothing_of_it_may_be_kept_for_others(tmp_path: Path) -> None:
    """The description says so, and what caches go by differs from that of another gate."""
    async with _shop(tmp_path) as (proxy, _, _service):
        described = await proxy.describe_index(shopper(), "lamps")
        assert described.is_judged
        assert described.rights
        assert not (await proxy.describe_index(OWNER, "lamps")).is_judged


class _Shelf:
    """A search over numbers, best first, that can leave some out; and a gate with refusals of its own."""

    def __init__(self, size: int, refused: set[int]) -> None:
        self.size = size
        self.refused = refused
        self.judged = 0

    async def search(self, request: SearchRequest) -> SearchResult:
        """Return the page of those that the filter leaves."""
        text = str(request.filter or "")
        left = [n for n in range(self.size) if f"({n})" not in text]
        page = left[request.offset : request.offset + request.limit]
        return SearchResult(
            hits=tuple({"_id": str(n), "_score": 1.0} for n in page),
            total_hits=len(left),
            facets={"n": {str(n): {"count": 1} for n in left}},
            query=None,
            limit=request.limit,
            offset=request.offset,
            processing_time_ms=0.1,
            generation="1",
        )

    async def allowed(self, view: View, hits: Any) -> frozenset[str]:
        """Return those that are not refused."""
        self.judged = max(self.judged, len(hits))
        return frozenset(str(hit["_id"]) for hit in hits if int(hit["_id"]) not in self.refused)


@settings(max_examples=200, deadline=None)
@given(
    size=st.integers(0, 60),
    refused=st.sets(st.integers(0, 59)),
    offset=st.integers(0, 40),
    limit=st.integers(1, 30),
    from_the_first=st.booleans(),
)
async def test_whatever_is_refused_nothing_of_it_is_shown_and_nothing_else_is_lost(
    size: int, refused: set[int], offset: int, limit: int, from_the_first: bool
) -> None:
    """Hits are allowed and in order; total and facets have none of the refused that were judged."""
    shelf = _Shelf(size, refused)
    view = View(account_id="a", index="i", groups=frozenset(), generation=None)
    request = SearchRequest(index="i", q="x", limit=limit, offset=offset)
    result = await judged_search(shelf.search, shelf, view, request, from_the_first=from_the_first)
    numbers = [int(hit["_id"]) for hit in result.hits]
    assert numbers == sorted(set(numbers))
    assert not set(numbers) & refused
    assert len(numbers) <= limit
    assert result.total_hits == len(result.facets["n"]) == size - result.withheld
    assert result.withheld <= len({n for n in refused if n < size})
    allowed = [n for n in range(size) if n not in refused]
    if from_the_first and len(refused) <= limit:
        assert numbers == allowed[offset : offset + limit]
