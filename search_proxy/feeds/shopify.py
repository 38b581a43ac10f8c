"""Reads a Shopify product export: rows grouped by Handle, one product per variant.

The first row of a handle has the product's own columns, later ones add variants or just images. The export
has no variant ids, so a variant is its handle, with its option values behind it where there are several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from search_proxy.feeds.cells import split_list, typed
from search_proxy.feeds.columns import attribute_name
from search_proxy.feeds.delimited import Row, Table
from search_proxy.feeds.records import FeedError, Record, Refusal

NAMES = {
    "_id": "Handle + option values",
    "parentProductId": "Handle",
    "productTitle": "Title",
    "variantTitle": "Option values",
    "variantImageUrl": "Variant Image, Image Src",
    "price": "Variant Price",
    "description": "Body (HTML)",
    "category": "Type, Product Category",
    "brand": "Vendor",
    "stock": "Variant Inventory Qty",
}
"""Which columns fill which field, for the report of a load."""

_MAX_ROWS = 5_000
_OPTIONS = ("Option1", "Option2", "Option3")
_CATEGORY = ("Type", "Custom Product Type", "Product Category", "Standard Product Type")
_FREE = {
    "Variant SKU": "sku",
    "Variant Barcode": "barcode",
    "Variant Compare At Price": "compare_at_price",
    "Variant Grams": "weight_grams",
    "Google Shopping / Gender": "gender",
    "Google Shopping / Age Group": "age_group",
    "Google Shopping / Condition": "condition",
    "Google Shopping / MPN": "mpn",
}
_NUMBERS = frozenset(("compare_at_price", "weight_grams"))
_METAFIELD = re.compile(r"(.+?) \(product\.metafields\.[^)]*\)")
_NOT_WORD = re.compile(r"[\W_]+")

Cells = Mapping[str, str]


def is_shopify(header: Sequence[str]) -> bool:
    """Return whether a table's header is that of a product export."""
    return "Handle" in header and ("Variant Price" in header or "Option1 Name" in header)


def read_shopify(table: Table, mapping: Mapping[str, str]) -> Iterator[Record | Refusal]:
    """Yield a record per variant; `mapping` says `{field: column}` where it shall differ from the usual.

    Raises:
        FeedError: The header is not that of a product export.
    """
    if not is_shopify(table.header):
        raise FeedError("a Shopify export has the columns 'Handle' and 'Variant Price'; this file has not")
    group: list[tuple[int, Cells]] = []
    for row in table.rows():
        if not isinstance(row, Row):
            yield row
            continue
        cells = {name: cell.strip() for name, cell in zip(table.header, row.cells, strict=True)}
        if not cells["Handle"]:
            yield Refusal(line=row.line, field="Handle", reason="a row needs its Handle", kind="missing_id")
        elif group and (group[0][1]["Handle"] != cells["Handle"] or len(group) >= _MAX_ROWS):
            yield from _variants(group, mapping)
            group = [(row.line, cells)]
        else:
            group.append((row.line, cells))
    if group:
        yield from _variants(group, mapping)


def _variants(group: list[tuple[int, Cells]], mapping: Mapping[str, str]) -> Iterator[Record | Refusal]:
    line, product = next((row for row in group if row[1].get("Title")), group[0])
    if reason := _hidden(product):
        yield Refusal(line=line, field=None, reason=reason, kind="not_published")
        return
    shared = _shared(product, [cells["Image Src"] for _, cells in group if cells.get("Image Src")])
    rows = [
        (line, cells) for line, cells in group if cells.get("Variant Price") or cells.get("Option1 Value")
    ]
    if not rows:
        rows = [(line, product)]
    used: set[str] = set()
    for line, cells in rows:
        own = _own(product, cells, len(rows) > 1, used)
        chosen = {field: cells.get(column) or product.get(column, "") for field, column in mapping.items()}
        yield Record(line=line, values={**shared, **own, **chosen})


def _hidden(product: Cells) -> str | None:
    if product.get("Status", "").casefold() in ("draft", "archived"):
        return f"the product's status is {product['Status']!r}"
    return "the product is not published" if product.get("Published", "").casefold() == "false" else None


def _shared(product: Cells, images: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {
        "parentProductId": product["Handle"],
        "productTitle": product.get("Title", ""),
        "variantImageUrl": next(iter(images), ""),
        "description": product.get("Body (HTML)", ""),
        "category": next((product[name] for name in _CATEGORY if product.get(name)), ""),
        "brand": product.get("Vendor", ""),
        "productCollections": product.get("Collection", ""),
        "tags": split_list(product.get("Tags", "")),
        "images": images if len(images) > 1 else "",
        "gift_card": product.get("Gift Card", "").casefold() == "true" or "",
    }
    for column, cell in product.items():
        if cell and (metafield := _METAFIELD.fullmatch(column)):
            values.setdefault(attribute_name(metafield[1].capitalize()), cell)
    return values


def _own(product: Cells, cells: Cells, several: bool, used: set[str]) -> dict[str, Any]:
    options = {}
    for option in _OPTIONS:
        name, value = product.get(f"{option} Name", ""), cells.get(f"{option} Value", "")
        if value and not (name == "Title" and value == "Default Title"):
            options[name or option] = value
    values: dict[str, Any] = {
        "_id": _variant_id(product["Handle"], options, several, used),
        "variantTitle": " / ".join(options.values()),
        "price": cells.get("Variant Price", ""),
        "stock": typed(cells.get("Variant Inventory Qty", ""), "number"),
    }
    if cells.get("Variant Image"):
        values["variantImageUrl"] = cells["Variant Image"]
    for column, field in _FREE.items():
        cell = cells.get(column) or product.get(column, "")
        values[field] = (typed(cell, "number") or "") if field in _NUMBERS else cell
    return values | {attribute_name(name.capitalize()): value for name, value in options.items()}


def _variant_id(handle: str, options: Mapping[str, str], several: bool, used: set[str]) -> str:
    parts = [handle, *(_NOT_WORD.sub("-", value.casefold()).strip("-") for value in options.values())]
    wanted = "-".join(part for part in parts if part) if several else handle
    variant_id, count = wanted, 1
    while variant_id in used:
        count += 1
        variant_id = f"{wanted}-{count}"
    used.add(variant_id)
    return variant_id
