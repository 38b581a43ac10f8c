"""Which documents a filter lets pass. Source: docs/filters.md, "What matches"."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_proxy.filters import Filter, NotFilter, any_of, matches, merge_filters, parse_filter
from tests.search_proxy.filters.filter_trees import TREES

TENT: dict[str, Any] = {
    "_id": "Tent-1",
    "productTitle": "Trail Tent, 2 persons",
    "brand": "Nord Fjell",
    "price": 249.5,
    "stock": 5,
    "rating": 5.0,
    "waterproof": True,
    "foldable": "True",
    "barcode": "0042",
    "note": "",
    "season": None,
    "colours": ["Moss Green", "Sand"],
    "sizes": [2, 3],
    "measures": {"weight": 1.9, "unit": "kg"},
    "dotted.name": "flat",
}

_PASSES = [
    "brand:(Nord Fjell)",
    "brand:(nord fjell)",
    "brand IN ((NORD FJELL), other)",
    "colours:sand",
    "colours:(moss green)",
    "colours IN (red, Sand)",
    "waterproof:true",
    "waterproof:TRUE",
    "waterproof IN (false, true)",
    "foldable:true",
    "stock:5",
    "stock:[5 TO 5]",
    "stock:[4.5 TO *]",
    "stock IN (1, 5)",
    "rating:5",
    "rating:5.0",
    "price:249.5",
    "price:2495e-1",
    "price:[* TO 249.5]",
    "price IN (249.5)",
    "sizes:3",
    "sizes:[3 TO 9]",
    "sizes IN (3)",
    "barcode:0042",
    "_id:Tent-1",
    "_id IN (x, Tent-1)",
    "note IN ()",
    "measures.weight:[1 TO 2]",
    "measures.unit:KG",
    "dotted.name:flat",
    "productTitle CONTAINS tent",
    "productTitle CONTAINS (TENT trail)",
    "colours CONTAINS (sand moss)",
    "NOT missing:1",
    "NOT season:x",
    "NOT waterproof:false",
    "NOT (brand:x OR stock:9)",
    "brand:x OR stock:5",
]

_STOPS = [
    "brand:Nord",
    "brand:(Nord Fjell )",
    "brand:*",
    "brand IN (Nord, Fjell)",
    "colours:moss",
    "waterproof:false",
    "waterproof:1",
    "waterproof:yes",
    "waterproof:[0 TO 1]",
    "stock:5.0",
    "stock:6",
    "stock:[6 TO 4]",
    "price:[250 TO *]",
    "price:249",
    "barcode:42",
    "barcode:[0 TO 99]",
    "_id:tent-1",
    "note:x",
    "season:None",
    "season IN ()",
    "missing:1",
    "missing:[0 TO 1]",
    "missing CONTAINS x",
    "measures:kg",
    "measures.height:1",
    "productTitle:tent",
    "productTitle CONTAINS ten",
    "productTitle CONTAINS (tent boat)",
    "productTitle CONTAINS !",
    "stock CONTAINS 5",
    "NOT stock:5",
    "brand:x AND stock:5",
]


@pytest.mark.parametrize("text", _PASSES)
def test_the_tent_passes(text: str) -> None:
    """What each kind of term accepts."""
    assert matches(parse_filter(text), TENT)


@pytest.mark.parametrize("text", _STOPS)
def test_the_tent_does_not_pass(text: str) -> None:
    """What each kind of term leaves out."""
    assert not matches(parse_filter(text), TENT)


_DOCUMENTS = st.dictionaries(
    st.sampled_from(["a", "b", "in", "NOT"]),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text() | st.integers()),
)


@settings(max_examples=200, deadline=None)
@given(TREES, TREES, _DOCUMENTS)
def test_the_operators_are_those_of_logic(left: Filter, right: Filter, document: dict[str, Any]) -> None:
    """AND, OR and NOT over any documents, those without the field included."""
    first, second = matches(left, document), matches(right, document)
    merged = merge_filters(left, right)
    assert merged is not None
    assert matches(merged, document) is (first and second)
    assert matches(any_of([left, right]), document) is (first or second)
    assert matches(NotFilter(left), document) is not first
