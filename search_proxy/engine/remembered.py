"""Values that are costly to make, kept by key while there is room; the least recently used go first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Remembered(Generic[_T]):
    """A store of at most `max_bytes`, by what `bytes_of` says of each value; safe between threads."""

    def __init__(self, max_bytes: int, bytes_of: Callable[[_T], int]) -> None:
        self._max_bytes = max_bytes
        self._bytes_of = bytes_of
        self._bytes = 0
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, _T] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return the value of `key`, made now if it is not there; threads that ask at once all make it."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        made = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = made
                self._bytes += self._bytes_of(made)
            while self._bytes > self._max_bytes:
                _, oldest = self._values.popitem(last=False)
                self._bytes -= self._bytes_of(oldest)
        return made
