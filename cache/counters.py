"""Counts what the tiers did since the process started, for `/metrics` and `aisle cache stats`."""

from __future__ import annotations

from collections import Counter


class CacheCounters:
    """Counts by tier and outcome; cheap enough for every lookup."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def count(self, tier: str, outcome: str) -> None:
        """Add one."""
        self._counts[(tier, outcome)] += 1

    def of(self, tier: str, outcome: str) -> int:
        """Return how often a tier had an outcome."""
        return self._counts[(tier, outcome)]

    def by_tier(self) -> dict[str, dict[str, int]]:
        """Return every count, `{"edge": {"hit": 12, "miss": 3}, ...}`."""
        shown: dict[str, dict[str, int]] = {}
        for (tier, outcome), count in sorted(self._counts.items()):
            shown.setdefault(tier, {})[outcome] = count
        return shown

    def false_positive_rate(self) -> float | None:
        """Return the share of absent keys that the filter let through; None where none was asked for."""
        denied, wrong = self.of("filter", "absent"), self.of("filter", "false_positive")
        return wrong / (denied + wrong) if denied + wrong else None
