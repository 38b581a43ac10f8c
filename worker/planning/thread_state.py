"""What a conversation without a model remembers: the search as it stands, and what was shown of it.

It travels as small JSON in the stored turn. A state that this program cannot read is an empty one: the
conversation then goes on from the next sentence, which is better than not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from search_proxy.filters import (
    Filter,
    FilterSyntaxError,
    NotFilter,
    OrFilter,
    RangeFilter,
    TermFilter,
    merge_filters,
    parse_filter,
)
from search_proxy.models import Hit, SortField
from worker.planning.catalog_roles import Roles

STATE_FORMAT = 1
MAX_SHOWN = 36
"""Products that can be spoken of as "the seventh": six categories of six; a state stays under 32 KB."""
MAX_CONSTRAINTS = 24
MAX_QUERY_CHARACTERS = 300
MAX_ATTRIBUTES = 8

ConstraintRole = Literal[
    "stock", "brand", "colour", "size", "material", "audience", "text", "product", "category"
]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """One thing that every product must be, or must not be; `filter` says what, `words` how it was said."""

    role: ConstraintRole
    wanted: bool
    filter: Filter
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadState:
    """The search as it stands. `shown` is the last page in display order; `offset` counts all pages.

    `lowest` and `highest` are prices over all pages of this search. `focus` is the product that the last
    turn was about, `like` the one that the search resembles.
    """

    query: str = ""
    constraints: tuple[Constraint, ...] = ()
    price_min: float | None = None
    price_max: float | None = None
    sort: SortField | None = None
    like: ShownProduct | None = None
    shown: tuple[ShownProduct, ...] = ()
    offset: int = 0
    lowest: float | None = None
    highest: float | None = None
    focus: ShownProduct | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing yet that a sentence could refine."""
        return not (self.query or self.constraints or self.shown or self.like) and self.price_range is None

    @property
    def price_range(self) -> tuple[float | None, float | None] | None:
        """Return the price limits, or None where there are none."""
        limits = (self.price_min, self.price_max)
        return None if limits == (None, None) else limits

    def filter(self, roles: Roles) -> Filter | None:
        """Return everything that the thread demands: wanted values of one role ORed, all else ANDed."""
        wanted: dict[str, Filter] = {}
        parts: list[Filter] = []
        for constraint in self.constraints:
            if not constraint.wanted:
                parts.append(NotFilter(constraint.filter))
            elif constraint.role in wanted:
                wanted[constraint.role] = OrFilter(wanted[constraint.role], constraint.filter)
            else:
                wanted[constraint.role] = constraint.filter
        if self.price_range is not None and roles.price is not None:
            parts.append(RangeFilter(roles.price, _whole(self.price_min), _whole(self.price_max)))
        if self.like is not None:
            parts.append(NotFilter(product_filter(self.like)))
        return merge_filters(*wanted.values(), *parts)

    def after_showing(self, products: Sequence[ShownProduct]) -> ThreadState:
        """Return the state after a page of products was shown for this search."""
        prices = [product.price for product in products if product.price is not None]
        earlier = [price for price in (self.lowest, self.highest) if price is not None]
        known = [*prices, *earlier]
        return replace(
            self,
            shown=tuple(products[:MAX_SHOWN]),
            offset=self.offset + len(products),
            lowest=min(known, default=None),
            highest=max(known, default=None),
            focus=products[0] if len(products) == 1 else None,
        )

    def after_nothing(self, previous: ThreadState) -> ThreadState:
        """Return the thread after a search that found nothing: `previous`, with what is unwanted since.

        A wish that cannot be met is given up, so that the next one can; an exclusion never is.
        """
        unwanted = tuple(
            each for each in self.constraints if not each.wanted and each not in previous.constraints
        )
        kept = tuple(
            each
            for each in previous.constraints
            if not (each.wanted and any(_words(each) == _words(other) for other in unwanted))
        )
        return replace(previous, constraints=(*kept, *unwanted)[-MAX_CONSTRAINTS:])

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON, a few kilobytes."""
        return {
            "format": STATE_FORMAT,
            "query": self.query,
            "constraints": [
                [each.role, each.wanted, str(each.filter), each.words] for each in self.constraints
            ],
            "price": [self.price_min, self.price_max],
            "sort": None if self.sort is None else [self.sort.name, self.sort.order],
            "like": None if self.like is None else _product_json(self.like),
            "shown": [_product_json(product) for product in self.shown],
            "offset": self.offset,
            "seen_prices": [self.lowest, self.highest],
            "focus": None if self.focus is None else _product_json(self.focus),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ThreadState:
        """Return the state of stored JSON, an empty one where it is of another format."""
        if value.get("format") != STATE_FORMAT:
            return cls()
        try:
            return cls(
                query=str(value["query"]),
                constraints=tuple(
                    Constraint(role=role, wanted=bool(wanted), filter=parse_filter(text), words=words)
                    for role, wanted, text, words in value["constraints"]
                ),
                price_min=value["price"][0],
                price_max=value["price"][1],
                sort=None
                if value["sort"] is None
                else SortField(name=value["sort"][0], order=value["sort"][1]),
                like=None if value["like"] is None else _product(value["like"]),
                shown=tuple(_product(item) for item in value["shown"]),
                offset=int(value["offset"]),
                lowest=value["seen_prices"][0],
                highest=value["seen_prices"][1],
                focus=None if value["focus"] is None else _product(value["focus"]),
            )
        except (KeyError, TypeError, ValueError, IndexError, FilterSyntaxError):
            return cls()


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


def _words(constraint: Constraint) -> tuple[str, str]:
    return constraint.role, constraint.words


def _first_value(hit: Hit, names: Sequence[str]) -> str | None:
    return next((value for name in names for value in _values(hit.get(name))), None)


def _values(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _whole(value: float | None) -> float | int | None:
    return int(value) if value is not None and value == int(value) else value


def _product_json(product: ShownProduct) -> list[Any]:
    return [
        product.id,
        product.title,
        product.price,
        product.parent,
        product.category,
        product.kind,
        list(product.attributes),
    ]


def _product(item: Sequence[Any]) -> ShownProduct:
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
