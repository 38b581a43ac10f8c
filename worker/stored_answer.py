"""What of an answer is kept: the plan and the summary, never the hits.

A cached answer runs its searches fresh, so that prices and stock are always today's. The bytes carry a
format number; a number that this version does not read is a miss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from worker.planning.plan import PlanDecision, QueryExpansion, Strategy

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """A plan with its summary, as one session got it and others may."""

    expansions: tuple[QueryExpansion, ...]
    complements: tuple[str, ...] = ()
    decision: PlanDecision = PlanDecision()
    summary: str = ""
    model: str | None = None

    def encode(self) -> bytes:
        """Return the answer as JSON, expansions in the form of the model's own answer."""
        return orjson.dumps(
            {
                "format": FORMAT,
                "query_expansions": [
                    [expansion.query, expansion.label, expansion.confidence, expansion.filter]
                    for expansion in self.expansions
                ],
                "query_complements": self.complements,
                "strategy": self.decision.strategy,
                "rewritten_query": self.decision.rewritten_query,
                "message": self.decision.message,
                "summary": self.summary,
                "model": self.model,
            }
        )

    @classmethod
    def decode(cls, payload: bytes) -> StoredAnswer | None:
        """Return the answer, or None for bytes of another format."""
        try:
            data: dict[str, Any] = orjson.loads(payload)
            if data["format"] != FORMAT:
                return None
            return cls(
                expansions=tuple(
                    QueryExpansion(query=query, label=label, confidence=float(confidence), filter=filter_text)
                    for query, label, confidence, filter_text in data["query_expansions"]
                ),
                complements=tuple(data["query_complements"]),
                decision=PlanDecision(
                    strategy=Strategy(data["strategy"]) if data["strategy"] else None,
                    rewritten_query=data["rewritten_query"],
                    message=data["message"],
                ),
                summary=data["summary"],
                model=data["model"],
            )
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            return None
