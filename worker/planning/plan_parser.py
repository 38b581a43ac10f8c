"""Reads a plan from JSON text as it arrives: an expansion is out when its closing bracket is in.

yajl does the work through ijson's push interface. What stands before the first bracket (a fence, a
preamble) is skipped, what follows the plan is ignored, and where yajl gives up `plan_recovery` goes on
over the bounded text. ijson gives whole strings only, so a summary inside a plan comes as one piece.
"""

from __future__ import annotations

import re
from typing import Any

from ijson import JSONError
from ijson.backends import yajl2_c
from ijson.utils import sendable_list

from worker.planning.plan import PlanEvent
from worker.planning.plan_fields import EXPANSIONS, MEMBERS, PlanFields
from worker.planning.plan_recovery import PlanRecovery

MAX_PLAN_CHARACTERS = 65_536
"""Thirty times the size of a plan with six expansions and a summary; what comes after is not read."""

_MEMBERS = frozenset(MEMBERS)
_OPENING = re.compile(r"[{\[]")


class PlanParser:
    """Takes pieces of text and gives the events that they complete; `fields` counts what was wrong."""

    def __init__(self, fields: PlanFields) -> None:
        self._fields = fields
        self._text: list[str] = []
        self._length = 0
        self._tokens = sendable_list()
        self._yajl: Any = None
        self._tree = _PlanTree(fields)
        self._recovery: PlanRecovery | None = None

    def feed(self, text: str) -> list[PlanEvent]:
        """Return the events that this piece of text completes."""
        if not text or self._tree.whole:
            return []
        if self._length + len(text) > MAX_PLAN_CHARACTERS:
            self._fields.counts["plan_too_long"] = 1
            text = text[: MAX_PLAN_CHARACTERS - self._length]
        self._length += len(text)
        if self._recovery is not None:
            return self._expansions(self._recovery.feed(text))
        if self._yajl is None:
            opening = _OPENING.search(text)
            if opening is None:
                return []
            text = text[opening.start() :]
            self._yajl = yajl2_c.basic_parse_coro(self._tokens, use_float=True)
        self._text.append(text)
        return self._push(text)

    @property
    def expansions_closed(self) -> bool:
        """Whether the list of expansions has been read to its end."""
        return self._recovery is None and self._tree.list_closed

    def close(self) -> list[PlanEvent]:
        """Return what the end of the text completes."""
        if self._recovery is not None:
            elements, members = self._recovery.close()
            missing = {key: value for key, value in members.items() if key not in self._tree.seen}
            return [*self._expansions(elements), *self._fields.members(missing)]
        if not self._tree.whole:
            self._fields.counts["plan_cut" if self._tree.seen else "no_plan"] += 1
        return []

    def _push(self, text: str) -> list[PlanEvent]:
        failed = False
        try:
            self._yajl.send(text.encode("utf-8", "replace"))
        except (JSONError, UnicodeDecodeError):
            failed = True
        events: list[PlanEvent] = []
        # Tokens read before the place where yajl gave up are still good.
        for token, value in self._tokens:
            events += self._tree.take(token, value)
        self._tokens.clear()
        if not self._tree.whole and (failed or self._tree.ended):
            events += self._recover()
        return events

    def _recover(self) -> list[PlanEvent]:
        self._fields.counts["json_repaired"] += 1
        self._recovery = PlanRecovery("".join(self._text), self._tree.done, self._count_malformed)
        self._text.clear()
        return self._expansions(self._recovery.scan())

    def _expansions(self, elements: list[Any]) -> list[PlanEvent]:
        return [event for element in elements for event in self._fields.expansion(element)]

    def _count_malformed(self) -> None:
        self._fields.counts["malformed_expansion"] += 1


class _PlanTree:
    """Follows yajl's tokens: gives each expansion and each other member the moment it is whole."""

    def __init__(self, fields: PlanFields) -> None:
        self.seen: set[str] = set()
        self.ended = False
        self._elements = 0
        self.list_closed = False
        self._fields = fields
        self._depth = 0
        self._element_depth = 2
        self._key = ""
        self._open: list[Any] = []
        self._keys: list[str] = []

    @property
    def whole(self) -> bool:
        """Whether a plan, and not some other JSON, has been read to its end."""
        return self.ended and bool(self.seen)

    @property
    def done(self) -> int | None:
        """How many elements of the list were read; None where the list was read to its end."""
        return None if self.list_closed else 0 if self.ended else self._elements

    def take(self, token: str, value: Any) -> list[PlanEvent]:
        """Follow one token."""
        if self.ended:
            return []
        if token == "map_key":
            return self._take_key(value)
        if token in ("start_map", "start_array"):
            return self._take_start(token)
        if token in ("end_map", "end_array"):
            self._depth -= 1
            if self._open:
                return self._completed(self._open.pop())
            self.list_closed |= bool(self._depth) and self._key == EXPANSIONS
            self.ended = self._depth == 0
            return []
        return self._completed(value)

    def _take_key(self, key: str) -> list[PlanEvent]:
        if self._open:
            self._keys[-1] = key
        else:
            self._key = key
        return []

    def _take_start(self, token: str) -> list[PlanEvent]:
        self._depth += 1
        if self._depth == 1:
            if token == "start_array":
                # A bare list can only be the expansions.
                self._key, self._element_depth = EXPANSIONS, 1
            return []
        if not self._open and self._depth == self._element_depth and self._is_expansions(token):
            self.seen.add(EXPANSIONS)
            return []
        self._open.append({} if token == "start_map" else [])
        self._keys.append("")
        return []

    def _is_expansions(self, token: str) -> bool:
        return self._key == EXPANSIONS and token == "start_array"

    def _completed(self, value: Any) -> list[PlanEvent]:
        if self._open:
            parent = self._open[-1]
            if isinstance(parent, dict):
                parent[self._keys[-1]] = value
            else:
                parent.append(value)
            return []
        if self._key == EXPANSIONS and self._depth == self._element_depth:
            self._elements += 1
            events = self._fields.expansion(value)
            self.seen.update({EXPANSIONS} if events else ())
            return events
        self.seen.update({self._key} & _MEMBERS)
        return self._fields.member(self._key, value)
