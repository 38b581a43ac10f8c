"""Leases of one process: whoever claims one refreshes, the others leave it alone until it has run out."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

_MAX_LEASES = 10_000


class RefreshLeases:
    """The latest claims, bounded; the oldest are let go first, which at worst allows a second refresh."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._until: OrderedDict[Hashable, float] = OrderedDict()

    def claim(self, key: Hashable, lease_seconds: float) -> bool:
        """Return True to one caller per lease."""
        now = self._monotonic()
        if self._until.get(key, now) > now:
            return False
        self._until[key] = now + lease_seconds
        self._until.move_to_end(key)
        if len(self._until) > _MAX_LEASES:
            self._until.popitem(last=False)
        return True
