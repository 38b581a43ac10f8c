"""What an index declares of its search, on the real engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.engine.schema import read_declaration
from search_proxy.errors import InvalidSearch
from search_proxy.models import SearchRequest
from tests.search_proxy.engine.word_embedder import WordEmbedder

pytestmark = pytest.mark.anyio

_PRODUCTS: list[dict[str, Any]] = [
    {
        "_id": "named",
        "productTitle": "Loden coat",
        "description": "Warm",
        "fabric": "cotton",
        "washable": True,
    },
    {"_id": "told", "productTitle": "Coat", "description": "Of loden, warm", "fabric": "wool", "price": 10},
    {"_id": "made", "productTitle": "Coat", "description": "Warm", "fabric": "loden", "price": 20},
]


async def _ids(backend: EmbeddedBackend, query: str, index: str = "shop") -> list[str]:
    result = await backend.search("acme", SearchRequest(index=index, q=query))
    return [str(hit["_id"]) for hit in result.hits]


async def _declare(backend: EmbeddedBackend, values: dict[str, Any], index: str = "shop") -> int:
    return await backend.declare_schema("acme", index, read_declaration(values))


async def test_a_boost_counts_from_the_next_search_and_writes_nothing(backend: EmbeddedBackend) -> None:
    """The same products in another order."""
    await backend.add_documents("acme", "shop", _PRODUCTS)
    usual = await _ids(backend, "loden")
    assert await _declare(backend, {"boosts": {"title": 9}}) == 0
    assert (await _ids(backend, "loden"))[0] == "named"
    assert await _declare(backend, {"boosts": {"title": 0.1, "description": 9}}) == 0
    assert (await _ids(backend, "loden"))[0] == "told"
    assert await _declare(backend, {"boosts": {"attributes": 50, "title": 0}}) == 0
    assert (await _ids(backend, "loden"))[0] == "made"
    assert await _declare(backend, {}) == 0
    assert await _ids(backend, "loden") == usual


async def test_a_field_is_searched_where_it_is_declared_to_be(backend: EmbeddedBackend) -> None:
    """As a title it counts as one; as nothing it is not found, but still filtered and shown."""
    await backend.add_documents("acme", "shop", _PRODUCTS)
    assert await _declare(backend, {"fields": {"fabric": "title", "productTitle": "none"}}) == 3
    assert await _ids(backend, "loden") == ["made", "told"]
    assert await _ids(backend, "coat") == []
    assert await _declare(backend, {"fields": {"fabric": "none"}}) == 3
    assert sorted(await _ids(backend, "loden")) == ["named", "told"]
    result = await backend.search("acme", SearchRequest(index="shop", q="cotton"))
    assert result.total_hits == 0
    found = await backend.get_documents("acme", "shop", ["made"])
    assert found[0].document == _PRODUCTS[2]


async def test_documents_that_come_later_are_indexed_as_declared(backend: EmbeddedBackend) -> None:
    """Declared before the first load, too."""
    assert await _declare(backend, {"fields": {"fabric": "none"}, "language": "de"}) == 0
    await backend.add_documents("acme", "shop", _PRODUCTS)
    assert sorted(await _ids(backend, "loden")) == ["named", "told"]
    assert (await backend.describe("acme", "shop")).language == "de"


async def test_another_language_writes_the_texts_anew(backend: EmbeddedBackend) -> None:
    """Its stems then meet; what was not said again of the schema is gone, the language stays."""
    await backend.add_documents("acme", "shop", [{"_id": "1", "productTitle": "Zelte"}], language="en")
    assert await _ids(backend, "zelten") == []
    assert await _declare(backend, {"language": "de"}) == 1
    assert await _ids(backend, "zelten") == ["1"]
    assert await _declare(backend, {}) == 0
    assert await _ids(backend, "zelten") == ["1"]


async def test_deleted_documents_stay_deleted_and_vectors_stay(tmp_path: Path) -> None:
    """Nothing is embedded again because words are."""
    embedder = WordEmbedder()
    async with open_embedded(tmp_path, embedder) as backend:
        await backend.add_documents("acme", "shop", _PRODUCTS)
        await backend.embed_missing("acme", "shop")
        await backend.delete_documents("acme", "shop", ["told"])
        assert await _declare(backend, {"fields": {"fabric": "title"}, "fusion": "convex"}) == 2
        assert sorted(await _ids(backend, "loden")) == ["made", "named"]
        assert await backend.embed_missing("acme", "shop") == 0
        assert await backend.fusion("acme", "shop") == "convex"
        assert (await backend.describe("acme", "shop")).embedded_documents == 2


async def test_declared_facets_are_described(backend: EmbeddedBackend) -> None:
    """A field that only some documents have may be one."""
    await backend.add_documents("acme", "shop", _PRODUCTS)
    assert (await backend.describe("acme", "shop")).facets is None
    await _declare(backend, {"facets": ["price", "washable"]})
    assert (await backend.describe("acme", "shop")).facets == ("price", "washable")


async def test_a_schema_is_there_after_a_restart(tmp_path: Path) -> None:
    """And in every other process."""
    async with open_embedded(tmp_path) as backend:
        await backend.add_documents("acme", "shop", _PRODUCTS)
        await _declare(backend, {"boosts": {"title": 2}, "fields": {"fabric": "brand"}, "fusion": "rrf"})
        before = await backend.schema("acme", "shop")
    async with open_embedded(tmp_path) as again:
        assert await again.schema("acme", "shop") == before
        assert before.to_wire() == {"boosts": {"title": 2.0}, "fields": {"fabric": "brand"}, "fusion": "rrf"}


@pytest.mark.parametrize("key", ["fields", "facets"])
async def test_a_field_that_no_document_has_is_refused(backend: EmbeddedBackend, key: str) -> None:
    """A typing mistake must not silently do nothing."""
    await backend.add_documents("acme", "shop", _PRODUCTS)
    values = {"fields": {"fabrik": "title"}} if key == "fields" else {"facets": ["fabrik"]}
    with pytest.raises(
        InvalidSearch, match=f"{key}: no document has a field 'fabrik'; there are description, fab"
    ):
        await _declare(backend, values)
    assert (await backend.schema("acme", "shop")).to_wire() == {}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            [],
            "a schema must be an object with 'language', 'fields', 'boosts', 'facets', 'fusion', not \\[\\]",
        ),
        ({"boost": {}}, "a schema has no 'boost'; it takes 'language'"),
        ({"fields": {"price": "title"}}, "fields: 'price' is never searched by its words; leave it out"),
        ({"fields": {"visibleTo": "title"}}, "fields: 'visibleTo' is never searched"),
        ({"fields": {"_score": "title"}}, "fields: '_score' is never searched"),
        ({"fields": {"color": "enriched"}}, "fields: 'color' must be one of 'title', .*, not 'enriched'"),
        ({"fields": {"color": ["title"]}}, "fields: 'color' must be one of"),
        ({"fields": ["color"]}, "fields must be an object whose keys are names"),
        ({"fields": {"": "title"}}, "fields must be an object whose keys are names"),
        (
            {"fields": {str(at): "title" for at in range(1001)}},
            "fields must have at most 1000 entries, not 1001",
        ),
        ({"boosts": {"head": 1}}, "boosts: there is no text field 'head'; there are 'title'"),
        ({"boosts": {"title": float("nan")}}, "boosts: 'title' must be a number of 0 to 100, not nan"),
        ({"boosts": {"title": True}}, "boosts: 'title' must be a number of 0 to 100, not True"),
        ({"boosts": {"title": 101}}, "boosts: 'title' must be a number of 0 to 100, not 101"),
        ({"facets": "color"}, "facets must be a list of field names, not 'color'"),
        ({"facets": [1]}, "facets must be a list of field names"),
        ({"facets": ["a", "a"]}, "facets has 'a' twice"),
        ({"facets": ["visibleTo"]}, "facets: 'visibleTo' is no field for shoppers"),
        ({"facets": [str(at) for at in range(51)]}, "facets must have at most 50 fields, not 51"),
        ({"fusion": "sum"}, "fusion must be one of 'convex', 'weighted_rrf', 'rrf', not 'sum'"),
        ({"fusion": ["rrf"]}, "fusion must be one of"),
        ({"language": "xx"}, "language must be one of en, de, .*, not 'xx'"),
        ({"language": ["de"]}, "language must be one of"),
    ],
)
def test_what_is_no_schema_is_refused_by_name(values: Any, message: str) -> None:
    """What was wrong, where, and what would be right."""
    with pytest.raises(InvalidSearch, match=message):
        read_declaration(values)
