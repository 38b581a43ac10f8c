"""What the product side shows to whom: hits, totals, facets, documents, descriptions, completions, errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from search_proxy.backends.embedded import EmbeddedBackend
from search_proxy.caller import Caller
from search_proxy.errors import InvalidSearch, UnknownField
from search_proxy.filters import AndFilter, NotFilter, parse_filter
from search_proxy.models import (
    FacetField,
    FacetsRequest,
    FoundDocument,
    IndexDescription,
    SearchRequest,
    SearchResult,
    SortField,
)
from search_proxy.proxy import SearchProxy
from search_proxy.suggestions import suggest_queries
from tests.search_proxy.test_http_bindings import product_side
from tests.search_proxy.viewing.view_shop import (
    INDEX,
    OWNER,
    PRODUCTS,
    SEEN,
    open_view_shop,
    settings_of,
    shopper,
)

pytestmark = pytest.mark.anyio

_FACETS = FacetsRequest(fields=(FacetField(name="color"), FacetField(name="price", kind="number")))
_TENTS = SearchRequest(index=INDEX, q="tent", facets=_FACETS)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[tuple[SearchProxy, EmbeddedBackend]]:
    """Return the shop with an account's default settings."""
    async with open_view_shop(tmp_path) as opened:
        yield opened


def _ids(result: SearchResult) -> set[str]:
    return {str(hit["_id"]) for hit in result.hits}


@pytest.mark.parametrize("groups", list(SEEN))
@pytest.mark.parametrize("query", ["tent", None])
async def test_hits_totals_and_facets_are_of_what_the_groups_open(
    shop: tuple[SearchProxy, EmbeddedBackend], groups: tuple[str, ...], query: str | None
) -> None:
    """Ranked or browsed; a group that no document names opens nothing more."""
    result = await shop[0].handle_search(shopper(*groups), replace(_TENTS, q=query))
    seen = [product for product in PRODUCTS if product["_id"] in SEEN[groups]]
    assert _ids(result) == SEEN[groups]
    assert (result.total_hits, result.universe_size, result.withheld) == (len(seen), len(seen), 0)
    assert set(result.facets["color"]) == {product["color"] for product in seen}
    prices = [product["price"] for product in seen if "price" in product]
    assert result.facets["price"]["max"] == max(prices)
    assert result.facets["price"]["count"] == len(prices)


async def test_the_account_itself_sees_everything(shop: tuple[SearchProxy, EmbeddedBackend]) -> None:
    """And what documents say of who may see them; a key with groups is a shopper's, also a secret one."""
    wanted = replace(_TENTS, attributes_to_retrieve=("*",), filter=parse_filter("visibleTo:gold"))
    found = await shop[0].handle_search(OWNER, wanted)
    assert [(hit["_id"], hit["visibleTo"]) for hit in found.hits] == [("gold-1", ["gold", "resellers"])]
    assert (await shop[0].handle_search(OWNER, _TENTS)).total_hits == len(PRODUCTS)
    bound = replace(OWNER, groups=frozenset({"silver"}))
    assert _ids(await shop[0].handle_search(bound, _TENTS)) == SEEN[("silver",)]


@pytest.mark.parametrize("attributes", [("*",), ("visibleTo", "productTitle"), None, ()])
async def test_who_else_may_see_a_product_is_told_to_no_shopper(
    shop: tuple[SearchProxy, EmbeddedBackend], attributes: tuple[str, ...] | None
) -> None:
    """Groups are other customers."""
    wanted = replace(_TENTS, attributes_to_retrieve=attributes, explain=True)
    result = await shop[0].handle_search(shopper("gold"), wanted)
    assert "visibleTo" not in str(result)
    assert "resellers" not in str(result)
    found = await shop[0].get_documents(shopper("gold"), INDEX, ["gold-1"])
    assert found[0].document is not None
    assert "visibleTo" not in found[0].document


