"""Chooses the facets that come with the first hits when the client names none."""

from __future__ import annotations

from typing import Literal

from search_proxy.models import FacetField, FacetsRequest, FieldInfo, IndexDescription

MAX_FACETS = 6
"""More than a storefront shows beside its results."""
MAX_DISTINCT = 200
"""A field with more values than this is an identifier or a text, not a choice."""

_NEVER = {
    "_id",
    "parentProductId",
    "productTitle",
    "variantTitle",
    "variantImageUrl",
    "description",
    "currency",
}
_FIRST = ("brand", "color", "colour", "size", "material")


def default_facets(description: IndexDescription) -> FacetsRequest | None:
    """Return the facets that the index declares, as far as it has them; else those that its feed suggests.

    These are the category, price and the best-covered choices. None where there is nothing to count.
    """
    if description.facets is not None:
        declared = tuple(
            FacetField(name=name, kind=_kind(field), max_results=20)
            for name in description.facets
            if (field := description.field(name)) is not None
        )
        return FacetsRequest(fields=declared) if declared else None
    chosen = sorted(
        (field for field in description.fields if _is_choice(field)),
        key=lambda field: (_rank(field, description), -field.documents, field.name),
    )
    facets = [
        FacetField(name=field.name, kind=_kind(field), max_results=20) for field in chosen[: MAX_FACETS - 1]
    ]
    price = description.field("price")
    if price is not None and price.kind == "number":
        facets.append(FacetField(name="price", kind="number"))
    return FacetsRequest(fields=tuple(facets)) if facets else None


def _kind(field: FieldInfo) -> Literal["string", "array", "number"]:
    if field.kind in ("array", "number"):
        return field.kind
    return "string"


def _is_choice(field: FieldInfo) -> bool:
    return (
        field.name not in _NEVER
        and field.kind in ("string", "array")
        and 2 <= field.distinct <= MAX_DISTINCT
        and not field.name.startswith("_")
    )


def _rank(field: FieldInfo, description: IndexDescription) -> int:
    if field.name == description.category_field:
        return 0
    return 1 + _FIRST.index(field.name) if field.name in _FIRST else 1 + len(_FIRST)
