"""What the grammar accepts, and the tree it makes of it. Source: docs/filters.md."""

from __future__ import annotations

from typing import Any

import pytest

from search_proxy.filters import parse_filter

Tree = dict[str, Any]


def _term(field: str, value: str) -> Tree:
    return {"term": [field, value]}


A, B, C, D = _term("a", "1"), _term("b", "2"), _term("c", "3"), _term("d", "4")

_TERMS: list[tuple[str, Tree]] = [
    ("brand:Fjell", _term("brand", "Fjell")),
    ("  brand:Fjell  ", _term("brand", "Fjell")),
    ("brand:(Fjell Nord)", _term("brand", "Fjell Nord")),
    ("brand:( Fjell )", _term("brand", " Fjell ")),
    ("brand:Fjell\\ Nord", _term("brand", "Fjell Nord")),
    ("shoe\\ size:42", _term("shoe size", "42")),
    ("size\\:eu:42", _term("size:eu", "42")),
    ("f\\(x\\):1", _term("f(x)", "1")),
    ("back\\\\slash:1", _term("back\\slash", "1")),
    ("url:https://shop.example/x?y=1", _term("url", "https://shop.example/x?y=1")),
    ("a::b", _term("a", ":b")),
    ("a:b(c", _term("a", "b(c")),
    ("a:(b(c)", _term("a", "b(c")),
    ("a:(b\\)c)", _term("a", "b)c")),
    ("a:b\\)c", _term("a", "b)c")),
    ("a:\\(b", _term("a", "(b")),
    ("a:\\[b", _term("a", "[b")),
    ("a:([1 TO 2])", _term("a", "[1 TO 2]")),
    ('a:"b"', _term("a", '"b"')),
    ("a:b,c", _term("a", "b,c")),
    ("a:*", _term("a", "*")),
    ("a:b\tc", _term("a", "b\tc")),
    ("a:\\n", _term("a", "n")),
    ("colour:blå", _term("colour", "blå")),
    ("色:赤", _term("色", "赤")),
    ("m.price:5", _term("m.price", "5")),
    ("NOT:1", _term("NOT", "1")),
    ("AND:1", _term("AND", "1")),
    ("in:1", _term("in", "1")),
    ("a:IN", _term("a", "IN")),
    ("a:(x AND y:2)", _term("a", "x AND y:2")),
    ("((((brand:Fjell))))", _term("brand", "Fjell")),
    ("price:[10 TO 20]", {"range": ["price", 10, 20]}),
    ("price:[10 to 20]", {"range": ["price", 10, 20]}),
    ("price:[* TO 20]", {"range": ["price", None, 20]}),
    ("price:[10 TO *]", {"range": ["price", 10, None]}),
    ("price:[-5 TO -1]", {"range": ["price", -5, -1]}),
    ("price:[20 TO 10]", {"range": ["price", 20, 10]}),
    ("price:[ 1 TO  2 ]", {"range": ["price", 1, 2]}),
    ("price:[0.5 TO 1e3]", {"range": ["price", 0.5, 1000.0]}),
    ("price:[-inf TO 0]", {"range": ["price", float("-inf"), 0]}),
    (f"views:[0 TO {10**40}]", {"range": ["views", 0, 10**40]}),
    ("colour IN (red, blue)", {"in": ["colour", ["red", "blue"]]}),
    ("colour in (red,blue)", {"in": ["colour", ["red", "blue"]]}),
    ("colour IN ((dark red), blue)", {"in": ["colour", ["dark red", "blue"]]}),
    ("colour IN (dark\\ red, a\\,b)", {"in": ["colour", ["dark red", "a,b"]]}),
    ("colour IN ((a\\,b))", {"in": ["colour", ["a,b"]]}),
    ("colour IN ((a,b))", {"in": ["colour", ["a", "b"]]}),
    ("colour IN (( a), (b ))", {"in": ["colour", [" a", "b "]]}),
    ("colour IN ()", {"in": ["colour", [""]]}),
    ("colour IN (())", {"in": ["colour", [""]]}),
    ("colour IN (a,)", {"in": ["colour", ["a", ""]]}),
    ("colour IN (a(b)", {"in": ["colour", ["a(b"]]}),
    ("NOT IN (a)", {"in": ["NOT", ["a"]]}),
    ("title CONTAINS wool", {"contains": ["title", "wool"]}),
    ("title contains (warm wool)", {"contains": ["title", "warm wool"]}),
]

_EXPRESSIONS: list[tuple[str, Tree]] = [
    ("a:1 AND b:2", {"and": [A, B]}),
    ("a:1   OR   b:2", {"or": [A, B]}),
    ("NOT a:1", {"not": A}),
    ("NOT (a:1)", {"not": A}),
    ("NOT (NOT a:1)", {"not": {"not": A}}),
    ("a:1 AND b:2 AND c:3", {"and": [{"and": [A, B]}, C]}),
    ("a:1 OR b:2 OR c:3", {"or": [A, {"or": [B, C]}]}),
    ("(a:1 OR b:2) OR c:3", {"or": [{"or": [A, B]}, C]}),
    ("a:1 AND (b:2 AND c:3)", {"and": [A, {"and": [B, C]}]}),
    ("a:1 OR b:2 AND c:3", {"or": [A, {"and": [B, C]}]}),
    ("a:1 AND b:2 OR c:3 AND d:4", {"or": [{"and": [A, B]}, {"and": [C, D]}]}),
    ("a:1 AND NOT b:2 OR c:3", {"or": [{"and": [A, {"not": B}]}, C]}),
    ("a:1 AND NOT b:2 AND c:3", {"and": [{"and": [A, {"not": B}]}, C]}),
    ("a:1 OR NOT b:2 AND c:3", {"or": [A, {"and": [{"not": B}, C]}]}),
    ("NOT a:1 OR b:2", {"or": [{"not": A}, B]}),
    ("(a:1)AND b:2", {"and": [A, B]}),
    ("( a:1 AND b:2 )", {"and": [A, B]}),
    (
        "a:(1) AND b IN (2) OR c:[3 TO 3]",
        {"or": [{"and": [A, {"in": ["b", ["2"]]}]}, {"range": ["c", 3, 3]}]},
    ),
]


@pytest.mark.parametrize(("text", "tree"), _TERMS)
def test_a_term_is_read_as_its_field_and_values(text: str, tree: Tree) -> None:
    """One term, in every form that the grammar has."""
    assert parse_filter(text).to_tree() == tree


@pytest.mark.parametrize(("text", "tree"), _EXPRESSIONS)
def test_not_binds_tightest_then_and_then_or(text: str, tree: Tree) -> None:
    """Precedence and nesting. Source: design §3.7."""
    assert parse_filter(text).to_tree() == tree


@pytest.mark.parametrize("text", [text for text, _ in _TERMS + _EXPRESSIONS])
def test_the_written_form_parses_to_the_same_tree(text: str) -> None:
    """Writing and parsing again changes nothing."""
    parsed = parse_filter(text)
    assert parse_filter(str(parsed)) == parsed


def test_a_whole_bound_stays_whole_and_a_decimal_bound_stays_a_float() -> None:
    """5 and 5.0 compare equal in Python but not in the language."""
    lower, upper = parse_filter("a:[5 TO 5.0]").to_tree()["range"][1:]
    assert (type(lower), type(upper)) == (int, float)
