r"""Reads one term: `field:value`, `field:[1 TO 2]`, `field IN (a, b)`, `field CONTAINS a`.

Only U+0020 is a blank, and `\x` stands for x everywhere. Every pattern is possessive, so the time that a text
takes grows with its length alone.
"""

from __future__ import annotations

import re

from search_proxy.filters.errors import FilterSyntaxError
from search_proxy.filters.numbers import MAX_NUMBER_LENGTH, parse_number
from search_proxy.filters.tree import ContainsFilter, InFilter, Leaf, RangeFilter, TermFilter

_WORD = re.compile(r"(?:[^\\ :()]|\\.)*+", re.DOTALL)
_BARE = re.compile(r"(?:[^\\ )]|\\.)*+", re.DOTALL)
_IN_PARENTHESES = re.compile(r"(?:[^\\)]|\\.)*+", re.DOTALL)
_IN_BRACKETS = re.compile(r"(?:[^\\\]]|\\.)*+", re.DOTALL)
_BARE_ITEM = re.compile(r"(?:[^\\, )]|\\.)*+", re.DOTALL)
_GROUPED_ITEM = re.compile(r"(?:[^\\,)]|\\.)*+", re.DOTALL)
_BLANKS = re.compile(r" *+")
_IN = re.compile(r" IN ", re.IGNORECASE | re.ASCII)
_CONTAINS = re.compile(r" CONTAINS ", re.IGNORECASE | re.ASCII)
_NOT_IN = re.compile(r" NOT IN ", re.IGNORECASE | re.ASCII)
_TO = re.compile(r" TO ", re.IGNORECASE | re.ASCII)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def word_at(text: str, position: int) -> str:
    """Return the text up to the next blank, colon or parenthesis, escapes still in it."""
    return _match(_WORD, text, position)


def names_field(text: str, end: int) -> bool:
    """Return whether a word that ends at `end` is the field of a term, whatever the word is."""
    return text.startswith(":", end) or bool(_IN.match(text, end) or _CONTAINS.match(text, end))


def read_term(text: str, position: int) -> tuple[Leaf, int]:
    """Return the term that starts at `position`, and the position after it.

    Raises:
        FilterSyntaxError: There is no complete term.
    """
    word = word_at(text, position)
    end = position + len(word)
    _refuse_dangling_escape(text, end)
    if not names_field(text, end):
        raise FilterSyntaxError(text, *_no_term(text, position, word))
    if not word:
        raise FilterSyntaxError(text, end, "expected a field name")
    field = _unescape(word)
    if text[end] == ":":
        return _read_value(text, end + 1, field)
    if inside := _IN.match(text, end):
        return _read_in(text, inside.end(), field)
    value, after = _read_text(text, end + len(" CONTAINS "), "CONTAINS")
    return ContainsFilter(field, value), after


def _read_value(text: str, position: int, field: str) -> tuple[Leaf, int]:
    if text.startswith("[", position):
        return _read_range(text, position, field)
    value, after = _read_text(text, position, "':'")
    return TermFilter(field, value), after


def _read_text(text: str, position: int, before: str) -> tuple[str, int]:
    if text.startswith("[", position):
        raise FilterSyntaxError(text, position, f"expected a value after {before}, not a range")
    grouped = text.startswith("(", position)
    start = position + grouped
    raw = _match(_IN_PARENTHESES if grouped else _BARE, text, start)
    end = start + len(raw)
    _refuse_dangling_escape(text, end)
    if grouped and end == len(text):
        raise FilterSyntaxError(text, position, "expected ')' to close this value")
    if not raw:
        raise FilterSyntaxError(text, start, f"expected a value after {before}")
    return _unescape(raw), _term_end(text, end + grouped)


def _read_range(text: str, position: int, field: str) -> tuple[RangeFilter, int]:
    raw = _match(_IN_BRACKETS, text, position + 1)
    end = position + 1 + len(raw)
    _refuse_dangling_escape(text, end)
    if end == len(text):
        raise FilterSyntaxError(text, position, "expected ']' to close this range")
    bounds = _TO.split(_unescape(raw))
    if len(bounds) != 2:
        raise FilterSyntaxError(text, position, "expected a range such as [1 TO 9], [* TO 9] or [1 TO *]")
    if bounds == ["*", "*"]:
        raise FilterSyntaxError(text, position, "expected a number for at least one end of the range")
    lower, upper = (_bound(text, position, bound) for bound in bounds)
    return RangeFilter(field, lower, upper), _term_end(text, end + 1)


def _bound(text: str, position: int, bound: str) -> int | float | None:
    if bound == "*":
        return None
    number = parse_number(bound)
    if number is None:
        shown = bound if len(bound) <= 40 else f"{bound[:40]}…"
        expected = f"expected a number of at most {MAX_NUMBER_LENGTH} characters or '*', found {shown!r}"
        raise FilterSyntaxError(text, position, expected)
    return number


def _read_in(text: str, position: int, field: str) -> tuple[InFilter, int]:
    if not text.startswith("(", position):
        raise FilterSyntaxError(text, position, "expected '(' right after IN and one blank")
    start, position = position, position + 1
    values: list[str] = []
    grouped = False
    while True:
        if not grouped and text.startswith("(", position):
            grouped, position = True, position + 1
        elif not grouped and text.startswith("[", position):
            raise FilterSyntaxError(text, position, "expected a value in the list, not a range")
        raw = _match(_GROUPED_ITEM if grouped else _BARE_ITEM, text, position)
        values.append(_unescape(raw))
        position += len(raw)
        if grouped and text.startswith(")", position):
            grouped, position = False, position + 1
        if text.startswith(",", position):
            position += 1 + len(_match(_BLANKS, text, position + 1))
        elif not grouped and text.startswith(")", position):
            return InFilter(field, tuple(values)), _term_end(text, position + 1)
        else:
            raise FilterSyntaxError(text, *_bad_list(text, start, position))


def _bad_list(text: str, start: int, position: int) -> tuple[int, str]:
    _refuse_dangling_escape(text, position)
    if position == len(text):
        return start, "expected ')' to close this list"
    if text[position] == " ":
        return position, "expected ',' or ')'; a value with blanks needs its own parentheses: (two words)"
    return position, "expected ',' or ')' after a value in parentheses"


def _no_term(text: str, position: int, word: str) -> tuple[int, str]:
    end = position + len(word)
    if not word:
        return position, "expected a term such as field:value"
    if word.upper() in ("AND", "OR", "NOT"):
        if text.startswith("(", end):
            return end, f"expected a blank between {word} and '('"
        return position, f"expected a term, found {word!r}"
    shown = word if len(word) <= 40 else f"{word[:40]}…"
    if _NOT_IN.match(text, end):
        return end, f"expected NOT before the field: NOT {shown} IN (...)"
    return end, f"expected ':', ' IN (' or ' CONTAINS ' after field {shown!r}"


def _term_end(text: str, position: int) -> int:
    if position < len(text) and text[position] not in " )":
        raise FilterSyntaxError(
            text, position, f"expected a blank or ')' after the term, found {text[position]!r}"
        )
    return position


def _refuse_dangling_escape(text: str, position: int) -> None:
    if text.startswith("\\", position):
        raise FilterSyntaxError(text, position, "expected a character after the backslash")


def _match(pattern: re.Pattern[str], text: str, position: int) -> str:
    found = pattern.match(text, position)
    return found.group() if found else ""


def _unescape(raw: str) -> str:
    return _ESCAPED.sub(r"\1", raw) if "\\" in raw else raw
