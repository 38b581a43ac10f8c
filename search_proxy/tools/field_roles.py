"""Which fields of an index play which part in a tool: its author, its tags, when it was made.

Catalogs and document collections name the same thing differently; the first name that an index has is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

_NAMES: Mapping[str, tuple[str, ...]] = {
    "author": ("author", "brand", "vendor", "manufacturer", "from", "sender"),
    "tags": ("tags", "labels", "productCollections", "collections"),
    "created": (
        *("createdTime", "created_time", "createdAt", "created_at", "created", "publishedAt"),
        *("published_at", "date", "sentAt", "sent_at", "releaseDate", "date_released", "releasedAt"),
    ),
    "scope": ("scope", "channel", "project", "workspace", "folder", "collection", "category"),
    "title": ("productTitle", "title", "subject", "name"),
    "subtitle": ("variantTitle",),
    "body": ("description", "body", "text", "content"),
    "price": ("price",),
    "currency": ("currency",),
}

NOT_FACETS = frozenset(
    {
        *("_id", "parentProductId", "productTitle", "variantTitle", "variantImageUrl", "description"),
        *("currency", "mpn", "sku", "gtin", "ean", "upc", "barcode", "image", "url", "link"),
        *("title", "subject", "body", "text", "content", "enrichedKeywords", "enrichedDescription"),
    }
)
"""Fields that tell one document from all others, or are prose: nothing to choose documents by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRoles:
    """The index's own field name for every part, or None where it has none."""

    author: str | None = None
    tags: str | None = None
    created: str | None = None
    scope: str | None = None
    title: str | None = None
    subtitle: str | None = None
    body: str | None = None
    price: str | None = None
    currency: str | None = None


def field_roles(names: Collection[str]) -> FieldRoles:
    """Return which of `names` plays which part."""
    return FieldRoles(
        **{
            role: next((candidate for candidate in candidates if candidate in names), None)
            for role, candidates in _NAMES.items()
        }
    )
