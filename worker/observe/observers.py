"""Hands each completion to everybody who listens, at once and in this very call.

A listener MUST return within microseconds and MUST NOT wait: what takes longer goes into a bounded queue of
its own. One that raises is counted and heard of in the log; it harms neither the others nor the request.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable

from worker.observe.completion import Completion

logger = logging.getLogger(__name__)

Observer = Callable[[Completion], None]

MAX_OBSERVERS = 16
"""Each costs every request; there are five kinds. Many followers of one kind share one listener."""
_FAILURES_PER_LOG_LINE = 1000


class Observers:
    """The listeners of one process; `failures` counts what each has raised."""

    def __init__(self) -> None:
        self._observers: tuple[tuple[str, Observer], ...] = ()
        self.failures: Counter[str] = Counter()

    def add(self, name: str, observer: Observer) -> None:
        """Let `observer` hear every completion from now on.

        Raises:
            ValueError: There is one of that name, or there are too many.
        """
        if any(known == name for known, _ in self._observers):
            raise ValueError(f"there is an observer {name!r} already")
        if len(self._observers) >= MAX_OBSERVERS:
            raise ValueError(f"observer {name!r} is one too many; at most {MAX_OBSERVERS} listen")
        self._observers = (*self._observers, (name, observer))

    def remove(self, name: str) -> None:
        """Let the listener of that name hear nothing more; nothing happens where there is none."""
        self._observers = tuple(each for each in self._observers if each[0] != name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of those who listen."""
        return tuple(name for name, _ in self._observers)

    def observe(self, completion: Completion) -> None:
        """Hand the completion to every listener; never raises, never waits."""
        for name, observer in self._observers:
            try:
                observer(completion)
            except Exception:
                self.failures[name] += 1
                if self.failures[name] % _FAILURES_PER_LOG_LINE == 1:
                    logger.exception("observer_failed", extra={"observer": name})


def write_log_line(completion: Completion) -> None:
    """Log the completion as one line: the first listener of every process."""
    if _lines.isEnabledFor(logging.INFO):
        # Made here: looking for the calling line, which is always this one, would cost as much again.
        fields = completion.log_fields()
        _lines.handle(
            _lines.makeRecord(
                _lines.name, logging.INFO, __file__, 0, completion.event, (), None, extra=fields
            )
        )


_lines = logging.getLogger("worker.observe")
