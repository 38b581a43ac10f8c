"""A filter that is written parses to the same tree, whatever its fields and values hold."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from search_proxy.filters import (
    ContainsFilter,
    Filter,
    FilterSyntaxError,
    InFilter,
    NotFilter,
    RangeFilter,
    TermFilter,
    matches,
    merge_filters,
    parse_filter,
)
from tests.search_proxy.filters.filter_trees import TREES

_GRAMMAR = [
    "a",
    ":",
    " ",
    " AND ",
    " OR ",
    "NOT ",
    "(",
    ")",
    "[",
    "]",
    " TO ",
    "1",
    "*",
    " IN (",
    " CONTAINS ",
    ",",
    "\\",
    "\t",
]


@settings(max_examples=400, deadline=None)
@given(TREES)
@example(TermFilter("a", ")\\"))
@example(InFilter("a", ("", ",", " ", "x, y")))
@example(InFilter("NOT", ("b",)))
@example(RangeFilter("a", -0.0, 1e300))
def test_any_tree_is_read_back_from_its_text(tree: Filter) -> None:
    """The written form escapes everything that the grammar reads as its own."""
    assert parse_filter(str(tree)) == tree


@settings(max_examples=200, deadline=None)
@given(st.lists(TREES, min_size=1, max_size=4))
def test_a_merge_of_any_filters_is_read_back_from_its_text(parts: list[Filter]) -> None:
    """No part can end or widen another one. Source: contract notes §3.4."""
    merged = merge_filters(*parts)
    assert merged is not None
    assert parse_filter(str(merged)) == merged


@settings(max_examples=500, deadline=None)
@given(st.text() | st.lists(st.sampled_from(_GRAMMAR), max_size=14).map("".join))
@example("a IN ")
@example("a IN (b CONTAINS c)")
@example(" in ")
def test_any_text_is_read_or_refused_with_a_position_inside_it(text: str) -> None:
    """Nothing else is ever raised, and what is read can be written."""
    refusal: FilterSyntaxError | None = None
    try:
        parsed = parse_filter(text)
    except FilterSyntaxError as error:
        refusal = error
    if refusal is None:
        assert parse_filter(str(parsed)) == parsed
    else:
        assert 0 <= refusal.position <= len(text)
        assert refusal.expected.startswith("expected ")


def test_an_empty_value_is_written_as_a_list_of_one_empty_value() -> None:
    """The grammar has no empty group, and the list matches the same documents."""
    written = parse_filter(str(TermFilter("note", "")))
    assert written == InFilter("note", ("",))
    for document in ({"note": ""}, {"note": "x"}, {}):
        assert matches(written, document) is matches(TermFilter("note", ""), document)


def test_a_node_that_no_text_could_say_is_refused_when_it_is_made() -> None:
    """An empty field, an empty list, a range without ends, a bound that is not a number."""
    with pytest.raises(ValueError, match="needs a field name"):
        TermFilter("", "x")
    with pytest.raises(ValueError, match="IN of 'a' needs at least one value"):
        InFilter("a", ())
    with pytest.raises(ValueError, match="CONTAINS of 'a' needs a value"):
        ContainsFilter("a", "")
    with pytest.raises(ValueError, match="needs a lower or an upper bound"):
        RangeFilter("a", None, None)
    with pytest.raises(ValueError, match="bound that is not a number"):
        RangeFilter("a", float("nan"), None)


def test_every_operand_stands_in_parentheses() -> None:
    """The form that the search backend and the client see. Source: contract notes §3.4."""
    tree = NotFilter(parse_filter("brand:x AND price:[1 TO 2.5] OR size IN (s, (x l))"))
    assert str(tree) == "NOT (((brand:(x)) AND (price:[1 TO 2.5])) OR (size IN ((s), (x l))))"
