"""Reads a feed once ahead of its load, to derive a category for the products that have none.

Deriving needs every title before it can name the first product, so the feed is read twice; of each product
only the few fields that say what it is are kept meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable

from search_proxy.feeds.category_derivation import derive_categories
from search_proxy.feeds.reader import Feed
from search_proxy.feeds.records import FeedItem

FIELD = "derivedCategory"
"""Where a derived category is stored; the merchant's own `category` stays theirs."""

MAX_PRODUCTS = 300_000
"""Beyond this the titles would take hundreds of megabytes; such a catalog has categories of its own."""

_FIELDS = (
    "_id",
    "productTitle",
    "category",
    "brand",
    "vendor",
    "manufacturer",
    "product_type",
    "productType",
)
_PROGRESS_EVERY = 2_000


def read_categories(
    feed: Feed, *, limit: int | None = None, on_progress: Callable[[int], None] | None = None
) -> dict[str, str]:
    """Return a category by id for a feed's products that have none; nothing for a feed that is too large."""
    described: list[dict[str, object]] = []
    is_complete = True
    for entry in feed:
        if not isinstance(entry, FeedItem):
            continue
        if len(described) == limit:
            break
        if len(described) == MAX_PRODUCTS:
            return {}
        described.append({name: entry.document[name] for name in _FIELDS if name in entry.document})
        is_complete = is_complete and "category" in entry.document
        if on_progress and len(described) % _PROGRESS_EVERY == 0:
            on_progress(feed.bytes_read)
    return {} if is_complete else derive_categories(described)
