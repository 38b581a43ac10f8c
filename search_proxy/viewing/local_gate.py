"""Checks each hit by what it says itself: the rule of retrieval, read from the document instead of the index.

It finds what an index that lags behind its documents would let through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from search_proxy.filters.visibility import EVERYBODY, UNSTATED, visibility_of
from search_proxy.viewing.gate import View


class LocalViewGate:
    """Lets through what names one of the caller's groups; without `require_field` also what names none."""

    def __init__(self, *, require_field: bool = False) -> None:
        self._open = {EVERYBODY} if require_field else {EVERYBODY, UNSTATED}

    async def allowed(self, view: View, hits: Sequence[Mapping[str, Any]]) -> frozenset[str]:
        """Return which of the hits the caller's groups open; never fails."""
        own = self._open | {group.casefold() for group in view.groups if group}
        return frozenset(
            str(hit["_id"]) for hit in hits if any(one.casefold() in own for one in visibility_of(hit))
        )
