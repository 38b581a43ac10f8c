"""Leaves a failing tier alone for a while, so that its budget is not spent on every request."""

from __future__ import annotations

import time
from collections.abc import Callable


class CircuitBreaker:
    """Opens after some failures in a row; then lets one call through per pause until one succeeds."""

    def __init__(
        self,
        *,
        failures: int = 5,
        pause_seconds: float = 5.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failures_to_open = failures
        self._pause_seconds = pause_seconds
        self._monotonic = monotonic
        self._failures = 0
        self._next_try_at = 0.0

    def __repr__(self) -> str:
        return f"CircuitBreaker({'open' if self.is_open else 'closed'}, {self._failures} failures)"

    @property
    def is_open(self) -> bool:
        """Whether calls are being refused."""
        return self._failures >= self._failures_to_open

    def allows(self) -> bool:
        """Return whether a call may be made now; where it is open, True is the one trial of this pause."""
        if not self.is_open:
            return True
        now = self._monotonic()
        if now < self._next_try_at:
            return False
        self._next_try_at = now + self._pause_seconds
        return True

    def succeeded(self) -> None:
        """Note that the tier answered."""
        self._failures = 0

    def failed(self) -> None:
        """Note that the tier failed, or took longer than its budget."""
        self._failures += 1
        if self._failures == self._failures_to_open:
            self._next_try_at = self._monotonic() + self._pause_seconds
