"""Collects what one run does, as it does it; without a recording that is under way it costs one look.

A recording is found by the context of the run's tasks, so that nothing between a run and a model has to
know of it. All of it is bounded: what is over the bound is left out, and the trace says so.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

FORMAT = 1

MAX_TEXT_BYTES = 512 * 1024
"""Of all that models wrote in one run; a plan with its summary has about 4 KB."""
MAX_EVENTS = 20_000
MAX_SEARCHES = 400
MAX_IDS = 100

_current: ContextVar[Recording | None] = ContextVar("trace", default=None)


class Recording:
    """The parts of one trace so far; times are in ms since its beginning."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self.calls: list[ModelCall] = []
        self.searches: list[dict[str, Any]] = []
        self.left_out = 0
        self._text_bytes = 0
        self._events = 0

    def now(self) -> float:
        """Return the ms since the beginning."""
        return round((time.perf_counter() - self._began) * 1000, 2)

    def call(self, facts: dict[str, Any]) -> ModelCall:
        """Begin a model call; its events are added as they come."""
        call = ModelCall(self, facts)
        self.calls.append(call)
        return call

    def search(self, facts: dict[str, Any]) -> None:
        """Note one search with what it found."""
        if len(self.searches) < MAX_SEARCHES:
            self.searches.append(facts)
        else:
            self.left_out += 1

    def has_room(self, text_bytes: int) -> bool:
        """Return whether one more model event of that size is kept, and count it."""
        if self._text_bytes + text_bytes > MAX_TEXT_BYTES or self._events >= MAX_EVENTS:
            self.left_out += 1
            return False
        self._text_bytes += text_bytes
        self._events += 1
        return True


class ModelCall:
    """One call of a model: which, when, and its events as `[ms, kind, ...]`."""

    def __init__(self, recording: Recording, facts: dict[str, Any]) -> None:
        self._recording = recording
        self.facts = facts | {"startMs": recording.now()}
        self.events: list[list[Any]] = []

    def add(self, event: list[Any], text_bytes: int) -> None:
        """Add an event, where there is room."""
        if self._recording.has_room(text_bytes):
            self.events.append([self._recording.now(), *event])


def current_recording() -> Recording | None:
    """Return the recording of the run whose task asks; None where nothing is recorded."""
    return _current.get()


@contextmanager
def recorded() -> Iterator[Recording]:
    """Record what this task, and those that it starts, do while the block lasts."""
    recording = Recording()
    token = _current.set(recording)
    try:
        yield recording
    finally:
        _current.reset(token)
