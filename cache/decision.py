"""What a lookup decided and why: for the receipt, the log line, and the person who reads it.

`reason` is the one word that answers "why was this not cached?"; the steps say what each tier said and how
long it took. docs/caching.md explains every word that can stand here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cache.entry import CacheEntry


class Outcome(StrEnum):
    """How one tier answered."""

    HIT = "hit"
    STALE = "stale"
    MISS = "miss"
    TIMEOUT = "timeout"
    """Over its budget; the read goes on for the next caller."""
    ERROR = "error"
    OPEN = "open"
    """Its breaker is open: it was not asked."""
    BUSY = "busy"
    """Too much is waiting for it already: it was not asked."""
    DAMAGED = "damaged"
    """It held bytes that are no answer to this question; they were removed."""
    OUTDATED = "outdated"
    """It held an answer made with another prompt, model or setting."""
    DROPPED = "dropped"
    """It held an answer from before the account's entries were dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TierStep:
    """What one tier said. `outcome` is an `Outcome`, or the filter's verdict."""

    tier: str
    outcome: str
    ms: float
    detail: str = ""

    def __str__(self) -> str:
        shown = f"{self.tier}={self.outcome}"
        return f"{shown}({self.detail})" if self.detail else shown


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheDecision:
    """The answer to serve, if any, and how it was found or not."""

    key_text: str
    entry: CacheEntry | None
    tier: str | None
    """`edge` or `table`; None for a miss."""
    reason: str
    steps: tuple[TierStep, ...]
    ms: float

    @property
    def is_hit(self) -> bool:
        """Whether there is an answer to serve."""
        return self.entry is not None

    def as_log(self) -> dict[str, Any]:
        """Return the `cache` object of a log line.

        `{"hit": true, "tier": "edge", "reason": "stale", "key": "a#i#q", "steps": [...], "ms": 0.05}`
        """
        return {
            "hit": self.is_hit,
            "tier": self.tier,
            "reason": self.reason,
            "key": self.key_text,
            "steps": [str(step) for step in self.steps],
            "ms": round(self.ms, 3),
        }


def reason_of_miss(steps: tuple[TierStep, ...]) -> str:
    """Return the one word for a miss: an answer that could not be used, else what the last tier said."""
    for step in steps:
        if step.outcome in (Outcome.DROPPED, Outcome.OUTDATED, Outcome.DAMAGED):
            return f"{step.tier}_{step.outcome}"
    last = steps[-1]
    if last.tier == "filter":
        return "never_stored"
    return "not_stored" if last.outcome == Outcome.MISS else f"{last.tier}_{last.outcome}"
