"""Filters are merged as trees, so no part can change what another part says."""

from __future__ import annotations

import pytest

from search_proxy.filters import FilterSyntaxError, merge_filters, parse_filter


def test_the_parts_are_anded_in_their_order() -> None:
    """The merchant's part stays first. Source: design §3.7."""
    parts = [parse_filter("a:1 OR b:2"), None, parse_filter("c:3"), parse_filter("d:4")]
    merged = merge_filters(*parts)
    assert merged == parse_filter("((a:1 OR b:2) AND c:3) AND d:4")


def test_one_part_stays_as_it_is_and_no_part_is_no_filter() -> None:
    """None means that there is nothing to filter by."""
    only = parse_filter("a:1")
    assert merge_filters(None, only, None) is only
    assert merge_filters(None, None) is None
    assert merge_filters() is None


def test_a_text_that_would_swallow_its_neighbour_is_refused() -> None:
    """Glued into one text, this part hides a merchant's clause in a value. Source: contract notes §3.4."""
    swallowing = "x:(y\\"
    with pytest.raises(FilterSyntaxError):
        parse_filter(swallowing)
    glued = parse_filter(f"({swallowing}) AND (availability:(true)) AND (price:[1 TO 2])")
    assert "availability" not in {next(iter(tree.values()))[0] for tree in glued.to_tree()["and"]}


def test_a_value_full_of_operators_cannot_leave_its_term() -> None:
    """A part whose value looks like filter text stays one term after merging."""
    hostile = parse_filter("q:(x\\) OR (a:1)")
    merged = merge_filters(parse_filter("stock:[1 TO *]"), hostile)
    assert merged is not None
    assert parse_filter(str(merged)).to_tree() == {
        "and": [{"range": ["stock", 1, None]}, {"term": ["q", "x) OR (a:1"]}]
    }
