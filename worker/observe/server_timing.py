"""`Server-Timing` of an answer that comes whole: its stages, as a browser's own tools show them.

A stream has begun before its stages are known; its receipt tells them. Source: W3C Server Timing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAMES = {
    "E2E": "answer",
    "INITIAL_MARQO_SEARCH": "search",
    "LLM_FIRST_CALL": "plan",
    "LLM_SECOND_CALL": "summary",
    "CATALOG_PLAN": "plan",
    "CATEGORY_SEARCH_TOTAL": "categories",
    "CACHED_QUERY_LOOKUP": "cache",
}


def server_timing(answer: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the header of an aggregated answer, nothing where it has no receipt."""
    receipt = (answer or {}).get("receipt") or {}
    timings = receipt.get("timings") or {}
    entries = [f"{name};dur={timings[stage]}" for stage, name in _NAMES.items() if stage in timings]
    tier = receipt.get("cacheTier")
    if tier:
        entries.append(f'tier;desc="{tier}"')
    return {"server-timing": ", ".join(entries)} if entries else {}
