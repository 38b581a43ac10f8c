"""Measures a request's stages on one monotonic clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


_MOMENTS = frozenset({Stage.TIME_TO_FIRST_EVENT, Stage.TIME_TO_FIRST_HITS, Stage.TIME_TO_FIRST_CATEGORY})


class Timings:
    """Spans by stage: overlapping ones count from the first start to the last end."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._began = clock()
        self._spans: dict[Stage, tuple[float, float]] = {}

    @contextmanager
    def measure(self, stage: Stage) -> Iterator[None]:
        """Measure the block as `stage`, also when it raises."""
        start = self._clock()
        try:
            yield
        finally:
            self._cover(stage, start, self._clock())

    def mark(self, stage: Stage) -> None:
        """Record, once, how long after the beginning this moment is."""
        if stage not in self._spans:
            self._spans[stage] = (self._began, self._clock())

    def rename(self, old: Stage, new: Stage) -> None:
        """File what was measured as `old` under `new`, when it turns out to have been that."""
        if old in self._spans:
            start, end = self._spans.pop(old)
            self._cover(new, start, end)

    def milliseconds(self) -> dict[str, float]:
        """Return the stages that ran, `E2E` up to now included."""
        measured = {stage.value: _ms(end - start) for stage, (start, end) in self._spans.items()}
        return {Stage.E2E.value: _ms(self._clock() - self._began)} | measured

    def starts(self) -> dict[str, float]:
        """Return when each stage that is a stretch of the request began, in ms after its beginning."""
        began = self._began
        return {
            stage.value: _ms(start - began)
            for stage, (start, _) in self._spans.items()
            if stage not in _MOMENTS
        }

    def _cover(self, stage: Stage, start: float, end: float) -> None:
        known = self._spans.get(stage)
        self._spans[stage] = (start, end) if known is None else (min(known[0], start), max(known[1], end))


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)
