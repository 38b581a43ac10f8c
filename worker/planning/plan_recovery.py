"""Finds the complete elements of a plan whose JSON a parser has given up on.

A model writes NaN, a raw newline, an unescaped quote, prose with braces before its JSON. One such place
must cost one expansion at most, so from there on each possible start of an element is tried by itself.
Work is bounded whatever the text is: so many attempts, each over so many characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from worker.planning.plan_fields import EXPANSIONS, MEMBERS

_LIST = re.compile(rf'"{EXPANSIONS}"\s*:\s*\[|\A\s*\[(?=\s*[\[{{])')
_ELEMENT = re.compile(r'[\[{]\s*"')
_OTHER_MEMBER = re.compile(rf'"(?:{"|".join(MEMBERS[1:])})"\s*:')
_SEPARATORS = re.compile(r"[\s,]*")
_MAX_ELEMENT = 4096
_MAX_ATTEMPTS = 2000
_MAX_SCANS = 400
"""Scans while text still comes; the last scan, at the end, is always made."""


class PlanRecovery:
    """Searches a growing text for the elements after the first `done`, which were read before.

    With `done` None the list was read to its end, and only other members are looked for.
    """

    def __init__(self, text: str, done: int | None, malformed: Callable[[], None]) -> None:
        self._parts = [text]
        self._text = ""
        self._done = done
        self._at: int | None = None
        self._malformed = malformed
        self._attempts = 0
        self._scans = 0
        self._decoder = json.JSONDecoder(strict=False)

    def feed(self, text: str) -> list[Any]:
        """Return the elements that this piece of text completes."""
        self._parts.append(text)
        if ("]" not in text and "}" not in text) or self._scans >= _MAX_SCANS:
            return []
        self._scans += 1
        return self.scan()

    def close(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the elements not yet given, and the plan's other members where they are whole."""
        elements = self.scan()
        if self._at is not None and _ELEMENT.search(self._text, self._at, self._end_of_list()):
            self._malformed()
        members: dict[str, Any] = {}
        for key in MEMBERS[1:]:
            found = re.search(rf'"{key}"\s*:\s*', self._text)
            if found is not None:
                value, end = self._decode(found.end(), limit=len(self._text))
                if end:
                    members[key] = value
        return elements, members

    def scan(self) -> list[Any]:
        """Return the elements that are whole now and were not given before."""
        self._text = "".join((self._text, *self._parts))
        self._parts.clear()
        if self._done is None or (self._at is None and not self._find_list(self._done)):
            return []
        found: list[Any] = []
        at = self._at or 0
        limit, skipped = self._end_of_list(), False
        while (start := _ELEMENT.search(self._text, at, limit)) and self._attempts < _MAX_ATTEMPTS:
            value, end = self._decode(start.start(), limit=_MAX_ELEMENT)
            if end and _is_expansion(value):
                found.append(value)
                at = self._at = end
                if skipped:
                    self._malformed()
                skipped = False
            else:
                at, skipped = start.start() + 1, True
        return found

    def _find_list(self, done: int) -> bool:
        found = _LIST.search(self._text)
        if found is None:
            return False
        at = found.end()
        for _ in range(done):
            separators = _SEPARATORS.match(self._text, at)
            _, end = self._decode(separators.end() if separators else at, limit=len(self._text))
            if not end:
                break
            at = end
        self._at = at
        return True

    def _end_of_list(self) -> int:
        other = _OTHER_MEMBER.search(self._text, self._at or 0)
        return len(self._text) if other is None else other.start()

    def _decode(self, at: int, *, limit: int) -> tuple[Any, int]:
        """Return the JSON value at `at` and its end, or None and 0 where there is no whole value."""
        self._attempts += 1
        try:
            value, length = self._decoder.raw_decode(self._text[at : at + limit])
        except (ValueError, RecursionError):
            return None, 0
        return value, at + length


def _is_expansion(value: Any) -> bool:
    if isinstance(value, dict):
        return isinstance(value.get("query"), str)
    return len(value) >= 2 and isinstance(value[0], str) and isinstance(value[1], str)
