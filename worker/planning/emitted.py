"""Keeps what of a plan has been emitted, so that a second planner can add to it and not repeat it."""

from __future__ import annotations

from worker.planning.plan import Emit, PlanDecision, PlanEvent, QueryComplement, QueryExpansion, Strategy

_ANSWERS_WITHOUT_SEARCH = frozenset({Strategy.NO_MATCH, Strategy.NEEDS_CLARIFICATION})


class EmittedPlan:
    """Passes events on to `emit` and remembers them."""

    def __init__(self, emit: Emit, max_expansions: int) -> None:
        self.expansions = 0
        self.anything = False
        self._filters = False
        self._planned = 0
        self._emit = emit
        self._max_expansions = max_expansions
        self._taken: set[str] = set()
        self._complements: set[str] = set()
        self._decision: PlanDecision | None = None

    @property
    def answers_without_search(self) -> bool:
        """Whether the plan says that there is nothing to search for, and what to say instead."""
        return self._says_no_search and self._has_message and not self.expansions

    @property
    def contradicts_itself(self) -> bool:
        """Whether the plan says that there is nothing to search for, and searches."""
        return self._says_no_search and self.expansions > 0

    def settle(self) -> None:
        """Let the searches of a plan that contradicts itself stand, and nothing else of its decision."""
        self.emit(PlanDecision(strategy=Strategy.HYBRID if self._filters else Strategy.CONTENT_ONLY))

    @property
    def _says_no_search(self) -> bool:
        return self._decision is not None and self._decision.strategy in _ANSWERS_WITHOUT_SEARCH

    @property
    def _has_message(self) -> bool:
        return self._decision is not None and bool(self._decision.message)

    def emit(self, event: PlanEvent) -> None:
        """Pass on an event of the first planner."""
        # A decision alone can be taken back: another attempt, or who stands in, sends its own.
        self.anything |= not isinstance(event, PlanDecision)
        if isinstance(event, QueryExpansion):
            self.expansions += 1
            self._planned += 1
            self._filters |= event.filter is not None
            self._taken |= _names(event)
        elif isinstance(event, QueryComplement):
            self._complements.add(event.query.casefold())
        elif isinstance(event, PlanDecision):
            self._decision = event
        self._emit(event)

    def fill(self, event: PlanEvent) -> None:
        """Pass on an event of a planner that stands in, unless the first planner said it already."""
        if isinstance(event, QueryExpansion) and (
            self.expansions >= self._max_expansions or self._taken & _names(event)
        ):
            return
        if isinstance(event, QueryComplement) and event.query.casefold() in self._complements:
            return
        # Who searches decides how: without a row of its own the first plan's strategy says nothing.
        if isinstance(event, PlanDecision) and self._decision is not None and self._planned:
            return
        planned = self._planned
        self.emit(event)
        self._planned = planned


def _names(expansion: QueryExpansion) -> set[str]:
    # The catalog planner's rows often share a query and differ in their filter.
    asked = f"query:{expansion.query.casefold()}:{expansion.filter or ''}"
    return {asked, f"label:{expansion.label.casefold()}"}
