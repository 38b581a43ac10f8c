"""What a conversation without a model remembers of a product that was shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from search_proxy.filters import Filter, TermFilter
from search_proxy.models import Hit
from worker.planning.catalog_roles import Roles

MAX_ATTRIBUTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownProduct:
    """A product that the shopper has seen; `attributes` are the casefolded values it can be called by.

    `kind` is the finer category, where the catalog has one.
    """

    id: str
    title: str = ""
    price: float | None = None
    parent: str | None = None
    category: str | None = None
    kind: str | None = None
    attributes: tuple[str, ...] = ()


def remembered_fields(roles: Roles) -> tuple[str, ...]:
    """Return the fields that a hit must carry for the thread to speak of it later."""
    names = ("_id", "parentProductId", "productTitle", "variantTitle", roles.price, *_calling_fields(roles))
    return tuple(dict.fromkeys(name for name in names if name is not None))


def shown_product(hit: Hit, roles: Roles) -> ShownProduct:
    """Return what the thread remembers of a hit."""
    price = hit.get(roles.price) if roles.price else None
    values = [value for name in _calling_fields(roles) for value in _values(hit.get(name))]
    parent = hit.get("parentProductId")
    return ShownProduct(
        id=str(hit["_id"]),
        title=str(hit.get("productTitle") or hit.get("variantTitle") or "")[:120],
        price=float(price) if isinstance(price, int | float) and not isinstance(price, bool) else None,
        parent=str(parent) if parent is not None else None,
        category=_first_value(hit, roles.categories),
        kind=_first_value(hit, roles.types),
        attributes=tuple(dict.fromkeys(value.casefold()[:40] for value in values))[:MAX_ATTRIBUTES],
    )


def _calling_fields(roles: Roles) -> tuple[str, ...]:
    return (
        *roles.brands[:1],
        *roles.colours[:3],
        *roles.materials[:2],
        *roles.sizes[:1],
        *roles.category_fields[:2],
    )


def product_filter(product: ShownProduct) -> Filter:
    """Return the filter that matches the product, in all its variants where it has some."""
    if product.parent is not None:
        return TermFilter("parentProductId", product.parent)
    return TermFilter("_id", product.id)


def product_json(product: ShownProduct) -> list[Any]:
    """Return the product as a small JSON row."""
    return [
        product.id,
        product.title,
        product.price,
        product.parent,
        product.category,
        product.kind,
        list(product.attributes),
    ]


def product_of_json(item: Sequence[Any]) -> ShownProduct:
    """Return the product of a row that `product_json` made.

    Raises:
        TypeError: The row is none.
        ValueError: It has another number of parts.
    """
    identifier, title, price, parent, category, kind, attributes = item
    return ShownProduct(
        id=identifier,
        title=title,
        price=price,
        parent=parent,
        category=category,
        kind=kind,
        attributes=tuple(attributes),
    )


def _first_value(hit: Hit, names: Sequence[str]) -> str | None:
    return next((value for name in names for value in _values(hit.get(name))), None)


def _values(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
