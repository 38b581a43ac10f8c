"""Tells the lines of finished requests from everything else that a log holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import orjson

from worker.observe.completion import CompletionEvent
from worker.tail.tail_filter import TailFilter

EVENTS = frozenset(get_args(CompletionEvent))


@dataclass(slots=True)
class LineReader:
    """Reads log lines through a filter; `broken` counts those that are no JSON object."""

    wanted: TailFilter
    broken: int = 0

    def read(self, raw: bytes) -> Mapping[str, Any] | None:
        """Return a finished request that is wanted; None for every other line."""
        text = raw.strip()
        if not text:
            return None
        try:
            line = orjson.loads(text)
        except ValueError:
            self.broken += 1
            return None
        if not isinstance(line, dict):
            self.broken += 1
            return None
        if line.get("event") not in EVENTS or not self.wanted.wants(line):
            return None
        return line if self.wanted.wants_text(text.decode(errors="replace")) else None
