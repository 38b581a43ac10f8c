"""The facets that come when nobody names any, counted by the real engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from search_proxy.backends.embedded import open_embedded
from search_proxy.default_facets import default_facets
from search_proxy.engine.schema import read_declaration
from search_proxy.models import SearchRequest

pytestmark = pytest.mark.anyio

_PRODUCTS: list[dict[str, Any]] = [
    {"_id": "1", "productTitle": "Tent", "color": "red", "washable": True, "price": 10, "tags": ["a", "b"]},
    {"_id": "2", "productTitle": "Tent", "color": "blue", "washable": False, "price": 30, "tags": ["b"]},
]


async def _counted(folder: Path, declared: dict[str, Any] | None) -> dict[str, Any]:
    async with open_embedded(folder) as engine:
        await engine.add_documents("acme", "shop", _PRODUCTS)
        if declared is not None:
            await engine.declare_schema("acme", "shop", read_declaration(declared))
        facets = default_facets(await engine.describe("acme", "shop"))
        found = await engine.search("acme", SearchRequest(index="shop", q="tent", facets=facets))
        return {name: dict(values) for name, values in found.facets.items()}


async def test_choices_and_the_price_are_counted_where_nothing_is_declared(tmp_path: Path) -> None:
    """The well-known fields first."""
    assert list(await _counted(tmp_path, None)) == ["color", "tags", "price"]


async def test_declared_facets_are_counted_in_their_order_and_no_others(tmp_path: Path) -> None:
    """Texts, lists, numbers and booleans, each as what it is."""
    counted = await _counted(tmp_path, {"facets": ["washable", "price", "tags"]})
    assert list(counted) == ["washable", "price", "tags"]
    assert counted["washable"] == {"true": {"count": 1}, "false": {"count": 1}}
    assert (counted["price"]["min"], counted["price"]["max"]) == (10, 30)
    assert counted["tags"] == {"b": {"count": 2}, "a": {"count": 1}}


async def test_an_empty_list_counts_nothing(tmp_path: Path) -> None:
    """No facets is a choice, too."""
    assert await _counted(tmp_path, {"facets": []}) == {}
