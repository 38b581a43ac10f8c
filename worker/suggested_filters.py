"""Suggests filters for a query: facet values that its words name, then the commonest among its hits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from search_proxy.filters import TermFilter

MAX_SUGGESTIONS = 8
_WORD = re.compile(r"[^\W_]+")


def suggest_filters(query: str, facets: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return up to eight `{"field", "value", "filter", "count"}`, the ones named in the query first."""
    words = set(_WORD.findall(query.casefold()))
    ranked: list[tuple[bool, int, str, str]] = []
    for field, values in facets.items():
        for value, counted in values.items():
            if isinstance(counted, Mapping) and counted.get("count"):
                named = set(_WORD.findall(value.casefold())) <= words
                ranked.append((not named, -int(counted["count"]), field, value))
    ranked.sort()
    return [
        {"field": field, "value": value, "filter": str(TermFilter(field, value)), "count": -count}
        for _, count, field, value in ranked[:MAX_SUGGESTIONS]
    ]
