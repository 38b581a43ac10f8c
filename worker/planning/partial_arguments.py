"""Puts a function call's arguments together from the leaves in which Vertex AI streams them.

No leaf says that an array is closed, so an expansion is whole when a leaf of a later one, or of another
member, arrives, or when its fourth element came in one piece. Source: Vertex AI, streaming function call
arguments.
"""

from __future__ import annotations

import re
from typing import Any

from worker.llm.language_model import PartialArgument
from worker.planning.plan import PlanEvent, SummaryDelta
from worker.planning.plan_fields import EXPANSIONS, PlanFields

_STEP = re.compile(r"\.?([A-Za-z_][A-Za-z0-9_]*)|\[(\d{1,4})\]|\['([^']{1,64})'\]")
_MAX_INDEX = 64
_MAX_TEXT = 16_384
_LAST_SLOT = 3

Step = str | int


class PartialArguments:
    """Takes leaves in order and gives the events that they complete."""

    def __init__(self, fields: PlanFields) -> None:
        self._fields = fields
        self._index = 0
        self._given = -1
        self._element: dict[Step, Any] = {}
        self._members: dict[str, dict[Step, Any]] = {}
        self._flat: dict[Step, Any] = {}
        self._summary_characters = 0

    def take(self, leaf: PartialArgument) -> list[PlanEvent]:
        """Return the events that one leaf completes."""
        path = _path(leaf.path)
        if path is None:
            self._fields.counts["malformed_argument"] += 1
            return []
        if leaf.name == "search_category":
            _grow(self._flat, path[0], leaf.value)
            return []
        if path[0] != EXPANSIONS:
            return [*self._close_element(), *self._member(path, leaf)]
        if len(path) != 3 or not isinstance(path[1], int) or path[1] > _MAX_INDEX:
            self._fields.counts["malformed_argument"] += 1
            return []
        return self._expansion_leaf(path[1], path[2], leaf)

    def end(self) -> list[PlanEvent]:
        """Return what the end of the call completes."""
        events = self._close_element()
        if self._flat:
            events += self._fields.expansion(self._flat)
        for key, grown in self._members.items():
            whole = grown[""] if "" in grown else [grown[step] for step in sorted(grown, key=_place)]
            events += self._fields.member(key, whole)
        self._flat, self._members = {}, {}
        return events

    def _expansion_leaf(self, index: int, slot: Step, leaf: PartialArgument) -> list[PlanEvent]:
        if index <= self._given:
            self._fields.counts["late_argument"] += 1
            return []
        events = self._close_element() if index != self._index else []
        self._index = index
        _grow(self._element, slot, leaf.value)
        if slot == _LAST_SLOT and not leaf.will_continue:
            events += self._close_element()
        return events

    def _member(self, path: list[Step], leaf: PartialArgument) -> list[PlanEvent]:
        key = str(path[0])
        if key == "summary" and isinstance(leaf.value, str):
            text = leaf.value[: max(_MAX_TEXT - self._summary_characters, 0)]
            self._summary_characters += len(text)
            return [SummaryDelta(text=text)] if text else []
        if len(self._members) < _MAX_INDEX:
            _grow(self._members.setdefault(key, {}), path[1] if len(path) > 1 else "", leaf.value)
        return []

    def _close_element(self) -> list[PlanEvent]:
        if not self._element:
            return []
        element, self._element = self._element, {}
        self._given = self._index
        if any(isinstance(slot, str) for slot in element):
            return self._fields.expansion(element)
        return self._fields.expansion([element.get(slot) for slot in range(_LAST_SLOT + 1)])


def _grow(values: dict[Step, Any], slot: Step, value: Any) -> None:
    held = values.get(slot)
    if isinstance(held, str) and isinstance(value, str):
        if len(held) < _MAX_TEXT:
            values[slot] = held + value
    elif len(values) < _MAX_INDEX:
        values[slot] = value


def _place(step: Step) -> tuple[int, str]:
    return (step, "") if isinstance(step, int) else (_MAX_INDEX, step)


def _path(text: str) -> list[Step] | None:
    """Return the steps of a path such as `$.query_expansions[0][2]`, or None where it is not one."""
    at, steps = (1 if text.startswith("$") else 0), list[Step]()
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            return None
        steps.append(int(step[2]) if step[2] else step[1] or step[3])
        at = step.end()
    return steps if steps and isinstance(steps[0], str) else None
