"""Plans with the models that the account has chosen, or the server's own chain.

Planners are made once per chain and kept; a model's breaker is one for all accounts, since it watches the
model and not the account.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from worker.planning.plan import Emit, PlanReport, PlanRequest
from worker.planning.planner import Planner

MAX_CHAINS = 256
"""Chains kept; accounts choose among a handful of models."""


class AccountPlanner:
    """A `Planner` that picks one of its own kind for each request's chain of models."""

    def __init__(self, make: Callable[[Sequence[str]], Planner], default: Sequence[str]) -> None:
        self._make = make
        self._default = tuple(default)
        self._planners: OrderedDict[tuple[str, ...], Planner] = OrderedDict()

    async def plan(self, request: PlanRequest, emit: Emit) -> PlanReport:
        """Push the plan's parts through `emit` and return how it went.

        Raises:
            PlanningFailed: As the planner of the chain.
        """
        return await self._planner(request.models or self._default).plan(request, emit)

    def _planner(self, chain: tuple[str, ...]) -> Planner:
        planner = self._planners.get(chain)
        if planner is None:
            planner = self._planners[chain] = self._make(chain)
            if len(self._planners) > MAX_CHAINS:
                self._planners.popitem(last=False)
        return planner
