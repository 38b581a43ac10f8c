"""The seam to a planner."""

from __future__ import annotations

from typing import Protocol

from worker.planning.plan import Emit, PlanReport, PlanRequest


class Planner(Protocol):
    """Turns a query into categories to search.

    Implementations MUST emit each expansion as soon as it is known, MUST NOT emit an expansion after
    `plan` has returned, and MUST emit labels and queries that are not empty.
    """

    async def plan(self, request: PlanRequest, emit: Emit) -> PlanReport:
        """Push the plan's parts through `emit` and return how it went.

        Raises:
            PlanningFailed: No plan, and nothing that could stand in for it. What was emitted stays valid.
        """
        ...
