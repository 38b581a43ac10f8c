"""Parses the filter language."""

from __future__ import annotations

from search_proxy.filters.tree import Filter


def parse_filter(text: str) -> Filter:
    """Return the tree of `text`."""
    raise ValueError(text)
