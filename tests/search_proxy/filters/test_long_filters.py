"""Filters of great length and depth: they are read or refused, and nothing recurses to death."""

from __future__ import annotations

from functools import reduce
from typing import Any

import orjson
import pytest

from search_proxy.filters import (
    AndFilter,
    Filter,
    FilterSyntaxError,
    NotFilter,
    OrFilter,
    TermFilter,
    all_of,
    any_of,
    leaves,
    matches,
    parse_filter,
)
from search_proxy.filters.chains import measure
from search_proxy.filters.parser import MAX_HEIGHT


def _terms(count: int) -> list[Filter]:
    return [TermFilter("a", str(number)) for number in range(count)]


@pytest.mark.parametrize("operator", [" AND ", " OR "])
def test_a_chain_of_ten_thousand_terms_keeps_every_term_in_order(operator: str) -> None:
    """Longer than any recursion limit: read, written, compared, hashed and matched."""
    parsed = parse_filter(operator.join(str(term) for term in _terms(10_000)))
    assert leaves(parsed) == _terms(10_000)
    assert parse_filter(str(parsed)) == parsed
    assert orjson.loads(orjson.dumps(parsed.to_tree())) == parsed.to_tree()
    assert hash(parsed) == hash(parse_filter(str(parsed)))
    assert matches(parsed, {"a": "9999"}) is (operator == " OR ")


def test_a_list_of_ten_thousand_values_is_read() -> None:
    """IN has no limit of its own. Source: the engine's bound on `_id IN`."""
    values = [f"product ({number}), the \\ second" for number in range(10_000)]
    written = ", ".join(
        "(" + value.replace("\\", "\\\\").replace(")", "\\)").replace(",", "\\,") + ")" for value in values
    )
    assert parse_filter(f"_id IN ({written})").to_tree() == {"in": ["_id", values]}


@pytest.mark.parametrize("count", [2, 38, 100])
def test_a_chain_of_common_length_nests_as_the_grammar_says(count: int) -> None:
    """AND to the left, OR to the right."""
    terms = _terms(count)
    parsed_and = parse_filter(" AND ".join(map(str, terms)))
    parsed_or = parse_filter(" OR ".join(map(str, terms)))
    first, *rest = terms
    assert parsed_and == reduce(AndFilter, rest, first)
    *init, last = terms
    assert parsed_or == reduce(lambda right, left: OrFilter(left, right), reversed(init), last)


def test_redundant_parentheses_cost_no_depth() -> None:
    """Half a million of them around one term are still one term."""
    assert parse_filter("(" * 500_000 + "a:1" + ")" * 500_000) == TermFilter("a", "1")


def test_nesting_up_to_the_limit_is_read_and_one_more_level_is_refused() -> None:
    """The limit counts levels of the tree."""
    deepest = "NOT (" * (MAX_HEIGHT - 1) + "a:1" + ")" * (MAX_HEIGHT - 1)
    parsed = parse_filter(deepest)
    assert measure(parsed).height == MAX_HEIGHT
    assert parse_filter(str(parsed)) == parsed
    with pytest.raises(FilterSyntaxError, match="at most 120 levels"):
        parse_filter(f"NOT ({deepest})")
    with pytest.raises(FilterSyntaxError, match="at most 120 levels"):
        parse_filter("NOT (" * 100_000 + "a:1" + ")" * 100_000)


def test_a_long_chain_inside_nesting_is_balanced_to_stay_within_the_limit() -> None:
    """Chains at several levels do not add up to a depth that nobody wrote."""
    text = "a:0"
    for _ in range(5):
        text = " OR ".join(["a:1"] * 90 + [f"({text})"])
        text = " AND ".join(["a:1"] * 90 + [f"({text})"])
    parsed = parse_filter(text)
    assert measure(parsed).height <= MAX_HEIGHT
    assert len(leaves(parsed)) == 901
    assert parse_filter(str(parsed)) == parsed


def test_a_tree_of_any_depth_that_was_built_in_code_can_be_written() -> None:
    """`str` and `to_tree` use no recursion, so a reduced chain of 5,000 terms is text."""
    deep: Filter = reduce(OrFilter, _terms(5_000)[1:], _terms(1)[0])
    deep = NotFilter(deep)
    assert str(deep).startswith("NOT (" + "(" * 4_999 + "a:(0)) OR (a:(1))")
    tree: Any = deep.to_tree()["not"]
    for _ in range(4_999):
        tree = tree["or"][0]
    assert tree == {"term": ["a", "0"]}


def test_filters_joined_in_code_stay_shallow() -> None:
    """`any_of` and `all_of` are the way to join many filters."""
    assert measure(any_of(_terms(5_000))).height <= 15
    assert measure(all_of(_terms(5_000))).height <= 15
    assert all_of(_terms(3)) == parse_filter("a:0 AND a:1 AND a:2")
    assert any_of(_terms(3)) == parse_filter("a:0 OR a:1 OR a:2")
    with pytest.raises(ValueError, match="at least one filter"):
        any_of([])
