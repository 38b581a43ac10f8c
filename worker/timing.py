"""Measures a request's stages on one monotonic clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum


class Stage(StrEnum):
    """The documented timing keys, in milliseconds. Source: flow document, performance metrics; and ours."""

    E2E = "E2E"
    INITIAL_MARQO_SEARCH = "INITIAL_MARQO_SEARCH"
    LLM_FIRST_CALL = "LLM_FIRST_CALL"
    LLM_SECOND_CALL = "LLM_SECOND_CALL"
    CATEGORY_SEARCH_TOTAL = "CATEGORY_SEARCH_TOTAL"
    CACHED_QUERY_LOOKUP = "CACHED_QUERY_LOOKUP"
    CATALOG_PLAN = "CATALOG_PLAN"
    RERANK = "RERANK"
    CONVERSATION_LOAD = "CONVERSATION_LOAD"
    CONVERSATION_COMMIT = "CONVERSATION_COMMIT"
    PRODUCT_CONTEXT = "PRODUCT_CONTEXT"
    TIME_TO_FIRST_EVENT = "TIME_TO_FIRST_EVENT"
    TIME_TO_FIRST_HITS = "TIME_TO_FIRST_HITS"
    TIME_TO_FIRST_CATEGORY = "TIME_TO_FIRST_CATEGORY"


_AN_ATTEMPT_SECONDS = 0.001
"""No model answers, or fails, in less: a stage that was given up sooner was never begun."""
_MOMENTS = frozenset({"TIME_TO_FIRST_EVENT", "TIME_TO_FIRST_HITS", "TIME_TO_FIRST_CATEGORY"})


class Timings:
    """Spans by stage: overlapping ones count from the first start to the last end."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._began = clock()
        # By the stages' names: an enumeration's member is hashed in Python, ten times as slowly as a string.
        self._spans: dict[str, tuple[float, float]] = {}
        self._handed_over: float | None = None

    def measure(self, stage: Stage) -> _Span:
        """Measure the block as `stage`, also when it raises."""
        return _Span(self._clock, self._spans, stage.value)

    def mark(self, stage: Stage) -> None:
        """Record, once, how long after the beginning this moment is."""
        name = stage.value
        if name not in self._spans:
            self._spans[name] = (self._began, self._clock())

    def hand_over(self) -> None:
        """Note the moment at which one stage has failed and the one that stands in for it begins."""
        self._handed_over = self._clock()

    def rename(self, old: Stage, new: Stage) -> None:
        """File what was measured as `old` under `new`, when it turns out to have been that.

        After `hand_over` only what followed it was `new`; what came before, and took any time, stays `old`.
        """
        span = self._spans.pop(old.value, None)
        if span is None:
            return
        start, end = span
        moment = self._handed_over
        if moment is not None and start + _AN_ATTEMPT_SECONDS <= moment <= end:
            self._spans[old.value] = (start, moment)
            start = moment
        _cover(self._spans, new.value, start, end)

    def milliseconds(self) -> dict[str, float]:
        """Return the stages that ran, `E2E` up to now included."""
        measured = {"E2E": round((self._clock() - self._began) * 1000, 2)}
        for name, (start, end) in self._spans.items():
            measured[name] = round((end - start) * 1000, 2)
        return measured

    def starts(self) -> dict[str, float]:
        """Return when each stage that is a stretch of the request began, in ms after its beginning."""
        began = self._began
        return {
            name: round((start - began) * 1000, 2)
            for name, (start, _) in self._spans.items()
            if name not in _MOMENTS
        }


class _Span:
    """One stretch being measured; a class, because a generator costs twice as much."""

    __slots__ = ("_clock", "_name", "_spans", "_start")

    def __init__(self, clock: Callable[[], float], spans: dict[str, tuple[float, float]], name: str) -> None:
        self._clock, self._spans, self._name = clock, spans, name

    def __enter__(self) -> None:
        self._start = self._clock()

    def __exit__(self, *_: object) -> None:
        _cover(self._spans, self._name, self._start, self._clock())


def _cover(spans: dict[str, tuple[float, float]], name: str, start: float, end: float) -> None:
    known = spans.get(name)
    spans[name] = (start, end) if known is None else (min(known[0], start), max(known[1], end))
