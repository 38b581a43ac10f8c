"""A planner of a few lines: it emits what it was given, or fails as it was told to."""

from __future__ import annotations

from collections.abc import Sequence

from worker.planning.plan import Emit, PlanEvent, PlanReport, PlanRequest, PlanSource, QueryExpansion

ROWS = (
    QueryExpansion(query="rule tents", label="Tents", confidence=0.8),
    QueryExpansion(query="rule lamps", label="Lamps", confidence=0.6),
    QueryExpansion(query="rule stoves", label="Stoves", confidence=0.4),
)


class FixedPlanner:
    """Emits the same events for every request and remembers how often it was asked."""

    def __init__(self, events: Sequence[PlanEvent] = ROWS, failure: Exception | None = None) -> None:
        self.asked: list[PlanRequest] = []
        self._events = tuple(events)
        self._failure = failure

    async def plan(self, request: PlanRequest, emit: Emit) -> PlanReport:
        """Emit the events, or raise the failure."""
        self.asked.append(request)
        if self._failure is not None:
            raise self._failure
        for event in self._events:
            emit(event)
        return PlanReport(source=PlanSource.CATALOG)
