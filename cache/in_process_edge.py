"""The edge cache of one process: a dict in order of use, bounded by bytes.

Ages come from a monotonic clock, so that a wall clock that jumps makes nothing fresh again.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from cache.edge_cache import MAX_VALUE_BYTES, REFRESH_LEASE_SECONDS, EdgeKey, EdgeTimes, EdgeValue
from cache.errors import EntryTooLarge
from cache.refresh_leases import RefreshLeases

_RECORD_OVERHEAD_BYTES = 400
"""What a record costs beside its bytes: key tuple, dict slots, floats; measured at 330 to 390."""


class _Record(NamedTuple):
    value: bytes
    stored_at: float
    times: EdgeTimes
    cost_bytes: int


class InProcessEdge:
    """Keeps the most recently used values within a budget of bytes."""

    name = "edge"
    is_local = True

    def __init__(self, *, max_bytes: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes = max_bytes
        self._monotonic = monotonic
        self._records: OrderedDict[EdgeKey, _Record] = OrderedDict()
        self._by_account: dict[str, set[EdgeKey]] = {}
        self._leases = RefreshLeases(monotonic=monotonic)
        self._bytes = 0

    def __repr__(self) -> str:
        return f"InProcessEdge({len(self._records)} values, {self._bytes} of {self._max_bytes} bytes)"

    @property
    def used_bytes(self) -> int:
        """The bytes in use, overhead included."""
        return self._bytes

    async def get(self, key: EdgeKey) -> EdgeValue | None:
        """Return the value, fresh or stale."""
        record = self._records.get(key)
        if record is None:
            return None
        age = self._monotonic() - record.stored_at
        if age > record.times.max_age_seconds:
            self._forget(key)
            return None
        self._records.move_to_end(key)
        return EdgeValue(value=record.value, age_seconds=age, is_stale=age > record.times.fresh_seconds)

    async def put(self, key: EdgeKey, value: bytes, times: EdgeTimes) -> None:
        """Store a value, and let go of the least recently used ones until it fits.

        Raises:
            EntryTooLarge: It is over `MAX_VALUE_BYTES`, or over the whole budget.
        """
        cost = len(value) + len(key.text) + _RECORD_OVERHEAD_BYTES
        if len(value) > MAX_VALUE_BYTES or cost > self._max_bytes:
            raise EntryTooLarge(
                f"edge value of {key.text!r} has {len(value)} bytes, at most {MAX_VALUE_BYTES}"
            )
        self._forget(key)
        self._records[key] = _Record(value, self._monotonic(), times, cost)
        self._by_account.setdefault(key.account_id, set()).add(key)
        self._bytes += cost
        while self._bytes > self._max_bytes:
            self._forget(next(iter(self._records)))

    async def remove(self, key: EdgeKey) -> None:
        """Remove a value, if it is there."""
        self._forget(key)

    async def claim_refresh(self, key: EdgeKey, lease_seconds: float = REFRESH_LEASE_SECONDS) -> bool:
        """Return True to one caller per lease."""
        return self._leases.claim(key, lease_seconds)

    async def drop_account(self, account_id: str) -> None:
        """Forget every value of an account."""
        for key in list(self._by_account.get(account_id, ())):
            self._forget(key)

    async def connect(self) -> None:
        """Do nothing: there is nothing to wait for."""

    async def close(self) -> None:
        """Do nothing: nothing is held but memory."""

    def _forget(self, key: EdgeKey) -> None:
        record = self._records.pop(key, None)
        if record is None:
            return
        self._bytes -= record.cost_bytes
        keys = self._by_account[key.account_id]
        keys.discard(key)
        if not keys:
            del self._by_account[key.account_id]
