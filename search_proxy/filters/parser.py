"""Parses the filter language: terms joined by AND, OR, NOT and parentheses.

NOT binds tightest, then AND, then OR. Open parentheses are kept in a list, not on the call stack, so no text
can exhaust it; what a text may cost is bounded by `MAX_TEXT_LENGTH` and `MAX_HEIGHT` (docs/filters.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from search_proxy.filters.chains import Measured, join
from search_proxy.filters.errors import FilterSyntaxError
from search_proxy.filters.terms import names_field, read_term, word_at
from search_proxy.filters.tree import AndFilter, Filter, NotFilter, OrFilter

MAX_TEXT_LENGTH = 1_048_576
"""Characters of a filter: a list of 10,000 ids takes a third of it."""

MAX_HEIGHT = 120
"""Levels of a tree: its JSON stays within the 254 levels that the wire's encoder can write."""


@dataclass(slots=True)
class _Group:
    """An expression being read: what stands between a parenthesis and its end."""

    opened_at: int
    alternatives: list[Measured] = field(default_factory=list)
    conjuncts: list[Measured] = field(default_factory=list)
    negated: bool = False


def parse_filter(text: str) -> Filter:
    """Return the tree of `text`.

    Raises:
        FilterSyntaxError: The text is empty, too long, nested too deeply or does not follow the grammar.
    """
    if len(text) > MAX_TEXT_LENGTH:
        raise FilterSyntaxError(text, MAX_TEXT_LENGTH, f"expected at most {MAX_TEXT_LENGTH} characters")
    groups = [_Group(0)]
    position = 0
    needs_operand = True
    while position < len(text):
        if text[position] == " ":
            position += 1
        elif needs_operand:
            position, needs_operand = _read_operand(text, position, groups)
        else:
            position, needs_operand = _read_operator(text, position, groups)
    if needs_operand:
        blank = not text.strip(" ")
        raise FilterSyntaxError(text, len(text), "expected a filter" if blank else "expected a term or '('")
    if len(groups) > 1:
        raise FilterSyntaxError(text, groups[-1].opened_at, "expected ')' to close this parenthesis")
    return _close(text, groups.pop()).filter


def _read_operand(text: str, position: int, groups: list[_Group]) -> tuple[int, bool]:
    if text[position] == "(":
        groups.append(_Group(position))
        return position + 1, True
    word = word_at(text, position)
    end = position + len(word)
    if word == "NOT" and not names_field(text, end) and not text.startswith("(", end):
        if groups[-1].negated:
            raise FilterSyntaxError(text, position, "expected a term or '(' after NOT, found 'NOT'")
        groups[-1].negated = True
        return end, True
    term, after = read_term(text, position)
    _add(text, position, groups[-1], Measured(term, 1))
    return after, False


def _read_operator(text: str, position: int, groups: list[_Group]) -> tuple[int, bool]:
    if text[position] == ")":
        if len(groups) == 1:
            raise FilterSyntaxError(text, position, "expected AND, OR or the end, found ')' without its '('")
        closed = groups.pop()
        _add(text, closed.opened_at, groups[-1], _close(text, closed))
        return position + 1, False
    word = word_at(text, position)
    end = position + len(word)
    if word not in ("AND", "OR") or not _ends_word(text, end):
        hint = "; operators are in capitals" if word in ("and", "or", "not") else ""
        raise FilterSyntaxError(text, position, f"expected AND, OR or ')' after a term{hint}")
    if word == "OR":
        groups[-1].alternatives.append(_checked(text, position, join(groups[-1].conjuncts, AndFilter)))
        groups[-1].conjuncts = []
    return end, True


def _ends_word(text: str, end: int) -> bool:
    return end == len(text) or text[end] in " )"


def _add(text: str, position: int, group: _Group, operand: Measured) -> None:
    if group.negated:
        operand = _checked(text, position, Measured(NotFilter(operand.filter), operand.height + 1))
        group.negated = False
    group.conjuncts.append(operand)


def _close(text: str, group: _Group) -> Measured:
    last = _checked(text, group.opened_at, join(group.conjuncts, AndFilter))
    return _checked(text, group.opened_at, join([*group.alternatives, last], OrFilter))


def _checked(text: str, position: int, measured: Measured) -> Measured:
    if measured.height > MAX_HEIGHT:
        raise FilterSyntaxError(text, position, f"expected at most {MAX_HEIGHT} levels of AND, OR and NOT")
    return measured
