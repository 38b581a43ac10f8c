"""Distinct numbers, by sorting: numpy's own way hashes them, with the interpreter's lock held all the while.

For a thousand numbers that is forty times as slow, and for a million every other thread stands still for
most of a second.
"""

from __future__ import annotations

import numpy as np

from search_proxy.engine.columns import Array


def distinct(*parts: Array) -> Array:
    """Return the distinct numbers of all `parts`, ascending."""
    ordered = np.sort(parts[0] if len(parts) == 1 else np.concatenate(parts))
    is_first = np.empty(len(ordered), bool)
    is_first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    found: Array = ordered[is_first]
    return found


def count_distinct(rows: Array, size: int) -> int:
    """Return how many of the rows of an index of `size` are among `rows`."""
    seen = np.zeros(size, bool)
    seen[rows] = True
    return int(np.count_nonzero(seen))
