"""What a document says of who may see it, and the filter that asks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_proxy.filters import AndFilter, matches, merge_filters, parse_filter, visibility_filter
from search_proxy.filters.visibility import (
    MAX_GROUPS,
    visibility_of,
    visibility_problem,
    without_open_visibility,
)

_GOLD, _NOBODY = frozenset({"gold"}), frozenset[str]()


@pytest.mark.parametrize(
    ("document", "seen_by_gold", "seen_by_nobody_in_particular"),
    [
        ({}, True, True),
        ({"visibleTo": None}, True, True),
        ({"visibleTo": ["*"]}, True, True),
        ({"visibleTo": ["silver", "*"]}, True, True),
        ({"visibleTo": ["gold"]}, True, False),
        ({"visibleTo": ["GOLD"]}, True, False),
        ({"visibleTo": "gold"}, True, False),
        ({"visibleTo": ["silver", "gold"]}, True, False),
        ({"visibleTo": ["silver"]}, False, False),
        ({"visibleTo": ["gold "]}, False, False),
        ({"visibleTo": ["gold,silver"]}, False, False),
        ({"visibleTo": []}, False, False),
        ({"visibleTo": [""]}, False, False),
        ({"visibleTo": ""}, False, False),
        ({"visibleTo": ["gold", 5]}, False, False),
        ({"visibleTo": ["gold", None]}, False, False),
        ({"visibleTo": [["gold"]]}, False, False),
        ({"visibleTo": {"group": "gold"}}, False, False),
        ({"visibleTo.group": "gold"}, False, False),
        ({"visibleTo": True}, False, False),
        ({"visibleTo": 0}, False, False),
        ({"visibleTo": False}, False, False),
    ],
)
def test_a_document_is_seen_by_whom_it_names(
    document: dict[str, Any], seen_by_gold: bool, seen_by_nobody_in_particular: bool
) -> None:
    """Silence is for everybody; what cannot be read is for nobody."""
    assert matches(visibility_filter(_GOLD), document) is seen_by_gold
    assert matches(visibility_filter(_NOBODY), document) is seen_by_nobody_in_particular


@pytest.mark.parametrize(
    ("document", "is_seen"),
    [({}, False), ({"visibleTo": None}, False), ({"visibleTo": ["gold"]}, True), ({"visibleTo": "*"}, True)],
)
def test_where_the_field_is_required_silence_is_for_nobody(document: dict[str, Any], is_seen: bool) -> None:
    """A missing field is closed."""
    assert matches(visibility_filter(_GOLD, require_field=True), document) is is_seen


@pytest.mark.parametrize("groups", [{""}, {"true"}, {"0"}, {"5"}, {"*"}, {"null"}, {"_visibleTo"}])
def test_no_name_of_a_group_opens_what_cannot_be_read(groups: set[str]) -> None:
    """Filters compare texts with numbers and booleans too; groups are texts alone."""
    for value in (True, False, 0, 5, 5.0, [], {}, {"*": 1}, [5], [True], [""]):
        assert not matches(visibility_filter(groups, require_field=True), {"visibleTo": value})
        assert not matches(visibility_filter(groups), {"visibleTo": value})


@given(st.sets(st.text(max_size=8), max_size=4), st.booleans())
def test_the_filter_can_be_written_and_read_again(groups: set[str], require_field: bool) -> None:
    """It travels between processes as text, whatever a group is called. Source: docs/filters.md."""
    written = visibility_filter(groups, require_field=require_field)
    assert parse_filter(str(written)) == written


def test_the_part_that_lets_the_silent_through_can_be_left_out() -> None:
    """At the beginning alone: further in it may stand under NOT."""
    own = visibility_filter(_GOLD)
    required = visibility_filter(_GOLD, require_field=True)
    one, two = parse_filter("a:1"), parse_filter("b:2 OR c:3")
    assert without_open_visibility(None) is None
    assert without_open_visibility(own) is None
    assert without_open_visibility(merge_filters(own, one, two)) == AndFilter(one, two)
    for kept in (one, required, merge_filters(required, one), merge_filters(one, own)):
        assert without_open_visibility(kept) == kept


@pytest.mark.parametrize("value", ["gold", ["gold"], ["*"], ["a" * 128], [], ["g"] * MAX_GROUPS, ("gold",)])
def test_what_can_be_read_is_accepted(value: Any) -> None:
    """An empty list is for nobody: a draft."""
    assert visibility_problem(value) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "not None"),
        (5, "not 5"),
        ({"gold": True}, "not {'gold': True}"),
        ("", "'' is no group of 1 to 128 characters"),
        (["gold", 5], "5 is no group"),
        (["a" * 129], "is no group of 1 to 128 characters"),
        ([["gold"]], "['gold'] is no group"),
        (["g"] * (MAX_GROUPS + 1), "has 201 groups; at most 200 are kept"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(value: Any, said: str) -> None:
    """Before it is written, while its owner is looking."""
    problem = visibility_problem(value)
    assert problem is not None
    assert said in problem


def test_null_says_nothing() -> None:
    """As in every filter; documents that were stored before null was refused keep their meaning."""
    assert visibility_of({"visibleTo": None}) == ("",)
