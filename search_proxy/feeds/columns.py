"""Says which column of a feed is which field of a product: by the caller's word first, then by its name.

Names are compared without regard to case, blanks, punctuation and camel case. A column that nobody knows
keeps its name as a free attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from search_proxy.feeds.prices import CURRENCIES

_ALIASES: dict[str, tuple[str, ...]] = {
    "_id": ("id", "variant_id", "item_id", "sku", "variant_sku", "product_id", "handle", "code"),
    "parentProductId": (
        "parent_product_id",
        "parent_id",
        "item_group_id",
        "group_id",
        "product_id",
        "handle",
    ),
    "productTitle": ("product_title", "title", "name", "product_name", "item_name"),
    "variantTitle": ("variant_title", "variant_name", "variant"),
    "variantImageUrl": (
        *("variant_image_url", "variant_image", "image_link", "image_url", "image", "image_src"),
        *("main_image_url", "main_image", "thumbnail", "picture", "images"),
    ),
    "price": ("price", "variant_price", "unit_price", "retail_price", "list_price"),
    "currency": ("currency", "price_currency", "currency_code"),
    "description": (
        *("description", "product_description", "body_html", "body", "long_description"),
        *("short_description", "summary"),
    ),
    "productCollections": ("product_collections", "collections", "collection"),
    "category": (
        *("category", "derived_class", "product_type", "product_category", "category_name"),
        *("categories", "google_product_category", "department"),
    ),
    "brand": ("brand", "brand_name", "vendor", "manufacturer", "maker"),
    "stock": (
        *("stock", "current_stock", "stock_quantity", "inventory_quantity", "variant_inventory_qty"),
        *("inventory", "quantity", "qty"),
    ),
}

_EVERY_ALIAS = frozenset(alias for aliases in _ALIASES.values() for alias in aliases)

PRODUCT_FIELDS = frozenset(_ALIASES)
"""The fields that a product document names; everything else is a free attribute."""

_MAX_REMEMBERED = 1_000
"""Sets of columns with telling names; a table has one, a JSON feed a few, and only noise has more."""

_MAX_NAMED = 100_000
"""Columns of one feed; the richest electronics catalogs have some thousands."""

_PRICE_IN = re.compile(r"(?:price|amount)_([a-z]{3})")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_NAME = re.compile(r"[^\w.\-]+")
_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Column:
    """The field that a column fills; `currency` where the column's name says the price's currency."""

    field: str
    currency: str | None = None


class ColumnMapping:
    """Maps the columns of every record, and remembers what it decided.

    `explicit` is `{field: column}`. `decided` is `{column: field}` in the order seen.
    """

    def __init__(self, explicit: Mapping[str, str] | None = None) -> None:
        self.explicit = dict(explicit or {})
        self.decided: dict[str, str] = {}
        self._seen: dict[str, bool] = {}
        self._known: dict[tuple[str, ...], dict[str, Column]] = {}

    def columns(self, names: tuple[str, ...]) -> dict[str, Column]:
        """Return what each column of a record with exactly these columns is; product fields come first."""
        for name in names:
            if name not in self._seen:
                self._see(name)
        # Of all columns, only those with telling names decide, and of their sets there are few.
        telling = tuple([name for name in names if self._seen.get(name)])
        filling = self._known.get(telling)
        if filling is None:
            filling = self._decide(telling)
            if len(self._known) < _MAX_REMEMBERED:
                self._known[telling] = filling
        columns = filling | {name: _attribute(name) for name in names if name not in filling}
        if len(self.decided) < _MAX_NAMED:
            for name in names:
                if name not in self.decided:
                    self.decided[name] = columns[name].field
        return columns

    def never_seen(self) -> list[str]:
        """Return the columns that the caller named and no record had."""
        return [column for column in self.explicit.values() if column not in self.decided]

    def _decide(self, names: tuple[str, ...]) -> dict[str, Column]:
        fields: dict[str, Column] = {}
        filled: set[str] = set()
        for field, column in self.explicit.items():
            if column in names:
                fields[column] = Column(field, _currency_of(column) if field == "price" else None)
                filled.add(field)
        top_level = {normalised(name): name for name in reversed(names) if "." not in name}
        for field, aliases in _ALIASES.items():
            free = field not in filled and field not in self.explicit
            found = self._find(field, aliases, names, top_level, fields) if free else None
            if found:
                fields[found] = Column(field, _currency_of(found) if field == "price" else None)
        return fields

    def _see(self, name: str) -> None:
        """Note whether a column's name can make it a product field."""
        if len(self._seen) >= _MAX_NAMED:
            self._seen.clear()
        explicit = name in self.explicit.values() or name in _ALIASES
        self._seen[name] = explicit or ("." not in name and _is_telling(name))

    def _find(
        self,
        field: str,
        aliases: Iterable[str],
        names: tuple[str, ...],
        top_level: Mapping[str, str],
        taken: Mapping[str, Column],
    ) -> str | None:
        if field in names and field not in taken:
            return field
        candidates = [top_level[alias] for alias in aliases if alias in top_level]
        if field == "price":
            candidates += [name for name in names if "." not in name and _currency_of(name)]
        return next((name for name in candidates if name not in taken), None)


@lru_cache(maxsize=10_000)
def normalised(column: str) -> str:
    """Return the column's name as names are compared: `Product Name`, `productName` → `product_name`."""
    return _SEPARATORS.sub("_", _CAMEL.sub("_", column.strip().removeprefix("g:"))).strip("_").casefold()


@lru_cache(maxsize=10_000)
def attribute_name(column: str) -> str:
    """Return the field name of a free attribute.

    A name that reads well in a filter stays: `frameColor`, `measures.weight`. Others are written small
    with underscores: `Frame Color (outside)` → `frame_color_outside`, `Color` → `color`.
    """
    name = column.strip()
    if name and not name[0].isupper() and not _NOT_NAME.search(name):
        return name
    return _NOT_NAME.sub("_", name).strip("_").casefold() or name


@lru_cache(maxsize=10_000)
def _attribute(column: str) -> Column:
    return Column(attribute_name(column))


def _is_telling(column: str) -> bool:
    return normalised(column) in _EVERY_ALIAS or _currency_of(column) is not None


def _currency_of(column: str) -> str | None:
    found = _PRICE_IN.fullmatch(normalised(column))
    code = found[1].upper() if found else None
    return code if code in CURRENCIES else None
