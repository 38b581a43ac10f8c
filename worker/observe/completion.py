"""One finished request, as every listener sees it: the log line, the metrics, the traces, `aisle tail`.

Written once, when the answer has ended however it ended, and never changed. What does not apply to a request
is None and absent from its line. docs/log-schema.json is the written form; a test holds both together.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Literal

SCHEMA_VERSION = 1
"""Raised when a field changes its meaning or goes; a field that is added does not raise it."""

CompletionEvent = Literal[
    "agentic_search_completed", "converse_completed", "chat_suggestions_completed", "search_completed"
]
CompletionOutcome = Literal["ok", "error", "canceled", "degraded"]
Purpose = Literal["request", "refresh", "offline"]
"""`refresh` replaces a stale cache entry and `offline` warms or previews: no shopper waits for either."""

LOGGER = "worker.observe"
_NEVER_IN_LINE = frozenset({"event", "at"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One finished request. `timings` has the documented keys in ms; a stage that did not run is absent.

    `starts` says of the same stages when they began, in ms after the request did.
    """

    event: CompletionEvent
    source: str
    outcome: CompletionOutcome
    account: str
    index: str
    request_id: str
    timings: Mapping[str, float]
    starts: Mapping[str, float] | None = None
    schema: int = SCHEMA_VERSION
    purpose: Purpose = "request"
    run_id: str | None = None
    query_hash: str | None = None
    query: str | None = None
    """The words themselves, only where the account has `log_queries` on."""
    error: str | None = None
    """The code of what ended the answer, or why it was canceled."""
    degraded: str | None = None
    strategy: str | None = None
    model: str | None = None
    prompt_version: int | str | None = None
    settings_version: int | None = None
    cache_tier: str | None = None
    cache: Mapping[str, Any] | None = None
    categories: int | None = None
    category_errors: int | None = None
    total_hits: int | None = None
    filters_dropped: int | None = None
    ungrounded_links: int | None = None
    withheld: int | None = None
    """How many hits the view gate took out, where it took any."""
    reranked: str | None = None
    """What became of a better order for the first hits, where one was asked for."""
    warnings: Sequence[str] | None = None
    tokens: Mapping[str, int] | None = None
    tools: Sequence[Mapping[str, Any]] | None = None
    """Each call of a turn that searched by tools: name, ms, hits, error."""
    conversation_hash: str | None = None
    turn: int | None = None
    history: int | None = None
    images: int | None = None
    documents: int | None = None
    document: str | None = None
    suggestions: int | None = None
    at: float = field(default_factory=time.time)
    """When it ended, in seconds since the epoch."""

    def log_fields(self) -> dict[str, Any]:
        """Return the facts of the log line, without what the logger itself writes (time, event)."""
        return {name: value for name in _IN_LINE if (value := getattr(self, name)) is not None}

    def as_line(self) -> dict[str, Any]:
        """Return the whole log line as an object, for those who do not read the log."""
        return {
            "time": datetime.fromtimestamp(self.at, UTC).isoformat(timespec="milliseconds"),
            "level": "info",
            "event": self.event,
            "logger": LOGGER,
        } | self.log_fields()


_IN_LINE = tuple(each.name for each in fields(Completion) if each.name not in _NEVER_IN_LINE)


def hashed(text: str) -> str:
    """Return what stands for a query or an id in a line: equal texts are found again, none can be read."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
