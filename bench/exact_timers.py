"""Timers that fire to some ten microseconds; those of an event loop are rounded to a millisecond.

All of them share one `timerfd` of the kernel, which is asked for through ctypes; where there is none, the
loop's own timers stand in.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import heapq
import itertools
import os
import sys
import time
from collections.abc import Callable

_MONOTONIC = 1
_NONBLOCKING = os.O_NONBLOCK | os.O_CLOEXEC
_ABSOLUTE = 1
_NANOSECONDS = 1_000_000_000


class ExactTimers:
    """Calls functions at moments of `time.perf_counter`; made and used in a running loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._next = float("inf")
        self._file = -1
        # On Linux both clocks of Python are the kernel's monotonic one.
        if sys.platform == "linux":
            self._kernel = ctypes.CDLL(None, use_errno=True)
            self._file = self._kernel.timerfd_create(_MONOTONIC, _NONBLOCKING)
        if self._file >= 0:
            self._loop.add_reader(self._file, self._fire)

    def call_at(self, when: float, call: Callable[[], None]) -> None:
        """Call `call` at `when`, or at once where that has passed."""
        heapq.heappush(self._due, (when, next(self._numbers), call))
        if when < self._next:
            self._set(when)

    def close(self) -> None:
        """Fire no more."""
        self._due.clear()
        if self._file >= 0:
            self._loop.remove_reader(self._file)
            os.close(self._file)

    def _fire(self) -> None:
        if self._file >= 0:
            with contextlib.suppress(BlockingIOError):
                os.read(self._file, 8)
        self._next = float("inf")
        while self._due and self._due[0][0] <= time.perf_counter():
            heapq.heappop(self._due)[2]()
        if self._due and self._due[0][0] < self._next:
            self._set(self._due[0][0])

    def _set(self, when: float) -> None:
        self._next = when
        if self._file < 0:
            self._loop.call_at(self._loop.time() + when - time.perf_counter(), self._fire)
            return
        # A time of zero would switch the timer off; one that has passed fires at once.
        seconds, nanoseconds = divmod(max(1, int(when * _NANOSECONDS)), _NANOSECONDS)
        moment = (ctypes.c_long * 4)(0, 0, seconds, nanoseconds)
        if self._kernel.timerfd_settime(self._file, _ABSOLUTE, moment, None) != 0:
            raise OSError(ctypes.get_errno(), "the kernel refused a timer")
