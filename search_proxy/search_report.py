"""How one plain search went, told once to whoever runs this edge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from search_proxy.caller import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReport:
    """A plain search that has ended; `error` is the code that its client got."""

    caller: Caller
    index: str
    query: str | None
    may_log_query: bool
    outcome: Literal["ok", "error", "canceled"]
    seconds: float
    total_hits: int | None = None
    withheld: int = 0
    error: str | None = None


OnSearch = Callable[[SearchReport], None]
"""Takes a report without waiting and never raises."""


def not_observed(_: SearchReport) -> None:
    """Take a report and do nothing with it."""
