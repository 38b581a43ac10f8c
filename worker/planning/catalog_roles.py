"""Which field of an index plays which part: category, price, stock, colour, brand, size.

Merchants name their fields as they like; a role is read from the names in use and from the kind of the
field. A role that no field plays simply yields no filter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from search_proxy.models import FieldInfo, IndexDescription

DERIVED_CATEGORY = "derivedCategory"
"""Where the loader stores a category that it derived because the feed had none."""

_TYPE = ("producttype", "subcategory", "style", "kind", "type")
_BRAND = ("brand", "brandname", "vendor", "manufacturer", "maker", "label")
_COLOUR = re.compile(
    r"^(?:\w+ )?(?:main |base |product )?colou?rs?(?: family| group| name)?$|^farbe$|^couleur$"
)
_SIZE = re.compile(r"^(?:\w+ )?sizes?$")
_MATERIAL = re.compile(r"^(?:\w+ )?(?:materials?|fabrics?|upholstery|shell|filling|fill)$")
_AUDIENCE = re.compile(r"^(?:gender|audience|people|for|who|gender affinity|target group|age group)$")
_STOCK_NUMBER = re.compile(
    r"^(?:(?:current |in )?stock(?: quantity| level)?|inventory(?: quantity)?|quantity available)$"
)
_STOCK_FLAG = re.compile(r"^(?:(?:is )?in ?stock|(?:is )?available|availability)$")
_RATING = re.compile(r"^(?:average |mean )?rating(?:s| value)?$|^stars$")
_NEVER_A_CHOICE = re.compile(
    r"^_|^(?:product|variant|parent|group)?(?:id|title|url|link|image|images|name|description|handle|sku"
    r"|gtin|ean|upc|mpn)$"
    r"|(?:^| )(?:id|ids|url|link|image|images|photo|sku|gtin|ean|mpn|barcode|title|description|handle|date"
    r"|released|currency"
    r"|licen[cs]e|filename|path|slug)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Field names by role; the most covered field first where several play it."""

    categories: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    price: str | None = None
    brands: tuple[str, ...] = ()
    colours: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    materials: tuple[str, ...] = ()
    audiences: tuple[str, ...] = ()
    stock: FieldInfo | None = None
    rating: str | None = None
    texts: tuple[str, ...] = ()

    @property
    def category_fields(self) -> tuple[str, ...]:
        """Return the fields that name categories, then those that name finer types."""
        return (*self.categories, *self.types)


def read_roles(description: IndexDescription) -> Roles:
    """Return the roles that the fields of an index play."""
    by_coverage = sorted(description.fields, key=lambda field: (-field.documents, field.name))
    choices = [field for field in by_coverage if is_choice(field)]
    named = [name for name in (description.category_field, DERIVED_CATEGORY) if name]
    categories = tuple(dict.fromkeys(name for name in named if description.field(name) is not None))
    return Roles(
        categories=categories,
        types=tuple(
            field.name
            for plain in _TYPE
            for field in choices
            if _plain(field.name).replace(" ", "") == plain and field.name not in categories
        ),
        price=_price(by_coverage),
        brands=_names(field for field in choices if _plain(field.name).replace(" ", "") in _BRAND),
        colours=_names(
            sorted(
                (field for field in choices if _COLOUR.search(_plain(field.name))),
                key=lambda field: not _plain(field.name).endswith(("family", "group")),
            )
        ),
        sizes=_names(field for field in choices if _SIZE.search(_plain(field.name))),
        materials=_names(field for field in choices if _MATERIAL.search(_plain(field.name))),
        audiences=_names(field for field in choices if _AUDIENCE.search(_plain(field.name))),
        stock=_stock(by_coverage),
        rating=next(
            (f.name for f in by_coverage if f.kind == "number" and _RATING.search(_plain(f.name))), None
        ),
        texts=tuple(name for name in ("productTitle", "description") if description.field(name) is not None),
    )


def is_choice(field: FieldInfo) -> bool:
    """Say whether a shopper could choose between the field's values."""
    return field.kind in ("string", "array") and _NEVER_A_CHOICE.search(_plain(field.name)) is None


def plain_name(name: str) -> str:
    """Return a field name as lower-case words: "productColour" and "product_colour" are "product colour"."""
    return _plain(name)


def _plain(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return " ".join(re.split(r"[\W_]+", spaced)).strip().casefold() if not name.startswith("_") else name


def _names(fields: Iterable[FieldInfo]) -> tuple[str, ...]:
    return tuple(field.name for field in fields)


def _price(fields: list[FieldInfo]) -> str | None:
    numbers = [field for field in fields if field.kind == "number"]
    named = [field for field in numbers if re.search(r"\bprice\b", _plain(field.name))]
    exact = [field for field in named if field.name == "price"]
    return next((field.name for field in (*exact, *named)), None)


def _stock(fields: list[FieldInfo]) -> FieldInfo | None:
    for field in fields:
        plain = _plain(field.name)
        if field.kind == "number" and _STOCK_NUMBER.search(plain):
            return field
        if field.kind in ("boolean", "string") and _STOCK_FLAG.search(plain):
            return field
    return None