@pytest.mark.parametrize(
    "asked",
    [
        {"filter": parse_filter("visibleTo:gold")},
        {"filter": parse_filter("color:red AND NOT visibleTo IN (gold, silver)")},
        {"filter": parse_filter("_visibleTo:gold")},
        {"filter": parse_filter("visibleTo.group:gold")},
        {"facets": FacetsRequest(fields=(FacetField(name="visibleTo"),))},
        {"facets": FacetsRequest(fields=(FacetField(name="_visibleTo"),))},
        {"sort_by": (SortField(name="visibleTo"),)},
    ],
)
async def test_no_shopper_can_ask_who_may_see_what(
    shop: tuple[SearchProxy, EmbeddedBackend], asked: dict[str, Any]
) -> None:
    """Neither by filtering, nor by counting, nor by ordering."""
    with pytest.raises(UnknownField):
        await shop[0].handle_search(shopper("gold"), replace(_TENTS, **asked))


@pytest.mark.parametrize(
    "lifted", ["_visibleTo IN ((), (*))", "_visibleTo IN ((), (*), (gold))", "_visibleTo:(gold)"]
)
async def test_no_excluded_term_lifts_the_rule(
    shop: tuple[SearchProxy, EmbeddedBackend], lifted: str
) -> None:
    """A facet that leaves a term out leaves out none of the account's."""
    facets = FacetsRequest(fields=(FacetField(name="color", exclude_terms=(lifted,)),))
    wanted = replace(_TENTS, filter=parse_filter("color:red"), facets=facets)
    try:
        result = await shop[0].handle_search(shopper(), wanted)
    except InvalidSearch:
        return
    assert set(result.facets["color"]) <= {"red"}


async def test_an_unknown_field_is_told_with_the_fields_that_are_seen(
    shop: tuple[SearchProxy, EmbeddedBackend],
) -> None:
    """What only other customers' products have is not named."""
    wanted = replace(_TENTS, filter=parse_filter("colour:red"))
    with pytest.raises(UnknownField) as refused:
        await shop[0].handle_search(shopper(), wanted)
    assert "'color'" in str(refused.value)
    assert "edition" not in str(refused.value)
    assert "visibleTo" not in str(refused.value)
    with pytest.raises(UnknownField, match="'edition'"):
        await shop[0].handle_search(shopper("gold"), wanted)


@pytest.mark.parametrize("groups", list(SEEN))
async def test_documents_are_fetched_by_those_who_may_see_them(
    shop: tuple[SearchProxy, EmbeddedBackend], groups: tuple[str, ...]
) -> None:
    """The others get what an id gets that was never given."""
    asked = [str(product["_id"]) for product in PRODUCTS] + ["no-such"]
    found = await shop[0].get_documents(shopper(*groups), INDEX, asked)
    assert [entry.id for entry in found] == asked
    assert {entry.id for entry in found if entry.document is not None} == SEEN[groups]


async def test_a_description_is_of_what_is_seen(shop: tuple[SearchProxy, EmbeddedBackend]) -> None:
    """Fields, values and bounds; callers who see the same have the same rights in it."""
    nobody = await shop[0].describe_index(shopper(), INDEX)
    gold = await shop[0].describe_index(shopper("gold"), INDEX)
    assert {field.name for field in nobody.fields} == {"productTitle", "color", "brand", "price"}
    assert {field.name for field in gold.fields} == {"productTitle", "color", "brand", "price", "edition"}
    assert (nobody.documents, gold.documents) == (3, 4)
    price, brand = nobody.field("price"), nobody.field("brand")
    assert price is not None
    assert brand is not None
    assert (price.maximum, brand.top_values) == (30.0, (("Fellhorn", 2),))
    owner = await shop[0].describe_index(OWNER, INDEX)
    assert owner.field("visibleTo") is not None
    rights = {nobody.rights, gold.rights, owner.rights}
    assert len(rights - {""}) == 3
    assert (await shop[0].describe_index(shopper("gold"), INDEX)).rights == gold.rights


