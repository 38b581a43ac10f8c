"""What a tail has seen, in the end: counts by source and outcome, and how long the stages took."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any

from worker.tail.pretty import NAME_WIDTH, shown, stage_name

MOST_VALUES = 10_000
"""Per stage; a longer tail speaks of its last ones."""
_MOST_STAGES = 40


class TailSummary:
    """Counts requests as they pass."""

    def __init__(self) -> None:
        self.requests = 0
        self.skipped = 0
        self.broken = 0
        self._sources: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._stages: dict[str, deque[float]] = {}

    def add(self, line: Mapping[str, Any]) -> None:
        """Count one log line."""
        self.requests += 1
        self._count(self._sources, line.get("source"))
        self._count(self._outcomes, line.get("outcome"))
        timings = line.get("timings")
        for stage, value in timings.items() if isinstance(timings, Mapping) else ():
            if isinstance(value, int | float) and (stage in self._stages or len(self._stages) < _MOST_STAGES):
                self._stages.setdefault(stage, deque(maxlen=MOST_VALUES)).append(float(value))

    def text(self) -> str:
        """Return the summary for people."""
        lines = ["", _requests(self.requests)]
        if self.skipped:
            share = self.requests / (self.requests + self.skipped)
            lines[-1] += f"; {self.skipped:,} more were left out under load ({share:.0%} shown)"
        if self.broken:
            lines.append(f"{self.broken:,} lines could not be read")
        for what, counts in (("source", self._sources), ("outcome", self._outcomes)):
            if counts:
                lines.append(f"by {what}: " + ", ".join(f"{name} {n:,}" for name, n in counts.most_common()))
        if self._stages:
            lines += ["", f"{'stage':<{NAME_WIDTH}}{'p50 ms':>10}{'p95 ms':>10}{'count':>8}"]
            lines += [_row(stage, sorted(values)) for stage, values in self._stages.items()]
        return "".join(f"{line}\n" for line in lines)

    @staticmethod
    def _count(counts: Counter[str], name: object) -> None:
        known = shown(name)
        counts[known if known in counts or len(counts) < _MOST_STAGES else "other"] += 1


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest of the ordered values that `share` of them do not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _row(stage: str, ordered: Sequence[float]) -> str:
    p50, p95 = percentile(ordered, 0.5), percentile(ordered, 0.95)
    return f"{stage_name(stage):<{NAME_WIDTH}}{p50:>10,.1f}{p95:>10,.1f}{len(ordered):>8,}"


def _requests(count: int) -> str:
    return "1 request" if count == 1 else f"{count:,} requests"
