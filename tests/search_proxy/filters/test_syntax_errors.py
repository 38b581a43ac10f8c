"""What the grammar refuses, where, and in which words. Source: docs/filters.md."""

from __future__ import annotations

import pytest

from search_proxy.filters import FilterSyntaxError, parse_filter
from search_proxy.filters.parser import MAX_TEXT_LENGTH

_REFUSED: list[tuple[str, int, str]] = [
    ("", 0, "expected a filter"),
    ("   ", 3, "expected a filter"),
    ("brand", 5, "after field 'brand'"),
    ("brand:", 6, "expected a value after ':'"),
    ("brand: Fjell", 6, "expected a value after ':'"),
    (":Fjell", 0, "expected a field name"),
    (" IN (a)", 3, "after field 'IN'"),
    ("brand:()", 7, "expected a value after ':'"),
    ("brand:(Fjell", 6, "to close this value"),
    ("brand:Fjell\\", 11, "after the backslash"),
    ("brand:(Fjell\\", 12, "after the backslash"),
    ("bra\\", 3, "after the backslash"),
    ("brand:(a)b", 9, "after the term"),
    ("brand:[1 TO 2", 6, "to close this range"),
    ("price:[1 TO 2]x", 14, "after the term"),
    ("price:[1]", 6, "expected a range such as"),
    ("price:[1 TO 2 TO 3]", 6, "expected a range such as"),
    ("price:[* TO *]", 6, "at least one end"),
    ("price:[one TO 2]", 6, "found 'one'"),
    ("price:[nan TO 2]", 6, "found 'nan'"),
    (f"price:[{'9' * 500} TO *]", 6, "at most 400 characters"),
    ("price:{1 TO 2}", 9, "expected AND, OR or ')'"),
    ("a IN", 1, "after field 'a'"),
    ("a IN ", 5, "expected '(' right after IN"),
    ("a IN(b)", 1, "after field 'a'"),
    ("a IN  (b)", 5, "expected '(' right after IN"),
    ("a IN b", 5, "expected '(' right after IN"),
    ("a NOT IN (b)", 1, "NOT a IN (...)"),
    ("a IN (b", 5, "to close this list"),
    ("a IN ((b)", 5, "to close this list"),
    ("a IN (b c)", 7, "a value with blanks needs its own parentheses"),
    ("a IN ( b)", 6, "a value with blanks needs its own parentheses"),
    ("a IN ([1 TO 2])", 6, "not a range"),
    ("a IN ((b)c)", 9, "after a value in parentheses"),
    ("a IN (b\\", 7, "after the backslash"),
    ("a IN (b)c", 8, "after the term"),
    ("a CONTAINS ", 11, "expected a value after CONTAINS"),
    ("a CONTAINS [1 TO 2]", 11, "not a range"),
    ("a CONTAINS (b", 11, "to close this value"),
    ("a:1 IN (2)", 4, "expected AND, OR or ')'"),
    ("a:1 CONTAINS 2", 4, "expected AND, OR or ')'"),
    ("a:1 and b:2", 4, "operators are in capitals"),
    ("a:1 AND", 7, "expected a term or '('"),
    ("AND a:1", 0, "expected a term, found 'AND'"),
    ("a:1 AND OR b:2", 8, "expected a term, found 'OR'"),
    ("a:1 AND(b:2)", 4, "expected AND, OR or ')'"),
    ("NOT(a:1)", 3, "expected a blank between NOT and '('"),
    ("NOT NOT a:1", 4, "after NOT, found 'NOT'"),
    ("NOT", 3, "expected a term or '('"),
    ("a:1 b:2", 4, "expected AND, OR or ')'"),
    ("a:1 \\AND b:2", 4, "expected AND, OR or ')'"),
    ("(a:1", 0, "to close this parenthesis"),
    ("a:1)", 3, "found ')' without its '('"),
    ("()", 1, "expected a term"),
    ("(a:1) (b:2)", 6, "expected AND, OR or ')'"),
    ("x:(y\\", 4, "after the backslash"),
]


@pytest.mark.parametrize(("text", "position", "expected"), _REFUSED)
def test_a_refusal_says_where_and_what_would_be_right(text: str, position: int, expected: str) -> None:
    """Every refusal has a position inside the text and names what was expected there."""
    with pytest.raises(FilterSyntaxError) as refusal:
        parse_filter(text)
    assert (refusal.value.position, refusal.value.text) == (position, text)
    assert expected in refusal.value.expected


def test_the_caret_stands_under_the_position() -> None:
    """The message is three lines: the text, the caret, the reason."""
    with pytest.raises(FilterSyntaxError) as refusal:
        parse_filter("a:1 AND (b:2 OR)")
    assert str(refusal.value) == (
        "a:1 AND (b:2 OR)\n"
        "               ^\n"
        "at position 15: expected a term such as field:value"
    )  # fmt: skip


def test_the_message_of_a_long_text_shows_only_the_neighbourhood() -> None:
    """A megabyte of filter makes no megabyte of message, and the caret still points at the character."""
    text = " OR ".join(["a:1"] * 1_000) + " ¶ b:2" + " OR a:1" * 1_000
    with pytest.raises(FilterSyntaxError) as refusal:
        parse_filter(text)
    line, caret, _ = str(refusal.value).split("\n")
    assert len(line) <= 110
    assert line[caret.index("^")] == "¶"


def test_control_characters_and_lone_surrogates_stay_out_of_the_message() -> None:
    """The message can be sent as JSON and printed, whatever the text holds."""
    with pytest.raises(FilterSyntaxError) as refusal:
        parse_filter("a\n\ud800\x00b")
    assert str(refusal.value).split("\n")[0] == "a···b"
    str(refusal.value).encode()


def test_a_text_over_the_limit_is_refused_before_it_is_read() -> None:
    """The longest allowed text is read, one more character is not."""
    longest = "a:" + "x" * (MAX_TEXT_LENGTH - 2)
    assert parse_filter(longest).to_tree() == {"term": ["a", longest[2:]]}
    with pytest.raises(FilterSyntaxError, match="expected at most 1048576 characters"):
        parse_filter(longest + "x")
