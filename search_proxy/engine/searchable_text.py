"""What of a product is searched, and in which text field.

Six fields with the boosts that were measured best on judged shopper queries (docs/engine.md): a match in the
title counts more than one in the attributes, and the best field decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

BOOSTS: Mapping[str, float] = {
    "title": 1.0,
    "category": 0.5,
    "description": 0.9,
    "attributes": 0.7,
    "brand": 0.3,
    "model": 0.3,
}
"""The text fields and their weight in the dismax. Source: measurement on ICE, rounded."""

FIELD_OF: Mapping[str, str] = {
    "productTitle": "title",
    "variantTitle": "title",
    "category": "category",
    "productCollections": "category",
    "description": "description",
    "brand": "brand",
    "vendor": "brand",
    "manufacturer": "brand",
    "mpn": "model",
    "sku": "model",
    "gtin": "model",
    "ean": "model",
    "upc": "model",
    "barcode": "model",
    "model": "model",
    "modelNumber": "model",
}

NOT_SEARCHED = frozenset({"_id", "parentProductId", "price", "currency", "variantImageUrl"})

_LONGEST_ATTRIBUTE = 300
"""Longer values are prose; they count as description."""


def searchable_text(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the text of every text field that `document` fills."""
    parts: dict[str, list[str]] = {}
    for name, value in document.items():
        if name in NOT_SEARCHED:
            continue
        for text in _texts(value):
            field = FIELD_OF.get(name) or ("description" if len(text) > _LONGEST_ATTRIBUTE else "attributes")
            parts.setdefault(field, []).append(text)
    return {field: " \n ".join(texts) for field, texts in parts.items()}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if not value.startswith(("http://", "https://")):
            yield value
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        yield f"{value:g}" if isinstance(value, float) else str(value)
    elif isinstance(value, list | tuple):
        for element in value:
            if not isinstance(element, list | tuple | Mapping):
                yield from _texts(element)
