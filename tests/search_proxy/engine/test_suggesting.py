"""Typeahead offers what the catalog has."""

from __future__ import annotations

import pytest

from search_proxy.backends.embedded import EmbeddedBackend
from search_proxy.errors import IndexNotFound, InvalidSearch

pytestmark = pytest.mark.anyio

_PRODUCTS = [
    *({"_id": f"t{n}", "productTitle": f"Camping tent model {n}", "category": "Tents"} for n in range(5)),
    *({"_id": f"s{n}", "productTitle": "Camping stove with gas", "brand": "Térra"} for n in range(3)),
    {"_id": "single", "productTitle": "Hammock only once"},
]


@pytest.mark.parametrize(
    ("prefix", "queries"),
    [
        ("te", ["tents", "térra", "tent"]),
        ("CAMPING S", ["camping stove", "camping stove with"]),
        ("terr", ["térra"]),
        ("gas camping st", ["gas camping stove", "gas camping stove with", "gas camping stove with gas"]),
        ("campnig", ["camping", "camping tent", "camping tent model"]),
        ("camping ", ["camping tent", "camping tent model", "camping stove"]),
        ("hammo", []),
        ("", []),
        ("zzzz", []),
        ("%$", []),
    ],
)
async def test_a_prefix_is_completed_with_phrases_of_the_catalog(
    backend: EmbeddedBackend, prefix: str, queries: list[str]
) -> None:
    """Categories and brands first, then what most titles say; a slip of the finger is forgiven."""
    await backend.add_documents("acme", "shop", _PRODUCTS)
    found = await backend.suggest("acme", "shop", prefix, 3)
    assert [suggestion.query for suggestion in found] == queries


async def test_deleted_products_leave_the_completions(backend: EmbeddedBackend) -> None:
    """A brand without living products is not offered."""
    await backend.add_documents("acme", "shop", _PRODUCTS)
    await backend.delete_documents("acme", "shop", ["s0", "s1", "s2"])
    assert [one.query for one in await backend.suggest("acme", "shop", "terr")] == []


@pytest.mark.parametrize(("prefix", "limit"), [("a", 0), ("a", 51), ("a" * 201, 5)])
async def test_what_is_out_of_range_is_refused(backend: EmbeddedBackend, prefix: str, limit: int) -> None:
    """The message says what would be right."""
    await backend.add_documents("acme", "shop", _PRODUCTS)
    with pytest.raises(InvalidSearch, match="must"):
        await backend.suggest("acme", "shop", prefix, limit)


async def test_an_unknown_index_has_no_completions(backend: EmbeddedBackend) -> None:
    """The same error as for a search."""
    with pytest.raises(IndexNotFound):
        await backend.suggest("acme", "nothing", "a")


async def test_synonyms_that_are_set_count_from_the_next_search_on(backend: EmbeddedBackend) -> None:
    """A wrong line changes nothing."""
    await backend.add_documents("acme", "shop", _PRODUCTS)
    before = await backend.describe("acme", "shop")
    with pytest.raises(InvalidSearch, match="line 1"):
        await backend.set_synonyms("acme", "shop", ["cooker"])
    assert await backend.describe("acme", "shop") == before
    await backend.set_synonyms("acme", "shop", ["cooker, stove"])
    assert (await backend.describe("acme", "shop")).generation != before.generation
    with pytest.raises(IndexNotFound):
        await backend.set_synonyms("acme", "nothing", ["cooker, stove"])
