"""Counts an account's requests by the minute, for some hours, in bounded memory."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from worker.observe.completion import Completion

KEPT_MINUTES = 180
MAX_ACCOUNTS = 100
"""The one that was quiet for longest is forgotten first."""
_BUCKETS_MS = (5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240)
_MAX_WORDS = 20


@dataclass(slots=True)
class Minute:
    """One minute of one account."""

    at: int
    sources: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    cache: Counter[str] = field(default_factory=Counter)
    degraded: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    durations: list[int] = field(default_factory=lambda: [0] * (len(_BUCKETS_MS) + 1))

    def add(self, completion: Completion) -> None:
        """Count one request."""
        _count(self.sources, completion.source)
        _count(self.outcomes, completion.outcome)
        if completion.cache is not None:
            is_hit, reason = completion.cache.get("hit"), completion.cache.get("reason")
            _count(self.cache, completion.cache_tier or "hit" if is_hit else str(reason))
        if completion.degraded is not None:
            _count(self.degraded, completion.degraded.partition(":")[0])
        if completion.tokens:
            self.tokens += sum(completion.tokens.values())
        self.durations[_bucket(completion.timings.get("E2E", 0.0))] += 1

    def to_json(self) -> dict[str, Any]:
        """Return the minute as JSON; `p50` and `p95` are upper bounds of their buckets in ms."""
        return {
            "at": self.at,
            "sources": dict(self.sources),
            "outcomes": dict(self.outcomes),
            "cache": dict(self.cache),
            "degraded": dict(self.degraded),
            "tokens": self.tokens,
            "durations": self.durations,
        }


class Minutes:
    """The last minutes of the accounts that were asked."""

    def __init__(self) -> None:
        self._accounts: OrderedDict[str, OrderedDict[int, Minute]] = OrderedDict()

    def observe(self, completion: Completion) -> None:
        """Count a completion under the minute in which it ended."""
        if completion.purpose != "request":
            return
        account, at = completion.account, int(completion.at // 60)
        minutes = self._accounts.get(account)
        if minutes is None:
            minutes = self._accounts[account] = OrderedDict()
            if len(self._accounts) > MAX_ACCOUNTS:
                self._accounts.popitem(last=False)
        minute = minutes.get(at)
        if minute is None:
            self._accounts.move_to_end(account)
            minute = minutes[at] = Minute(at * 60)
            # By number, not by age: a clock that jumps back must not empty the table.
            while len(minutes) > KEPT_MINUTES:
                minutes.popitem(last=False)
        minute.add(completion)

    def of(self, account: str, since: float) -> list[dict[str, Any]]:
        """Return an account's minutes that began after `since`, in order."""
        known: Mapping[int, Minute] = self._accounts.get(account, {})
        return [minute.to_json() for _, minute in sorted(known.items()) if minute.at >= since]


def merged_minutes(parts: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the minutes of several processes as those of one, each with `p50` and `p95` of its durations."""
    by_time: dict[int, dict[str, Any]] = {}
    for minute in (minute for part in parts for minute in part):
        nothing: dict[str, Any] = {"at": minute["at"], "tokens": 0, "durations": []}
        known = by_time.setdefault(minute["at"], nothing)
        known["tokens"] += minute["tokens"]
        known["durations"] = _sums(known["durations"], minute["durations"])
        for name in ("sources", "outcomes", "cache", "degraded"):
            known[name] = dict(Counter(known.get(name, {})) + Counter(minute[name]))
    for minute in by_time.values():
        durations = minute.pop("durations")
        minute |= {"p50": _percentile(durations, 0.5), "p95": _percentile(durations, 0.95)}
    return [by_time[at] for at in sorted(by_time)]


def _sums(one: list[int], other: list[int]) -> list[int]:
    return [a + b for a, b in zip(one, other, strict=True)] if one else list(other)


def _percentile(counts: list[int], share: float) -> float | None:
    """Return the upper bound of the bucket that `share` of the values do not exceed."""
    total, seen = sum(counts), 0
    for bound, count in zip((*_BUCKETS_MS, 2 * _BUCKETS_MS[-1]), counts, strict=True):
        seen += count
        if total and seen >= share * total:
            return float(bound)
    return None


def _bucket(ms: float) -> int:
    return next((place for place, bound in enumerate(_BUCKETS_MS) if ms <= bound), len(_BUCKETS_MS))


def _count(counts: Counter[str], word: str) -> None:
    counts[word if word in counts or len(counts) < _MAX_WORDS else "other"] += 1
