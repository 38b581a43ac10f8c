"""Reads a plan from model events, whichever wire they came by.

JSON text, a whole function call, one call per category and arguments that grow leaf by leaf all become
the same plan events. What the model sends decides, not what it was asked for.
"""

from __future__ import annotations

import re

from worker.llm.language_model import FunctionCall, FunctionCallEnd, ModelEvent, PartialArgument, TextDelta
from worker.llm.search_tool import EXECUTE_SEARCH, SEARCH_CATEGORY
from worker.planning.partial_arguments import PartialArguments
from worker.planning.plan import PlanEvent
from worker.planning.plan_fields import PlanFields
from worker.planning.plan_parser import PlanParser


class PlanReader:
    """Takes model events and gives the plan events that they complete."""

    def __init__(self, *, max_expansions: int = 6, allow_filters: bool = True) -> None:
        self.fields = PlanFields(max_expansions=max_expansions, allow_filters=allow_filters)
        self._text: PlanParser | None = None
        self._arguments: PartialArguments | None = None
        self._called = False

    def read(self, event: ModelEvent) -> list[PlanEvent]:
        """Return the plan events that one model event completes."""
        if isinstance(event, TextDelta):
            if self._text is None:
                self._text = PlanParser(self.fields)
            return self._text.feed(event.text)
        if isinstance(event, FunctionCall):
            self._called = True
            return self._call(event)
        if isinstance(event, PartialArgument):
            self._called = True
            if self._arguments is None:
                self._arguments = PartialArguments(self.fields)
            return self._arguments.take(event)
        if isinstance(event, FunctionCallEnd) and self._arguments is not None:
            ended, self._arguments = self._arguments, None
            return ended.end()
        return []

    @property
    def expansions_complete(self) -> bool:
        """Whether no further expansion can come: the list has closed, or as many as allowed are there."""
        return self.fields.is_full or (self._text is not None and self._text.expansions_closed)

    def close(self) -> list[PlanEvent]:
        """Return what the end of the stream completes."""
        events = [] if self._arguments is None else self._arguments.end()
        # Text beside a call is small talk; without a call it is the plan.
        if self._text is not None and not self._called:
            events += self._text.close()
        return events

    def _call(self, call: FunctionCall) -> list[PlanEvent]:
        # Some models write where they think that a function comes from: `default_api.execute_search`.
        name = re.split(r"[.:]", call.name)[-1]
        if name == SEARCH_CATEGORY:
            return self.fields.expansion(dict(call.args))
        if name != EXECUTE_SEARCH:
            self.fields.counts["unknown_function"] += 1
            return []
        return self.fields.members(call.args)