async def test_a_forced_filter_binds_the_description_too(shop: tuple[SearchProxy, EmbeddedBackend]) -> None:
    """The commonest values and the bounds are those of the part that the key opens."""
    bound = await shop[0].describe_index(shopper("gold", forced="price:[* TO 15]"), INDEX)
    price, color = bound.field("price"), bound.field("color")
    assert price is not None
    assert color is not None
    assert (bound.documents, price.minimum, price.maximum) == (1, 10.0, 10.0)
    assert color.top_values == (("red", 1),)
    owner = await shop[0].describe_index(replace(OWNER, forced_filter=parse_filter("color:green")), INDEX)
    assert (owner.documents, bool(owner.rights)) == (1, True)


async def test_a_forced_filter_over_no_field_names_none(shop: tuple[SearchProxy, EmbeddedBackend]) -> None:
    """A key that was set up wrongly opens nothing, the names of fields included."""
    wrong = shopper("gold", forced="nosuchfield:1")
    for asked in (shop[0].describe_index(wrong, INDEX), shop[0].handle_search(wrong, _TENTS)):
        with pytest.raises(UnknownField) as refused:
            await asked
        assert "color" not in str(refused.value)
    assert (await shop[0].get_documents(wrong, INDEX, ["open-1"]))[0].document is None


@pytest.mark.parametrize(("groups", "expected"), [((), set()), (("gold",), {"gilded", "gilded tent"})])
async def test_completions_are_of_what_is_seen(
    tmp_path: Path, groups: tuple[str, ...], expected: set[str]
) -> None:
    """A phrase of others' products is not offered."""
    async with open_view_shop(tmp_path) as (proxy, backend):
        twice = [{**product, "_id": f"{product['_id']}-2"} for product in PRODUCTS]
        await backend.add_documents("acme", INDEX, twice)
        found = await suggest_queries(backend, proxy, shopper(*groups), INDEX, "gild", 10)
        assert set(found) == expected
        assert "gilded tent" in await suggest_queries(backend, proxy, OWNER, INDEX, "gild", 10)


async def test_what_the_index_knows_of_words_is_not_explained(
    shop: tuple[SearchProxy, EmbeddedBackend],
) -> None:
    """A mistyped word of a product that is not seen would be repaired, and told."""
    asked = replace(_TENTS, q="silverd tent", explain=True)
    for groups in ((), ("silver",)):
        result = await shop[0].handle_search(shopper(*groups), asked)
        assert all(set(hit["_explain"]) <= {"lanes", "fields"} for hit in result.hits)
        assert result.hits
    owners = (await shop[0].handle_search(OWNER, asked)).hits[0]
    assert owners["_explain"]["replaced"] == {"silverd": "silver"}


async def test_where_the_field_is_required_silence_hides(tmp_path: Path) -> None:
    """From the moment that the account says so."""
    async with open_view_shop(tmp_path, {"require_field": True}) as (proxy, _):
        assert _ids(await proxy.handle_search(shopper(), _TENTS)) == {"all-1"}
        assert _ids(await proxy.handle_search(shopper("gold"), _TENTS)) == {"all-1", "gold-1"}
        assert (await proxy.describe_index(shopper(), INDEX)).documents == 1
        found = await proxy.get_documents(shopper(), INDEX, ["open-1", "all-1"])
        assert [entry.document is None for entry in found] == [True, False]


@pytest.mark.parametrize("stored", [{"kind": "closed"}, {"kind": "of-a-later-release"}, {"require": 1}])
async def test_a_gate_that_is_closed_or_cannot_be_read_shows_shoppers_nothing(
    tmp_path: Path, stored: dict[str, Any]
) -> None:
    """Neither hits nor counts nor values; the account itself goes on."""
    async with open_view_shop(tmp_path, stored) as (proxy, backend):
        result = await proxy.handle_search(shopper("gold"), _TENTS)
        assert (result.hits, result.total_hits, result.facets["color"]) == ((), 0, {})
        described = await proxy.describe_index(shopper("gold"), INDEX)
        assert (described.documents, described.fields) == (0, ())
        assert (await proxy.get_documents(shopper("gold"), INDEX, ["open-1"]))[0].document is None
        assert await suggest_queries(backend, proxy, shopper("gold"), INDEX, "te", 10) == []
        assert (await proxy.handle_search(OWNER, _TENTS)).total_hits == len(PRODUCTS)


