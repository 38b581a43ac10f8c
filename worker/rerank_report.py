"""How a better order of the first hits was looked for, for receipt and log line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

RerankOutcome = Literal["reranked", "unchanged", "late", "failed", "skipped"]
"""`unchanged` came in time and agrees with the order that was sent; `late` did not come in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankReport:
    """What became of it; `reason` says why there is no better order."""

    kind: str
    outcome: RerankOutcome
    candidates: int = 0
    reason: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the receipt's `reranking`. Source: docs/wire-format.md."""
        facts: dict[str, Any] = {"kind": self.kind, "outcome": self.outcome, "candidates": self.candidates}
        return facts if self.reason is None else facts | {"reason": self.reason}
