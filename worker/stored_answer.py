"""What of an answer is kept: the plan and the summary, never the hits.

A cached answer runs its searches fresh, so that prices and stock are always today's. The bytes carry a
format number; a number that this version does not read is a miss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

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
                    QueryExpansion(
                        query=_text(query),
                        label=_text(label),
                        confidence=_share(confidence),
                        filter=_optional(filter_text),
                    )
                    for query, label, confidence, filter_text in data["query_expansions"]
                ),
                complements=tuple([_text(query) for query in data["query_complements"]]),
                decision=PlanDecision(
                    strategy=Strategy(data["strategy"]) if data["strategy"] else None,
                    rewritten_query=_optional(data["rewritten_query"]),
                    message=_optional(data["message"]),
                ),
                summary=_text(data["summary"]),
                model=_optional(data["model"]),
            )
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            return None


class MadeWith(Protocol):
    """What was made with a payload."""

    @property
    def payload(self) -> bytes:
        """The stored plan and summary."""
        ...


class AnswerReader:
    """Reads stored payloads, each once, however often it is asked about the same.

    `made` was made with a payload that could be read.
    """

    def __init__(self, made: MadeWith | None = None) -> None:
        self._made = made
        self._last: tuple[bytes, StoredAnswer | None] = (b"", None)

    def can_read(self, payload: bytes) -> bool:
        """Return whether these bytes are an answer."""
        return (self._made is not None and self._made.payload == payload) or self.read(payload) is not None

    def read(self, payload: bytes | None) -> StoredAnswer | None:
        """Return the answer, or None for nothing and for bytes of another format."""
        if payload is None:
            return None
        if payload is not self._last[0]:
            self._last = (payload, StoredAnswer.decode(payload))
        return self._last[1]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} for text")
    return value


def _optional(value: Any) -> str | None:
    return None if value is None else _text(value)


def _share(value: Any) -> float:
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} for a confidence")
    return float(value)
