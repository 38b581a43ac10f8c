"""What of a product is searched, and in which text field.

Six fields with the boosts that were measured best on judged shopper queries (docs/engine.md), and one for
what was written about a product afterwards. An attribute is searched with its name, so that
`water resistant: true` and `screen size: 27` are found by those words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from search_proxy.engine.forms import indexed_forms

BOOSTS: Mapping[str, float] = {
    "title": 1.0,
    "category": 0.6,
    "description": 0.9,
    "attributes": 0.8,
    "brand": 0.5,
    "model": 0.4,
    "enriched": 0.2,
}
"""The text fields and their weight in the dismax. Source: measurement on ICE, rounded (docs/tools.md too).

A field is only ever added at the end: a segment that was written before has none of it.
"""

FIELD_OF: Mapping[str, str] = {
    "productTitle": "title",
    "variantTitle": "title",
    "category": "category",
    "productCollections": "category",
    "description": "description",
    "enrichedDescription": "enriched",
    "enrichedKeywords": "enriched",
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

NOT_SEARCHED = frozenset({"_id", "parentProductId", "price", "currency", "variantImageUrl", "visibleTo"})

_ADDRESSES = ("http://", "https://")
_LONGEST_ATTRIBUTE = 300
"""Longer values are prose; they count as description."""


_WORD_IN_NAME = re.compile(r"[A-Z]?[^\W_A-Z]+|[A-Z]+(?![a-z])")


def field_of(name: str) -> tuple[str, str] | None:
    """Return in which text field a document's field is searched, and by which words of its name.

    A standard field is searched by its value alone. None where a field is not searched.
    """
    if name in NOT_SEARCHED:
        return None
    own = FIELD_OF.get(name)
    return ("attributes", name_words(name)) if own is None else (own, "")


def is_prose(text: str) -> bool:
    """Return whether an attribute's text is long enough to count as description."""
    return len(text) > _LONGEST_ATTRIBUTE


def listed_text(values: Sequence[Any]) -> str:
    """Return the text of a list's values."""
    return " ; ".join(filter(None, map(_text, values)))


def number_text(value: float) -> str:
    """Return the text of a number; alone it is no size: it has no unit."""
    return f"{value:g}" if type(value) is float else str(value)


def searched_texts(texts: Sequence[str]) -> list[str]:
    """Return what is searched of each text, sizes and model numbers in their one form behind it."""
    shown = ["" if text.startswith(_ADDRESSES) else text for text in texts]
    forms = indexed_forms(shown)
    return [f"{text}\n{own}" if own else text for text, own in zip(shown, forms, strict=True)]


@lru_cache(maxsize=10_000)
def name_words(name: str) -> str:
    """Return the words of a field's name: `screenSize` and `screen_size` are `screen size`."""
    return " ".join(_WORD_IN_NAME.findall(name)).lower()


def _text(value: Any) -> str:
    kind = type(value)
    if kind is str:
        text: str = value
        return "" if text.startswith(_ADDRESSES) else text
    return number_text(value) if kind is int or kind is float else ""
