"""What of a product a reranker reads: its title, and its telling fields as bounded plain text.

Markup is no text, and neither are ids, addresses, stock counts and the like.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from search_proxy.feeds.html_text import plain_text
from search_proxy.filters.visibility import VISIBLE_TO
from search_proxy.models import Document
from search_proxy.reranking.reranker import Candidate

MAX_TITLE_CHARACTERS = 200
MAX_TEXT_CHARACTERS = 600
"""About 150 tokens: 50 candidates are what one call takes in well under a second."""
_MAX_ATTRIBUTES = 12
_LONGEST_ATTRIBUTE = 80
_FIRST = ("brand", "category", "variantTitle", "price", "currency")
_NOT_READ = frozenset(
    {
        VISIBLE_TO,
        "productTitle",
        "description",
        "enrichedDescription",
        "parentProductId",
        "productCollections",
    }
    | {"mpn", "sku", "gtin", "ean", "upc", "barcode", "stock", "inStock", "createdAt", "updatedAt", *_FIRST}
)


def candidate(identifier: str, document: Document) -> Candidate:
    """Return a product as a reranker reads it."""
    title = _plain(document.get("productTitle"), MAX_TITLE_CHARACTERS)
    facts = "; ".join(_facts(document))
    description = _plain(document.get("description"), MAX_TEXT_CHARACTERS)
    text = f"{facts}. {description}" if facts and description else facts or description
    return Candidate(id=identifier, title=title, text=text[:MAX_TEXT_CHARACTERS])


def _facts(document: Document) -> Iterator[str]:
    for name in _FIRST:
        value = _plain(document.get(name), _LONGEST_ATTRIBUTE)
        if value:
            yield f"{name}: {value}"
    others = 0
    for name, raw in document.items():
        if name in _NOT_READ or name.startswith("_") or others == _MAX_ATTRIBUTES:
            continue
        value = _plain(raw, _LONGEST_ATTRIBUTE)
        if value and "://" not in value and not value.startswith("/"):
            others += 1
            yield f"{name}: {value}"


def _plain(value: Any, limit: int) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, (_plain(each, limit) for each in value[:5])))[:limit]
    if isinstance(value, str):
        # Twice the limit leaves room for the markup that is taken out.
        return " ".join(plain_text(value[: 2 * limit]).split())[:limit]
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else ""
