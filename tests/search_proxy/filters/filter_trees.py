"""Draws filter trees over any field names and values, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from search_proxy.filters import (
    AndFilter,
    ContainsFilter,
    Filter,
    InFilter,
    NotFilter,
    OrFilter,
    RangeFilter,
    TermFilter,
)

NAMES = st.text(min_size=1, max_size=8) | st.sampled_from(
    ["NOT", "AND", "in", "a b", "a:b", "\\", ")", "(", "[", ","]
)
VALUES = st.text(max_size=12) | st.sampled_from(
    ["", " ", ",", ", ", ")", "(", "\\", "\\)", "[1 TO 2]", "a AND b:2", "\n"]
)
FILLED = VALUES.filter(bool)
BOUNDS = st.integers() | st.floats(allow_nan=False) | st.integers(min_value=-(10**300), max_value=10**300)

_TERMS: st.SearchStrategy[Filter] = (
    st.builds(TermFilter, NAMES, FILLED)
    | st.builds(ContainsFilter, NAMES, FILLED)
    | st.builds(InFilter, NAMES, st.lists(VALUES, min_size=1, max_size=4).map(tuple))
    | st.builds(RangeFilter, NAMES, BOUNDS, st.none() | BOUNDS)
    | st.builds(RangeFilter, NAMES, st.none(), BOUNDS)
)

TREES: st.SearchStrategy[Filter] = st.recursive(
    _TERMS,
    lambda inner: (
        st.builds(AndFilter, inner, inner) | st.builds(OrFilter, inner, inner) | st.builds(NotFilter, inner)
    ),
    max_leaves=12,
)
