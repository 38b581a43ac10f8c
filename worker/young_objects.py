"""Has the garbage collector look at young objects often, and so at few of them at a time.

The interpreter looks when it has made 5,000 objects more than it has freed. A server under load frees what
earlier looks have passed as quickly as it makes new ones, so that the difference grows slowly: by the time it
is reached 40,000 objects are young, and looking at them takes 20 to 50 ms in which no stream moves. When
answers end, there is little to look at if the last look was lately. Source: docs/performance.md.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

EVERY_SECONDS = 0.05
MIDDLE_EVERY = 1_200
"""Looks after which the objects that survived one are looked at again: a minute under full load."""


class YoungObjects:
    """The young objects of this process; `look` is called whenever an answer has ended."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = 0.0
        self._looks = 0

    def look(self) -> None:
        """Collect the youngest generation, unless that was done in the last 50 ms."""
        now = self._clock()
        if now < self._next:
            return
        self._next = now + EVERY_SECONDS
        self._looks += 1
        gc.collect(0 if self._looks % MIDDLE_EVERY else 1)
