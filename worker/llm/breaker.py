"""Stops asking a model that keeps failing, and asks it again with one probe at a time.

The state is one process's own; each worker finds out for itself within a few requests.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

_FAULTS = frozenset({"rate_limited", "unavailable", "timeout", "disconnected", "incomplete", "protocol"})
"""The model's faults. A blocked prompt or a bad request says nothing about the next one."""
_HOPELESS = frozenset({"invalid_key", "not_found"})
"""Faults that the next call would meet again."""


class BreakerState(StrEnum):
    """Whether calls go through."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitBreaker:
    """Opens after `failures_to_open` failures in a row; probes after `open_seconds`, doubling to a bound.

    Every `allow` that returned True MUST be answered by one of `succeeded`, `failed` and `released`.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        failures_to_open: int = 5,
        open_seconds: float = 5.0,
        longest_open_seconds: float = 60.0,
    ) -> None:
        self._clock = clock
        self._failures_to_open = failures_to_open
        self._shortest_open = open_seconds
        self._longest_open = longest_open_seconds
        self._open_seconds = open_seconds
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def state(self) -> BreakerState:
        """Whether calls go through right now."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        waited = self._clock() - self._opened_at
        return BreakerState.HALF_OPEN if waited >= self._open_seconds else BreakerState.OPEN

    def allow(self) -> bool:
        """Return whether a call may be made; half-open, only one at a time may."""
        state = self.state
        if state is BreakerState.HALF_OPEN and not self._probing:
            self._probing = True
            return True
        return state is BreakerState.CLOSED

    def succeeded(self) -> None:
        """Note a call that went well: the breaker closes."""
        self._failures, self._opened_at, self._probing = 0, None, False
        self._open_seconds = self._shortest_open

    def failed(self, kind: str) -> None:
        """Note a call that failed; only the model's own faults count."""
        probing, self._probing = self._probing, False
        if kind not in _FAULTS | _HOPELESS:
            return
        self._failures += 1
        if probing:
            self._open_seconds = min(self._open_seconds * 2, self._longest_open)
        if probing or kind in _HOPELESS or self._failures >= self._failures_to_open:
            self._opened_at = self._clock()

    def released(self) -> None:
        """Note a call that was given up by us, which says nothing about the model."""
        self._probing = False
