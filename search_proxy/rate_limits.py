"""Rate limits in bounded memory: one number per caller, and a count of the requests in flight.

The generic cell rate algorithm keeps only the moment at which a caller's allowance is full again. A caller
whose moment has passed needs no entry at all, so forgetting the idle ones changes no answer.

Source: ITU-T I.371, the generic cell rate algorithm.
"""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

MAX_CALLERS = 8_192
"""Entries kept: about 1.5 MB. Beyond it the longest unseen caller is forgotten, the busy ones stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """`per_minute` requests in the long run, `burst` of them at once."""

    per_minute: int
    burst: int

    @classmethod
    def of(cls, per_minute: int) -> RateLimit:
        """Return the limit whose burst is a quarter of a minute's allowance, at least 5."""
        return cls(per_minute=per_minute, burst=max(5, per_minute // 4))


class Rates(Protocol):
    """Admits or delays callers, each named by a string of ours."""

    def delay(self, caller: str, limit: RateLimit) -> float:
        """Count one request of `caller`; return 0 if it may go on, else the seconds to wait."""
        ...

    def enter(self, caller: str, most: int) -> bool:
        """Take one of the `most` places of `caller`; False if none is free. Pair with `leave`."""
        ...

    def leave(self, caller: str) -> None:
        """Give a place back."""
        ...


class RateLimits:
    """The `Rates` of a process that serves alone."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, max_callers: int = MAX_CALLERS
    ) -> None:
        self._clock = clock
        self._max_callers = max_callers
        self._full_at: OrderedDict[str, float] = OrderedDict()
        self._in_flight: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._full_at)

    def delay(self, caller: str, limit: RateLimit) -> float:
        """Count one request of `caller`; return 0 if it may go on, else the seconds to wait.

        A refused request costs nothing, so a caller who waits as told is admitted.
        """
        now = self._clock()
        interval = 60.0 / limit.per_minute
        full_at = self._full_at.get(caller, now)
        full_at = max(full_at, now)
        wait = full_at - now - (limit.burst - 1) * interval
        if wait > 1e-9:
            self._full_at.move_to_end(caller)
            return wait
        self._full_at[caller] = full_at + interval
        self._full_at.move_to_end(caller)
        if len(self._full_at) > self._max_callers:
            self._full_at.popitem(last=False)
        return 0.0

    def enter(self, caller: str, most: int) -> bool:
        """Take one of the `most` places of `caller`; False if none is free. Pair with `leave`."""
        taken = self._in_flight.get(caller, 0)
        if taken >= most:
            return False
        self._in_flight[caller] = taken + 1
        return True

    def leave(self, caller: str) -> None:
        """Give a place back."""
        left = self._in_flight[caller] - 1
        if left:
            self._in_flight[caller] = left
        else:
            del self._in_flight[caller]


def address_bucket(address: str) -> str:
    """Return what stands for a client address: itself, or the /64 network of an IPv6 address.

    One household or server owns a whole /64 and could otherwise use a new address for every request.
    """
    if ":" not in address:
        return address
    try:
        parsed = ipaddress.IPv6Address(address.split("%", 1)[0])
    except ValueError:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(parsed) >> 64 << 64)) + "/64"
