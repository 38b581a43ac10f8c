"""The catalog that every search backend is asked about, and how it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from search_proxy.backend import CatalogWriter, SearchBackend
from search_proxy.filters import parse_filter
from search_proxy.models import FacetField, FacetsRequest, SearchRequest, SearchResult, SortField

ACCOUNT = "acme"
INDEX = "outdoor"

PRODUCTS: Sequence[dict[str, Any]] = [
    {
        "_id": "tent-red",
        "parentProductId": "tent",
        "productTitle": "Alpine tent for two",
        "color": "red",
        "price": 199.0,
        "productCollections": ["Tents", "Camping"],
        "inStock": True,
    },
    {
        "_id": "tent-green",
        "parentProductId": "tent",
        "productTitle": "Alpine tent for two",
        "color": "green",
        "price": 209.0,
        "productCollections": ["Tents", "Camping"],
        "inStock": False,
    },
    {
        "_id": "shelter",
        "productTitle": "Storm shelter tent",
        "color": "green",
        "price": 89,
        "productCollections": ["Tents"],
        "inStock": True,
    },
    {
        "_id": "stove",
        "productTitle": "Gas stove",
        "description": "Boils a litre of water in front of your tent",
        "color": "Red",
        "price": 45.5,
        "productCollections": ["Cooking", "Camping"],
    },
    {"_id": "mug", "productTitle": "Enamel mug", "color": "blue", "productCollections": ["Cooking"]},
]


class WritableBackend(SearchBackend, CatalogWriter, Protocol):
    """A backend that can be filled."""


def request(
    q: str | None = None,
    *,
    filter_text: str | None = None,
    facets: Sequence[FacetField] = (),
    sort_by: Sequence[SortField] = (),
    limit: int = 10,
    offset: int = 0,
    collapse: bool = True,
    attributes: tuple[str, ...] | None = None,
) -> SearchRequest:
    """Return a search of the catalog."""
    return SearchRequest(
        index=INDEX,
        q=q,
        filter=None if filter_text is None else parse_filter(filter_text),
        facets=FacetsRequest(fields=tuple(facets)) if facets else None,
        sort_by=tuple(sort_by),
        limit=limit,
        offset=offset,
        collapse=collapse,
        attributes_to_retrieve=attributes,
    )


def ids(result: SearchResult) -> list[str]:
    """Return the ids of the hits, in order."""
    return [str(hit["_id"]) for hit in result.hits]
