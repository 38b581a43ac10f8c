"""Rate limits that the worker processes of one server keep together, so that "per key" means per key.

The same algorithm as `rate_limits`, over shared rows: the moment at which a caller's allowance is full again,
and for each process how many requests it has in flight. A process that starts begins at none.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from pathlib import Path

from search_proxy.rate_limits import RateLimit
from search_proxy.shared_rows import SharedRows

_FULL_AT = struct.Struct("<d")
_COUNT = struct.Struct("<I")


class SharedRateLimits:
    """The `Rates` of one process among `workers`; `clock` MUST be the same in all of them."""

    def __init__(
        self, path: Path, *, slot: int, workers: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._workers = workers
        self._own = _FULL_AT.size + slot * _COUNT.size
        self._rows = SharedRows(path, _FULL_AT.size + workers * _COUNT.size)
        self._memory = self._rows.memory
        for at in self._rows.places():
            # What an earlier process of this slot had in flight has ended with it.
            _COUNT.pack_into(self._memory, at + self._own, 0)

    def close(self) -> None:
        """Let go of the shared memory."""
        self._rows.close()

    def delay(self, caller: str, limit: RateLimit) -> float:
        """Count one request of `caller`; return 0 if it may go on, else the seconds to wait."""
        now = self._clock()
        interval = 60.0 / limit.per_minute
        with self._rows.row(caller, lambda at: self._is_idle(at, now)) as at:
            if at is None:
                return 0.0
            full_at = max(_FULL_AT.unpack_from(self._memory, at)[0], now)
            wait = float(full_at - now - (limit.burst - 1) * interval)
            if wait > 1e-9:
                return wait
            _FULL_AT.pack_into(self._memory, at, full_at + interval)
            return 0.0

    def enter(self, caller: str, most: int) -> bool:
        """Take one of the `most` places of `caller`; False if none is free. Pair with `leave`."""
        now = self._clock()
        with self._rows.row(caller, lambda at: self._is_idle(at, now)) as at:
            if at is None:
                return True
            if self._in_flight(at) >= most:
                return False
            own = _COUNT.unpack_from(self._memory, at + self._own)[0]
            _COUNT.pack_into(self._memory, at + self._own, own + 1)
            return True

    def leave(self, caller: str) -> None:
        """Give a place back."""
        at = self._rows.find(caller)
        if at is None:
            return
        own = _COUNT.unpack_from(self._memory, at + self._own)[0]
        if own:
            # This process alone writes its own count, so no lock is needed.
            _COUNT.pack_into(self._memory, at + self._own, own - 1)

    def _is_idle(self, at: int, now: float) -> bool:
        return _FULL_AT.unpack_from(self._memory, at)[0] <= now and not self._in_flight(at)

    def _in_flight(self, at: int) -> int:
        first = at + _FULL_AT.size
        return sum(struct.unpack_from(f"<{self._workers}I", self._memory, first))
