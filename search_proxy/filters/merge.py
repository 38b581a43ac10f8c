"""Filters ANDed as trees: no text is ever glued, so no part can change the meaning of another."""

from __future__ import annotations

from search_proxy.filters.tree import AndFilter, Filter


def merge_filters(*parts: Filter | None) -> Filter | None:
    """Return the AND of all given parts in their order, leaving out None; None when nothing is left."""
    merged: Filter | None = None
    for part in parts:
        if part is not None:
            merged = part if merged is None else AndFilter(merged, part)
    return merged
