"""Distinct numbers are those of a set."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from search_proxy.engine.distinct import count_distinct, distinct

_ROWS = st.lists(st.integers(0, 30), max_size=40)


@given(parts=st.lists(_ROWS, min_size=1, max_size=3))
def test_distinct_numbers_ascend_and_come_once(parts: list[list[int]]) -> None:
    """Of all parts together, none of which is changed."""
    arrays = [np.array(part, np.int64) for part in parts]
    assert distinct(*arrays).tolist() == sorted(set().union(*parts))
    assert [array.tolist() for array in arrays] == parts


@given(rows=_ROWS)
def test_rows_are_counted_once(rows: list[int]) -> None:
    """However often each comes."""
    assert count_distinct(np.array(rows, np.int64), 31) == len(set(rows))
