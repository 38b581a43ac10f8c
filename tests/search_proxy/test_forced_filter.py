"""What an account may see holds for every count, whatever a client writes or excludes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search_proxy.backends.embedded import open_embedded
from search_proxy.caller import Caller
from search_proxy.engine.catalog_writer import add_documents
from search_proxy.errors import InvalidSearch
from search_proxy.filters import Filter, matches, parse_filter
from search_proxy.models import FacetField, FacetsRequest, SearchRequest, SearchResult
from search_proxy.proxy import SearchProxy

_PRODUCTS: list[dict[str, Any]] = [
    {"_id": f"{color}-{size}-{tag}", "productTitle": "lamp", "color": color, "size": size, "tags": [tag]}
    for color in ("red", "green", "blue")
    for size in (1, 2, 5)
    for tag in ("a", "c")
]
_TERMS = st.sampled_from(["color:red", "color:green", "size:2", "size:[1 TO 3]", "tags IN (a, b)"])
_TEXTS = st.builds(
    str.join, st.sampled_from([" OR ", " AND ", " AND NOT "]), st.lists(_TERMS, min_size=1, max_size=4)
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with a small shop, which is only read."""
    folder = tmp_path_factory.mktemp("data")
    add_documents(folder / "indexes" / "acme" / "shop", _PRODUCTS)
    return folder


def _search(data: Path, forced: Filter, asked: SearchRequest) -> SearchResult:
    caller = Caller(account_id="acme", key_kind="publishable", forced_filter=forced)

    async def search() -> SearchResult:
        async with open_embedded(data) as backend:
            return await SearchProxy(backend).handle_search(caller, asked)

    return anyio.run(search)


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(forced=_TEXTS, client=_TEXTS, lifted=st.lists(_TERMS, min_size=1, max_size=3))
def test_an_excluded_term_never_loosens_a_forced_filter(
    data: Path, forced: str, client: str, lifted: list[str]
) -> None:
    """Its counts stay within what the account may see, also where both filters have the term."""
    rights = parse_filter(forced)
    facets = FacetsRequest(fields=(FacetField(name="color", exclude_terms=tuple(lifted)),))
    asked = SearchRequest(
        index="shop",
        filter=parse_filter(client),
        # A request that comes with rights of its own changes nothing.
        forced_filter=parse_filter("size:5"),
        facets=facets,
    )
    try:
        result = _search(data, rights, asked)
    except InvalidSearch:
        return
    allowed = [product for product in _PRODUCTS if matches(rights, product)]
    for color, counted in result.facets["color"].items():
        assert counted["count"] <= sum(product["color"] == color for product in allowed)


def test_a_term_of_both_filters_is_lifted_from_the_clients_alone(data: Path) -> None:
    """The client's choice goes, the account's stays."""
    facets = FacetsRequest(fields=(FacetField(name="size", kind="number", exclude_terms=("color:red",)),))
    asked = SearchRequest(index="shop", filter=parse_filter("color:red AND tags:a"), facets=facets)
    result = _search(data, parse_filter("color:red"), asked)
    assert result.facets["size"]["count"] == 3
    wide = SearchRequest(
        index="shop",
        filter=parse_filter("color:red AND tags:a"),
        facets=FacetsRequest(fields=(FacetField(name="color", exclude_terms=("color:red",)),)),
    )
    assert _search(data, parse_filter("color:red"), wide).facets == {"color": {"red": {"count": 3}}}
    open_to_all = _search(data, parse_filter("size:[* TO 9]"), wide)
    assert set(open_to_all.facets["color"]) == {"red", "green", "blue"}
