"""What the cache counts of itself at one moment: typed, with few labels, read without waiting.

Counts grow from the start of the process. Every label is a word of this package: nothing that a caller writes
becomes one, no account and no index.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cache.circuit_breaker import CircuitBreaker
from cache.counters import CacheCounters
from cache.decision import Outcome
from cache.membership_filter import FilterVerdict

_MISSES = tuple(outcome for outcome in Outcome if outcome not in (Outcome.HIT, Outcome.STALE))
_FAILURES = (Outcome.TIMEOUT, Outcome.ERROR)
_NO_KINDS = frozenset({"edge", "filter", "table", "lookup", "store"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TierSnapshot:
    """One tier: `edge` or `table`."""

    name: str
    hits: int
    stale: int
    misses: Mapping[Outcome, int]
    """Lookups that it did not answer, by what it said; every outcome is there."""
    reads: int
    """Calls that were made, of answers and of other values; overlapping equal lookups share one."""
    errors: Mapping[Outcome, int]
    """Calls, reads and writes, that failed or took too long."""
    reads_open: bool
    """Its breaker keeps reads away from it."""
    writes_open: bool
    bytes_used: int | None = None
    """What it holds in this process; None where it holds it elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterSnapshot:
    """The negative filters of this process together."""

    negatives: int
    """Lookups that they ended: certainly never stored."""
    maybes: Mapping[FilterVerdict, int]
    """Lookups that they let through, by why; every such verdict is there."""
    false_positives: int
    """Lookups let through as `present` that the table had nothing for."""
    scopes: int
    keys: int
    bytes_used: int
    added: int
    """Keys written since the filters were built."""
    oldest_seconds: float | None
    """The age of the oldest one; None where there is none."""
    behind_seconds: float | None
    """How old the news from other processes is, at worst, where it has come at all."""

    @property
    def false_positive_rate(self) -> float | None:
        """The share of absent keys that were let through; None where none was asked for."""
        absent = self.negatives + self.false_positives
        return self.false_positives / absent if absent else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSnapshot:
    """Everything that the cache of this process counts."""

    lookups: Mapping[str, int]
    """Whole lookups by their `reason`, as log lines show it."""
    edge: TierSnapshot
    filter: FilterSnapshot
    table: TierSnapshot
    values: Mapping[str, Mapping[str, int]]
    """Other values of the edge by kind (`suggestions`, `document`): `{"document": {"hit": 3, "miss": 1}}`."""
    stores: Mapping[str, int]
    """Answers to keep, by what the table said: `stored`, `kept`, `too_large`, or a failure."""
    flights: int
    """Questions that are being answered for several callers right now."""
    background: int
    """Reads, promotions and refreshes under way."""


def tier_snapshot(
    name: str,
    counters: CacheCounters,
    reads: CircuitBreaker,
    writes: CircuitBreaker,
    bytes_used: int | None = None,
) -> TierSnapshot:
    """Return one tier's part."""
    return TierSnapshot(
        name=name,
        hits=counters.of(name, Outcome.HIT),
        stale=counters.of(name, Outcome.STALE),
        misses={outcome: counters.of(name, outcome) for outcome in _MISSES},
        reads=counters.of(name, "reads"),
        errors={outcome: counters.of(name, f"failed_{outcome}") for outcome in _FAILURES},
        reads_open=reads.is_open,
        writes_open=writes.is_open,
        bytes_used=bytes_used,
    )


def filter_snapshot(counters: CacheCounters, described: Mapping[str, Mapping[str, float]]) -> FilterSnapshot:
    """Return the filters' part; `described` is what `FuseFilters.describe` says of each."""
    filters = described.values()
    ages = [facts["age_seconds"] for facts in filters if "age_seconds" in facts]
    behind = [facts["behind_seconds"] for facts in filters if "behind_seconds" in facts]
    return FilterSnapshot(
        negatives=counters.of("filter", FilterVerdict.ABSENT),
        maybes={
            verdict: counters.of("filter", verdict)
            for verdict in FilterVerdict
            if verdict is not FilterVerdict.ABSENT
        },
        false_positives=counters.of("filter", "false_positive"),
        scopes=len(described),
        keys=int(sum(facts.get("keys", 0) for facts in filters)),
        bytes_used=int(sum(facts.get("bytes", 0) for facts in filters)),
        added=int(sum(facts["added"] for facts in filters)),
        oldest_seconds=max(ages, default=None),
        behind_seconds=max(behind, default=None),
    )


def value_counts(counters: CacheCounters) -> dict[str, dict[str, int]]:
    """Return what became of lookups of other values, by kind."""
    return {kind: counts for kind, counts in counters.by_tier().items() if kind not in _NO_KINDS}
