"""What each field of a model's plan may hold, and what becomes of everything else.

Every wire ends here. Nothing a model writes is fatal: a field that cannot be used is left out or
defaulted, and counted under a stable name that reaches receipt and log (docs/model.md).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from worker.llm.language_model import sendable
from worker.planning.plan import (
    PlanDecision,
    PlanEvent,
    QueryComplement,
    QueryExpansion,
    Strategy,
    SummaryDelta,
)

EXPANSIONS = "query_expansions"
MEMBERS = (EXPANSIONS, "query_complements", "summary", "strategy", "rewritten_query", "message")
"""The members of a plan."""
_READ_ORDER = ("strategy", EXPANSIONS, *(name for name in MEMBERS if name not in ("strategy", EXPANSIONS)))
"""The strategy says how the expansions are searched; everything else can wait for them."""

MAX_EXPANSIONS = 6
DEFAULT_CONFIDENCE = 0.5
_MAX_QUERY = 300
_MAX_LABEL = 80
_MAX_FILTER = 1000
_MAX_TEXT = 8000
_MAX_COMPLEMENTS = 10
_MAX_WRAPPING = 3
_UNSEEN: dict[int, str | None] = {
    **dict.fromkeys((*range(32), *range(127, 160)), " "),
    **dict.fromkeys((0xAD, 0x115F, 0x1160, 0x180E, 0x200B, 0x200E, 0x200F, 0x2800, 0x3164, 0xFEFF, 0xFFA0)),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2060, 0x2070))),
}
"""Characters that nobody sees, and those that turn the line around what stands beside them."""
_JOINERS = "\u200c\u200d"
"""Hold letters and emoji together; alone they are nothing."""
_OBJECT_KEYS = {
    "query": 0,
    "label": 1,
    "category_label": 1,
    "category": 1,
    "confidence": 2,
    "filter": 3,
}


class PlanFields:
    """Turns the raw values of one plan into events, and counts what was wrong with them."""

    def __init__(self, *, max_expansions: int = MAX_EXPANSIONS, allow_filters: bool = True) -> None:
        self.counts: Counter[str] = Counter()
        self.expansions = 0
        self._max_expansions = min(max_expansions, MAX_EXPANSIONS)
        self._allow_filters = allow_filters
        self._queries: set[str] = set()
        self._labels: set[str] = set()
        self._complements: set[str] = set()
        self._decision = PlanDecision()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was wrong, as `name=count`, in the order in which it was first met."""
        return tuple(f"{name}={count}" for name, count in self.counts.items())

    @property
    def is_full(self) -> bool:
        """Whether there are as many expansions as are allowed."""
        return self.expansions >= self._max_expansions

    def expansion(self, raw: Any, depth: int = 0) -> list[PlanEvent]:
        """Return the expansion that one element of `query_expansions` holds, if it holds one.

        A bracket too many, or one that was never closed, wraps good expansions into a bad one; those are
        given one by one.
        """
        wrapped = _wrapped(raw) if depth < _MAX_WRAPPING else []
        if wrapped:
            if len(wrapped) != len(raw):
                self.counts["malformed_expansion"] += 1
            return [event for each in wrapped for event in self.expansion(each, depth + 1)]
        values = self._values(raw)
        query = _line(values[0], _MAX_QUERY)
        label = _line(values[1], _MAX_LABEL) if values[1] is not None else ""
        if query is None or label is None:
            return self._leave_out("malformed_expansion")
        if not query:
            return self._leave_out("empty_query")
        if not label:
            self.counts["label_defaulted"] += 1
            label = query[:_MAX_LABEL]
        if query.casefold() in self._queries:
            return self._leave_out("duplicate_query")
        if label.casefold() in self._labels:
            return self._leave_out("duplicate_label")
        if self.expansions >= self._max_expansions:
            return self._leave_out("too_many_expansions")
        self._queries.add(query.casefold())
        self._labels.add(label.casefold())
        self.expansions += 1
        confidence = self._confidence(values[2])
        return [
            QueryExpansion(query=query, label=label, confidence=confidence, filter=self._filter(values[3]))
        ]

    def member(self, key: str, value: Any) -> list[PlanEvent]:
        """Return the events of one whole member of the plan."""
        if key == EXPANSIONS:
            elements = _expansions(value)
            if elements is None:
                return self._leave_out("malformed_expansion")
            return [event for element in elements for event in self.expansion(element)]
        if key == "query_complements":
            elements = _list(value)
            if elements is None:
                return self._leave_out("malformed_complement")
            return [event for element in elements for event in self._complement(element)]
        if key not in MEMBERS:
            return self._leave_out("unknown_key")
        if value is None or value == "":
            return []
        if not isinstance(value, str):
            return self._leave_out(f"malformed_{key}")
        text = sendable(value[:_MAX_TEXT]).strip()
        if key == "summary":
            return [SummaryDelta(text=text)] if text else []
        return self._decide(key, text)

    def members(self, plan: Mapping[str, Any]) -> list[PlanEvent]:
        """Return the events of a whole plan: its strategy, its expansions, and what can wait for them."""
        known = [key for key in _READ_ORDER if key in plan]
        unknown = [key for key in plan if key not in MEMBERS]
        return [event for key in (*known, *unknown) for event in self.member(key, plan[key])]

    def _values(self, raw: Any) -> tuple[Any, Any, Any, Any]:
        if isinstance(raw, str):
            raw = _json(raw)
        values: list[Any] = [None, None, None, None]
        if isinstance(raw, list):
            values[: len(raw)] = raw
            if len(raw) > 4:
                self.counts["extra_element"] += len(raw) - 4
        elif isinstance(raw, dict):
            for key, value in raw.items():
                if key in _OBJECT_KEYS:
                    values[_OBJECT_KEYS[key]] = value
                else:
                    self.counts["unknown_key"] += 1
        query, label, confidence, written_filter = values[:4]
        return query, label, confidence, written_filter

    def _confidence(self, value: Any) -> float:
        if isinstance(value, str):
            value = _json(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.counts["confidence_defaulted"] += 1
            return DEFAULT_CONFIDENCE
        try:
            confidence = float(value)
        except OverflowError:
            confidence = math.inf
        if not math.isfinite(confidence):
            self.counts["confidence_defaulted"] += 1
            return DEFAULT_CONFIDENCE
        if not 0 <= confidence <= 1:
            self.counts["confidence_clamped"] += 1
        # In this order, so that a zero with a sign loses it.
        return min(max(0.0, confidence), 1.0)

    def _filter(self, value: Any) -> str | None:
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        if not self._allow_filters:
            self.counts["unwanted_filter"] += 1
            return None
        if not isinstance(value, str) or len(value) > _MAX_FILTER:
            self.counts["malformed_filter"] += 1
            return None
        return sendable(value).strip()

    def _complement(self, value: Any) -> list[PlanEvent]:
        query = _line(value, _MAX_QUERY)
        if not query:
            return self._leave_out("malformed_complement")
        if query.casefold() in self._complements or len(self._complements) >= _MAX_COMPLEMENTS:
            return self._leave_out("surplus_complement")
        self._complements.add(query.casefold())
        return [QueryComplement(query=query)]

    def _decide(self, key: str, text: str) -> list[PlanEvent]:
        strategy, rewritten, message = (
            self._decision.strategy,
            self._decision.rewritten_query,
            self._decision.message,
        )
        if key == "strategy":
            try:
                strategy = Strategy(text)
            except ValueError:
                return self._leave_out("unknown_strategy")
        elif key == "rewritten_query":
            rewritten = text[:_MAX_QUERY]
        else:
            message = text
        self._decision = PlanDecision(strategy=strategy, rewritten_query=rewritten, message=message)
        return [self._decision]

    def _leave_out(self, why: str) -> list[PlanEvent]:
        self.counts[why] += 1
        return []


def _line(value: Any, limit: int) -> str | None:
    """Return text as one trimmed line, or None where the value is not text."""
    if not isinstance(value, str):
        return None
    line = " ".join(sendable(value[: 4 * limit]).translate(_UNSEEN).split())[:limit].strip()
    return line if line.strip(_JOINERS) else ""


def _wrapped(raw: Any) -> list[Any]:
    if not isinstance(raw, list) or not raw or isinstance(raw[0], str):
        return []
    return [each for each in raw if isinstance(each, list | dict)]


def _expansions(value: Any) -> list[Any] | None:
    """Return the elements of the list, which some models write as a table or as its only element."""
    if isinstance(value, str):
        value = _json(value)
    if isinstance(value, dict):
        return [value] if "query" in value else list(value.values())
    return value if isinstance(value, list) else None


def _list(value: Any) -> list[Any] | None:
    if isinstance(value, str):
        value = _json(value)
    return value if isinstance(value, list) else None


def _json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
