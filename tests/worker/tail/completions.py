"""Completions for tests of the tail."""

from __future__ import annotations

from typing import Any

from worker.observe.completion import Completion


def completion(**facts: Any) -> Completion:
    """Return a plain completion with `facts` of its own."""
    whole: dict[str, Any] = {
        "event": "agentic_search_completed",
        "source": "llm",
        "outcome": "ok",
        "account": "shop",
        "index": "main",
        "request_id": "r1",
        "run_id": "run1",
        "query_hash": "0123456789abcdef",
        "prompt_version": 3,
        "filters_dropped": 0,
        "timings": {"E2E": 100.0, "LLM_FIRST_CALL": 60.0, "INITIAL_MARQO_SEARCH": 10.0},
        "starts": {"LLM_FIRST_CALL": 20.0, "INITIAL_MARQO_SEARCH": 0.0},
    }
    return Completion(**(whole | facts))
