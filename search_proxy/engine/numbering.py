"""Numbers for words, texts and names, given when each first comes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from search_proxy.engine.columns import Array


class Numbering(dict[Any, int]):
    """The number of every key there was so far, from 0 on; `keys_by_number` is the way back."""

    def __init__(self) -> None:
        super().__init__()
        self.keys_by_number: list[Any] = []

    def __missing__(self, key: Hashable) -> int:
        number = self[key] = len(self.keys_by_number)
        self.keys_by_number.append(key)
        return number

    def of(self, keys: Sequence[Hashable]) -> Array:
        """Return the number of each key."""
        return np.fromiter(map(self.__getitem__, keys), np.int64, len(keys))
