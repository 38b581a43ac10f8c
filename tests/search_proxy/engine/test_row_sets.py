"""Sets of rows mean the same whether they are bitmaps or masks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from search_proxy.engine.row_sets import RowSet, both, complement, either, mask_of, union_of

_SIZE = 200
_ROWS = st.one_of(
    st.lists(st.integers(0, _SIZE - 1), max_size=5), st.lists(st.integers(0, _SIZE - 1), min_size=20)
)


def _set(rows: list[int]) -> RowSet:
    parts = [np.array(rows[:2], np.uint32), np.array(rows[2:], np.uint32)]
    return union_of(parts, _SIZE)


def _rows(found: RowSet) -> set[int]:
    return set(np.flatnonzero(mask_of(found, _SIZE)).tolist())


@given(left=_ROWS, right=_ROWS)
def test_few_and_many_rows_combine_as_sets_do(left: list[int], right: list[int]) -> None:
    """Union, intersection and complement agree with plain sets, and change none of their operands."""
    one, other = _set(left), _set(right)
    assert _rows(both(one, other)) == set(left) & set(right)
    assert _rows(either(one, other)) == set(left) | set(right)
    assert _rows(complement(one, _SIZE)) == set(range(_SIZE)) - set(left)
    assert (_rows(one), _rows(other)) == (set(left), set(right))


def test_few_rows_are_a_bitmap_and_many_a_mask() -> None:
    """Each is what is cheaper to make and to combine."""
    assert isinstance(_set([1, 2, 3]), BitMap)
    assert not isinstance(_set(list(range(50))), BitMap)