async def test_an_index_that_keeps_nothing_from_anybody_is_described_as_it_is(tmp_path: Path) -> None:
    """No rights in it: caches are shared as if there were no rule."""
    async with open_view_shop(tmp_path) as (proxy, backend):
        await backend.add_documents("acme", "plain", [{"_id": "a", "color": "red"}])
        described = await proxy.describe_index(shopper("gold"), "plain")
        assert described == await backend.describe("acme", "plain")
        assert described.rights == ""


class _LaggingBackend:
    """An engine whose index lags behind its documents: it lets through what the filter would not."""

    def __init__(self, backend: EmbeddedBackend) -> None:
        self._backend = backend

    async def search(self, account_id: str, request: SearchRequest) -> SearchResult:
        """Search without what the account's rights put into the filter, but for what was found out since."""
        found_out = isinstance(request.filter, AndFilter) and isinstance(request.filter.right, NotFilter)
        own = request.filter.right if found_out and isinstance(request.filter, AndFilter) else None
        return await self._backend.search(account_id, replace(request, filter=own, forced_filter=None))

    async def get_documents(self, account_id: str, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return the documents."""
        return await self._backend.get_documents(account_id, index, ids)

    async def describe(self, account_id: str, index: str, wanted: object = None) -> IndexDescription:
        """Return the description."""
        return await self._backend.describe(account_id, index)

    async def list_indexes(self, account_id: str) -> Sequence[str]:
        """Return the indexes."""
        return await self._backend.list_indexes(account_id)


@pytest.mark.parametrize("caller", [shopper(), shopper("gold"), shopper("gold", "silver")])
async def test_what_retrieval_lets_through_by_mistake_is_found_by_the_local_gate(
    tmp_path: Path, caller: Caller
) -> None:
    """Page, total and facets are without it, and the number of what was taken out is told."""
    async with open_view_shop(tmp_path) as (_, backend):
        proxy = SearchProxy(_LaggingBackend(backend), settings_of())
        seen = SEEN[tuple(sorted(caller.groups))]
        for limit in (1, 2, 3, 10):
            result = await proxy.handle_search(caller, replace(_TENTS, limit=limit, collapse=False))
            assert _ids(result) <= seen
            assert len(result.hits) == min(limit, len(seen))
        whole = await proxy.handle_search(caller, replace(_TENTS, collapse=False))
        assert (whole.total_hits, whole.withheld) == (len(seen), len(PRODUCTS) - len(seen))
        assert set(whole.facets["color"]) == {one["color"] for one in PRODUCTS if one["_id"] in seen}
        without = SearchProxy(_LaggingBackend(backend), settings_of({"kind": "none"}))
        assert len(_ids(await without.handle_search(caller, _TENTS))) == len(PRODUCTS)


@pytest.mark.parametrize("groups", [(), ("gold",), ("gold", "silver")])
async def test_a_product_side_in_another_process_holds_groups_to_the_same(
    shop: tuple[SearchProxy, EmbeddedBackend], groups: tuple[str, ...]
) -> None:
    """The groups travel in signed facts; what the worker says of rights is not taken."""
    local = shop[0]
    async with product_side(local) as remote:
        caller = shopper(*groups)
        widened = replace(_TENTS, forced_filter=parse_filter("price:[0 TO 9999]"), limit=20)
        found = await remote.handle_search(caller, widened)
        assert _ids(found) == SEEN[groups]
        assert (found.total_hits, found.withheld) == (len(SEEN[groups]), 0)
        assert await remote.describe_index(caller, INDEX) == await local.describe_index(caller, INDEX)
        asked = ["open-1", "gold-1", "silver-1"]
        assert await remote.get_documents(caller, INDEX, asked) == await local.get_documents(
            caller, INDEX, asked
        )
