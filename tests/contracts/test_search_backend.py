"""What every search backend promises, whichever engine is behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from search_proxy.backends.adaptive import AdaptiveConfig
from search_proxy.backends.embedded import open_embedded
from search_proxy.errors import IndexNotFound, InvalidSearch, UnknownField
from search_proxy.filters import visibility_filter
from search_proxy.models import (
    FacetField,
    FacetRange,
    FacetsRequest,
    FoundDocument,
    SearchRequest,
    SortField,
)
from tests.contracts.search_backend_cases import ACCOUNT, INDEX, PRODUCTS, WritableBackend, ids, request
from tests.support.post_filtering import AdaptedEngine, open_post_filtering

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["embedded", "scoped to ids", "ranked, then dropped"])
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[WritableBackend]:
    """Return each backend in turn, with the catalog loaded."""
    if request.param == "embedded":
        async with open_embedded(tmp_path) as opened:
            await opened.add_documents(ACCOUNT, INDEX, PRODUCTS)
            yield opened
        return
    limit = 1_000 if request.param == "scoped to ids" else 0
    async with open_post_filtering(tmp_path) as remote:
        await remote.add_documents(ACCOUNT, INDEX, PRODUCTS)
        yield AdaptedEngine(remote, AdaptiveConfig(scope_limit=limit))


async def test_a_query_finds_products_best_first_with_scores(backend: WritableBackend) -> None:
    """A word in the title stands above one in the description; scores descend."""
    result = await backend.search(ACCOUNT, request("tents"))
    assert set(ids(result)[:2]) & {"shelter"}
    assert ids(result)[2] == "stove"
    scores = [hit["_score"] for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)
    assert result.total_hits == 3


async def test_variants_collapse_to_their_product_unless_asked_otherwise(backend: WritableBackend) -> None:
    """One hit per parent, counted once. Source: design 3.6a."""
    collapsed = await backend.search(ACCOUNT, request("alpine"))
    assert len(ids(collapsed)) == collapsed.total_hits == 1
    every = await backend.search(ACCOUNT, request("alpine", collapse=False))
    assert sorted(ids(every)) == ["tent-green", "tent-red"]


@pytest.mark.parametrize("query", [None, "*"])
async def test_browsing_returns_everything_unscored(backend: WritableBackend, query: str | None) -> None:
    """Nothing was ranked, so there is no score."""
    result = await backend.search(ACCOUNT, request(query))
    assert result.total_hits == 4
    assert [hit["_score"] for hit in result.hits] == [None] * 4


@pytest.mark.parametrize("query", ["", "  ", "?!", "nosuchwordanywhere"])
async def test_a_query_without_a_known_word_finds_nothing(backend: WritableBackend, query: str) -> None:
    """An empty query matches nothing, whatever the filter."""
    result = await backend.search(ACCOUNT, request(query, filter_text="color:red"))
    assert (result.hits, result.total_hits) == ((), 0)


@pytest.mark.parametrize(
    "query",
    ['"', "a:b AND (", "NOT", "+ - ~ ^2 [* TO", "\\", "tent*", "\x00", "\ud800 tent", "🏕 tent", "x" * 10_000],
)
async def test_no_text_is_an_error(backend: WritableBackend, query: str) -> None:
    """What a shopper types is words, never syntax."""
    result = await backend.search(ACCOUNT, request(query))
    assert result.query == query


async def test_the_filter_comes_before_everything(backend: WritableBackend) -> None:
    """Hits, totals, facets and the universe are those of the documents that pass."""
    result = await backend.search(
        ACCOUNT, request("tent", filter_text="color:green", facets=[FacetField(name="color")])
    )
    assert sorted(ids(result)) == ["shelter", "tent-green"]
    assert (result.total_hits, result.universe_size) == (2, 2)
    assert result.facets == {"color": {"green": {"count": 2}}}


async def test_a_facet_counts_products_as_often_as_they_are_shown(backend: WritableBackend) -> None:
    """Collapsed, a product counts once per value; choosing the value gives that total."""
    fields = [FacetField(name="productCollections", kind="array"), FacetField(name="color")]
    result = await backend.search(ACCOUNT, request(facets=fields))
    assert result.facets["productCollections"] == {
        "Camping": {"count": 2},
        "Cooking": {"count": 2},
        "Tents": {"count": 2},
    }
    for value, counted in result.facets["productCollections"].items():
        chosen = await backend.search(ACCOUNT, request(filter_text=f"productCollections:({value})"))
        assert chosen.total_hits == counted["count"]
    assert result.facets["color"]["green"] == {"count": 2}


async def test_facets_are_ordered_by_count_and_cut_at_their_limit(backend: WritableBackend) -> None:
    """Descending by default, then by value."""
    fields = [FacetField(name="color", max_results=2), FacetField(name="inStock", order="asc")]
    result = await backend.search(ACCOUNT, request(facets=fields, collapse=False))
    assert list(result.facets["color"].items()) == [("green", {"count": 2}), ("Red", {"count": 1})]
    assert list(result.facets["inStock"].items()) == [("false", {"count": 1}), ("true", {"count": 2})]


async def test_a_number_facet_has_statistics_and_ranges(backend: WritableBackend) -> None:
    """A range includes its start and not its end. Source: engine API, facets."""
    prices = FacetField(name="price", kind="number")
    ranges = FacetField(
        name="price",
        kind="number",
        ranges=(
            FacetRange(end=89.0),
            FacetRange(start=89.0, end=199.0, name="middle"),
            FacetRange(start=199.0),
        ),
    )
    whole = await backend.search(ACCOUNT, request(facets=[prices], collapse=False))
    assert whole.facets["price"] == {"min": 45.5, "max": 209.0, "avg": 542.5 / 4, "sum": 542.5, "count": 4}
    parts = await backend.search(ACCOUNT, request(facets=[ranges], collapse=False))
    assert {name: part["count"] for name, part in parts.facets["price"].items()} == {
        "-Inf:89": 1,
        "middle": 1,
        "199:Inf": 2,
    }


async def test_a_facet_without_values_is_empty(backend: WritableBackend) -> None:
    """The field is known, nothing has it."""
    result = await backend.search(ACCOUNT, request("mug", facets=[FacetField(name="brand", kind="array")]))
    assert result.facets == {"brand": {}}


async def test_an_excluded_term_widens_only_its_own_facet(backend: WritableBackend) -> None:
    """Multi-select: the chosen colour does not hide the others. Source: engine API, excludeTerms."""
    fields = [FacetField(name="color", exclude_terms=("color:green",)), FacetField(name="inStock")]
    result = await backend.search(
        ACCOUNT, request("tent", filter_text="color:green AND price:[* TO 500]", facets=fields)
    )
    assert result.facets["color"] == {"green": {"count": 2}, "Red": {"count": 1}, "red": {"count": 1}}
    assert result.facets["inStock"] == {"false": {"count": 1}, "true": {"count": 1}}


async def test_an_excluded_term_widens_its_facet_also_where_nothing_is_found(
    backend: WritableBackend,
) -> None:
    """The way back from a choice that left nothing is shown."""
    fields = [FacetField(name="color", exclude_terms=("color:blue",)), FacetField(name="inStock")]
    result = await backend.search(
        ACCOUNT, request("tent", filter_text="color:blue AND price:[* TO 100]", facets=fields)
    )
    assert (result.hits, result.total_hits) == ((), 0)
    assert result.facets == {"color": {"Red": {"count": 1}, "green": {"count": 1}}, "inStock": {}}


async def test_sorting_puts_missing_values_where_asked(backend: WritableBackend) -> None:
    """Missing goes last by default, in both directions."""
    cheapest = await backend.search(ACCOUNT, request(sort_by=[SortField(name="price", order="asc")]))
    assert ids(cheapest) == ["stove", "shelter", "tent-red", "mug"]
    dearest = await backend.search(ACCOUNT, request(sort_by=[SortField(name="price")]))
    assert ids(dearest) == ["tent-green", "shelter", "stove", "mug"]
    first = await backend.search(
        ACCOUNT, request(sort_by=[SortField(name="price", order="asc", missing="first")], limit=2)
    )
    assert ids(first) == ["mug", "stove"]


async def test_sorting_by_several_fields_decides_ties_by_the_next(backend: WritableBackend) -> None:
    """Text sorts without case; the second field decides among equals."""
    result = await backend.search(
        ACCOUNT,
        request(
            sort_by=[SortField(name="color", order="asc"), SortField(name="price", order="asc")],
            collapse=False,
        ),
    )
    assert ids(result)[:3] == ["mug", "shelter", "tent-green"]
    assert set(ids(result)[3:]) == {"stove", "tent-red"}


@pytest.mark.parametrize("query", [None, "tent"])
@pytest.mark.parametrize("sort_by", [(), (SortField(name="inStock", order="asc"),)])
async def test_pages_never_skip_or_repeat(
    backend: WritableBackend, query: str | None, sort_by: tuple[SortField, ...]
) -> None:
    """Equal scores and equal keys are decided the same way every time."""
    whole = await backend.search(ACCOUNT, request(query, sort_by=sort_by, collapse=False))
    pages = [
        ids(
            await backend.search(ACCOUNT, request(query, sort_by=sort_by, collapse=False, limit=1, offset=at))
        )
        for at in range(whole.total_hits)
    ]
    assert sum(pages, []) == ids(whole)


async def test_hits_carry_the_attributes_that_were_asked_for(backend: WritableBackend) -> None:
    """`*` is everything; the id and the score always come."""
    (named,) = (await backend.search(ACCOUNT, request("mug", attributes=("color", "nothing")))).hits
    assert dict(named) == {"color": "blue", "_id": "mug", "_score": named["_score"]}
    (whole,) = (await backend.search(ACCOUNT, request("mug", attributes=("*",)))).hits
    assert dict(whole) == {**PRODUCTS[4], "_score": whole["_score"]}
    (default,) = (await backend.search(ACCOUNT, request("mug"))).hits
    assert set(default) == {"_id", "_score", "productTitle", "productCollections"}


@pytest.mark.parametrize(("limit", "offset"), [(0, 0), (-1, 0), (1_001, 0), (10, -1), (10, 10_001)])
async def test_limits_out_of_range_are_refused(backend: WritableBackend, limit: int, offset: int) -> None:
    """The message says what would be right."""
    with pytest.raises(InvalidSearch, match=r"(limit must be 1 to 1000|offset must be 0 to 10000), not"):
        await backend.search(ACCOUNT, request(limit=limit, offset=offset))


async def test_unknown_fields_are_refused_wherever_they_stand(backend: WritableBackend) -> None:
    """Filter, facets and sort alike."""
    for asked in (
        request(filter_text="colour:red"),
        request(facets=[FacetField(name="colour")]),
        request(sort_by=[SortField(name="colour")]),
    ):
        with pytest.raises(UnknownField, match="'colour'"):
            await backend.search(ACCOUNT, asked)


async def test_documents_come_back_in_the_order_of_the_ids(backend: WritableBackend) -> None:
    """An unknown id has no document."""
    found = await backend.get_documents(ACCOUNT, INDEX, ["mug", "nothing", "stove"])
    assert list(found) == [
        FoundDocument(id="mug", document=PRODUCTS[4]),
        FoundDocument(id="nothing", document=None),
        FoundDocument(id="stove", document=PRODUCTS[3]),
    ]


async def test_an_index_is_described_by_its_fields(backend: WritableBackend) -> None:
    """Kinds, counts, commonest values, bounds, and the field that names the category."""
    described = await backend.describe(ACCOUNT, INDEX)
    assert (described.documents, described.products, described.category_field) == (5, 4, "productCollections")
    price = described.field("price")
    assert price is not None
    assert (price.kind, price.documents, price.minimum, price.maximum) == ("number", 4, 45.5, 209.0)
    collections = described.field("productCollections")
    assert collections is not None
    assert (collections.kind, collections.top_values) == (
        "array",
        (("Camping", 3), ("Tents", 3), ("Cooking", 2)),
    )
    stock = described.field("inStock")
    assert stock is not None
    assert (stock.kind, stock.top_values) == ("boolean", (("true", 2), ("false", 1)))


async def test_a_write_replaces_by_id_and_is_searchable_at_once(backend: WritableBackend) -> None:
    """The call returns when the write can be found; the generation is another."""
    before = await backend.describe(ACCOUNT, INDEX)
    written = await backend.add_documents(
        ACCOUNT,
        INDEX,
        [{"_id": "mug", "productTitle": "Steel cup"}, {"_id": "mug", "productTitle": "Tin cup"}],
    )
    assert written == 1
    assert ids(await backend.search(ACCOUNT, request("mug"))) == []
    (hit,) = (await backend.search(ACCOUNT, request("cup"))).hits
    assert hit["productTitle"] == "Tin cup"
    after = await backend.describe(ACCOUNT, INDEX)
    assert after.documents == before.documents
    assert after.generation != before.generation


async def test_deleted_documents_are_gone_from_everything(backend: WritableBackend) -> None:
    """Search, browse, facets, filters and ids; the return value counts those that existed."""
    assert await backend.delete_documents(ACCOUNT, INDEX, ["mug", "nothing", "mug"]) == 1
    assert ids(await backend.search(ACCOUNT, request("mug"))) == []
    result = await backend.search(ACCOUNT, request(facets=[FacetField(name="color")]))
    assert "blue" not in result.facets["color"]
    assert result.total_hits == 3
    assert ids(await backend.search(ACCOUNT, request(filter_text="_id:mug OR color:blue"))) == []
    (found,) = await backend.get_documents(ACCOUNT, INDEX, ["mug"])
    assert found.document is None


async def test_accounts_see_nothing_of_each_other(backend: WritableBackend) -> None:
    """The same index name is another index for another account."""
    await backend.add_documents("other", INDEX, [{"_id": "secret", "productTitle": "Secret tent"}])
    assert ids(await backend.search("other", request("tent"))) == ["secret"]
    assert "secret" not in ids(await backend.search(ACCOUNT, request("tent")))
    assert list(await backend.list_indexes("other")) == [INDEX]
    assert list(await backend.list_indexes("nobody")) == []


async def test_an_index_that_is_not_there_is_an_error_everywhere(backend: WritableBackend) -> None:
    """A deleted index is as unknown as one that never was."""
    await backend.delete_index(ACCOUNT, INDEX)
    with pytest.raises(IndexNotFound, match="index 'outdoor' does not exist"):
        await backend.search(ACCOUNT, request("tent"))
    with pytest.raises(IndexNotFound):
        await backend.get_documents(ACCOUNT, INDEX, ["mug"])
    with pytest.raises(IndexNotFound):
        await backend.describe(ACCOUNT, INDEX)
    with pytest.raises(IndexNotFound):
        await backend.delete_documents(ACCOUNT, INDEX, ["mug"])
    with pytest.raises(IndexNotFound):
        await backend.delete_index(ACCOUNT, INDEX)
    assert list(await backend.list_indexes(ACCOUNT)) == []


async def test_an_index_made_anew_has_a_generation_of_its_own(backend: WritableBackend) -> None:
    """What was cached for the old index is never taken for the new one."""
    before = await backend.describe(ACCOUNT, INDEX)
    await backend.delete_index(ACCOUNT, INDEX)
    await backend.add_documents(ACCOUNT, INDEX, PRODUCTS)
    after = await backend.describe(ACCOUNT, INDEX)
    assert after.generation != before.generation
    assert after.documents == before.documents


@pytest.mark.parametrize("name", ["../acme", "a/b", "", ".", "x" * 200])
async def test_a_name_that_is_no_index_name_never_reaches_the_files(
    backend: WritableBackend, name: str
) -> None:
    """Reading says that there is none; writing says what a name may be."""
    with pytest.raises(IndexNotFound):
        await backend.search(ACCOUNT, SearchRequest(index=name))
    with pytest.raises(InvalidSearch, match="index name must be"):
        await backend.add_documents(ACCOUNT, name, PRODUCTS)


_KEPT: list[dict[str, Any]] = [
    {"_id": "open", "productTitle": "open lamp", "color": "red", "price": 10.0},
    {"_id": "gold", "productTitle": "gold lamp", "color": "amber", "price": 90.0, "visibleTo": ["Gold"]},
    {"_id": "all", "productTitle": "plain lamp", "color": "blue", "visibleTo": ["*"]},
    {"_id": "draft", "productTitle": "draft lamp", "color": "grey", "visibleTo": []},
]


@pytest.mark.parametrize(
    ("groups", "require_field", "seen"),
    [
        ((), False, {"open", "all"}),
        (("gold",), False, {"open", "all", "gold"}),
        (("silver",), False, {"open", "all"}),
        (("gold",), True, {"all", "gold"}),
        ((), True, {"all"}),
    ],
)
async def test_who_may_see_a_document_is_a_filter(
    backend: WritableBackend, groups: tuple[str, ...], require_field: bool, seen: set[str]
) -> None:
    """Hits, totals and facets are of what the groups open. Source: decision 0015."""
    await backend.add_documents(ACCOUNT, "kept", _KEPT)
    rule = visibility_filter(groups, require_field=require_field)
    facets = FacetsRequest(fields=(FacetField(name="color"),))
    for query in ("lamp", None):
        result = await backend.search(
            ACCOUNT, SearchRequest(index="kept", q=query, filter=rule, forced_filter=rule, facets=facets)
        )
        assert set(ids(result)) == seen
        assert result.total_hits == len(seen)
        assert set(result.facets["color"]) == {one["color"] for one in _KEPT if one["_id"] in seen}


async def test_a_description_under_a_filter_is_of_what_passes(backend: WritableBackend) -> None:
    """Its size, its values and their bounds; and it says that documents say who may see them."""
    await backend.add_documents(ACCOUNT, "kept", _KEPT)
    whole = await backend.describe(ACCOUNT, "kept")
    part = await backend.describe(ACCOUNT, "kept", visibility_filter(()))
    price, color = part.field("price"), part.field("color")
    assert price is not None
    assert color is not None
    assert (whole.documents, part.documents, price.maximum) == (4, 2, 10.0)
    assert {value for value, _ in color.top_values} == {"red", "blue"}
    assert (whole.says_who_may_see, part.generation) == (True, whole.generation)
    assert not (await backend.describe(ACCOUNT, INDEX)).says_who_may_see
