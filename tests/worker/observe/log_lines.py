"""Reads what a server logs, through the very formatter that a process uses."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from worker.logs import JsonFormatter


class LineList(logging.Handler):
    """Keeps every line as it would be written."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonFormatter())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line."""
        self.lines.append(self.format(record))

    def completions(self) -> list[dict[str, Any]]:
        """Return the completion lines so far."""
        read = (json.loads(line) for line in self.lines)
        return [line for line in read if line["event"].endswith("_completed")]


@contextmanager
def logged_lines() -> Iterator[LineList]:
    """Yield a list that grows with what is logged at INFO and above."""
    lines = LineList()
    root = logging.getLogger()
    level = root.level
    root.addHandler(lines)
    root.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        root.removeHandler(lines)
        root.setLevel(level)
