"""Makes choices that come out the same on every machine and every Python.

Only `Random.random()` is used: its sequence for a string seed is guaranteed, that of `choice` is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Chooses from what it is given, by a seed."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)

    def unit(self) -> float:
        """Return a number from 0 up to, not including, 1."""
        return self._random.random()

    def chance(self, probability: float) -> bool:
        """Return True that often."""
        return self.unit() < probability

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[int(self.unit() * len(options))]

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """Return up to `count` different options, in the order of the options."""
        return [options[position] for position in sorted(self._places(len(options), count))]

    def drawn(self, options: Sequence[T], count: int) -> list[T]:
        """Return up to `count` different options, in the order in which they were drawn."""
        return [options[position] for position in self._places(len(options), count)]

    def _places(self, of: int, count: int) -> list[int]:
        left = list(range(of))
        return [left.pop(int(self.unit() * len(left))) for _ in range(min(count, of))]

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        return low + int(self.unit() * (high - low + 1))

    def around(self, middle: float, spread: float) -> float:
        """Return a number near `middle`, at most `spread` away, most often close."""
        return middle + (self.unit() + self.unit() - 1) * spread
