"""Sets of rows while a filter is evaluated: roaring bitmaps of few rows, masks of many.

Below a thirty-second of the index a bitmap is the cheaper of the two by far, above it a mask is: many rows
that are not in order take longer to put into a bitmap than the whole search does. No set is ever changed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyroaring import BitMap

from search_proxy.engine.columns import Array
from search_proxy.engine.postings import bitmap_of, bitmap_of_all, rows_of

RowSet = BitMap | Array
"""The rows in a bitmap, or those where a mask over all rows of the index is true."""

_FEW_SHARE = 32


def union_of(parts: Sequence[Array], size: int) -> RowSet:
    """Return the rows in all `parts`, which may overlap and are in no order, of an index of `size` rows."""
    if _FEW_SHARE * sum(map(len, parts)) < size:
        return bitmap_of_all(parts)
    mask = np.zeros(size, bool)
    mask[np.concatenate(parts)] = True
    return mask


def both(left: RowSet, right: RowSet) -> RowSet:
    """Return the rows that are in each of the two."""
    if isinstance(left, BitMap):
        return left & right if isinstance(right, BitMap) else _few_inside(left, right)
    return _few_inside(right, left) if isinstance(right, BitMap) else left & right


def either(left: RowSet, right: RowSet) -> RowSet:
    """Return the rows that are in one of the two, or in both."""
    if isinstance(left, BitMap):
        return left | right if isinstance(right, BitMap) else _with_few(right, left)
    return _with_few(left, right) if isinstance(right, BitMap) else left | right


def complement(rows: RowSet, size: int) -> RowSet:
    """Return the rows of an index of `size` that are not in `rows`."""
    if not isinstance(rows, BitMap):
        return ~rows
    mask = np.ones(size, bool)
    mask[rows_of(rows)] = False
    return mask


def mask_of(rows: RowSet, size: int) -> Array:
    """Return the set as a mask over an index of `size` rows."""
    if not isinstance(rows, BitMap):
        return rows
    mask = np.zeros(size, bool)
    mask[rows_of(rows)] = True
    return mask


def _few_inside(few: BitMap, mask: Array) -> BitMap:
    rows = rows_of(few)
    return bitmap_of(rows[mask[rows]])


def _with_few(mask: Array, few: BitMap) -> Array:
    wider: Array = mask.copy()
    wider[rows_of(few)] = True
    return wider
