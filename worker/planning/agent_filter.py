"""Checks a filter that the model wrote before it reaches a search.

The text becomes a tree or is dropped whole; nothing of it is ever glued to the client's or the account's
part, so nothing a model writes can widen those. Operators in small letters, and the case and number of a
listed value, are repaired where only one reading is possible.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from search_proxy.filters import (
    AndFilter,
    ContainsFilter,
    Filter,
    FilterSyntaxError,
    InFilter,
    NotFilter,
    OrFilter,
    RangeFilter,
    TermFilter,
    parse_filter,
)
from search_proxy.models import FieldInfo, IndexDescription

MAX_FILTER_CHARACTERS = 1000
MAX_NODES = 40
"""More conditions than any shopper states; a search must stay cheap whatever the model writes."""

_OUTSIDE_GROUPS = re.compile(r"\\.|\([^()]*\)|\[[^\[\]]*\]|\b(?:and|or|not|in|contains)\b", re.IGNORECASE)
_OPERATOR = re.compile(r"and|or|not|in|contains", re.IGNORECASE)
_RANGE_TO = re.compile(r"(?<=\s)to(?=\s)")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFilter:
    """A filter that may be searched with, or why there is none."""

    filter: Filter | None = None
    dropped_reason: str | None = None


def check_agent_filter(text: str, description: IndexDescription) -> CheckedFilter:
    """Return the model's filter as a tree over the index's fields, or the reason why it was dropped."""
    text = text.strip()
    if not text:
        return CheckedFilter(dropped_reason="empty")
    if len(text) > MAX_FILTER_CHARACTERS:
        return CheckedFilter(dropped_reason=f"longer than {MAX_FILTER_CHARACTERS} characters")
    try:
        tree = _parsed(text)
        checked = _Checker(description).check(tree)
    except FilterSyntaxError as error:
        return CheckedFilter(dropped_reason=f"at position {error.position}: {error.expected}")
    except (_Unusable, RecursionError) as error:
        return CheckedFilter(dropped_reason=str(error) or "nested too deeply")
    return CheckedFilter(filter=checked)


class _Unusable(Exception):
    """The filter cannot be used on this index; the message says why."""


class _Checker:
    def __init__(self, description: IndexDescription) -> None:
        self._fields = {field.name: field for field in description.fields}
        self._by_folded_name: dict[str, list[FieldInfo]] = {}
        for field in description.fields:
            self._by_folded_name.setdefault(field.name.casefold(), []).append(field)
        self._nodes = 0

    def check(self, tree: Filter) -> Filter:
        """Return the tree with its names and values repaired."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise _Unusable(f"more than {MAX_NODES} conditions")
        if isinstance(tree, AndFilter):
            return AndFilter(self.check(tree.left), self.check(tree.right))
        if isinstance(tree, OrFilter):
            return OrFilter(self.check(tree.left), self.check(tree.right))
        if isinstance(tree, NotFilter):
            return NotFilter(self.check(tree.operand))
        return self._condition(tree)

    def _condition(self, tree: TermFilter | RangeFilter | InFilter | ContainsFilter) -> Filter:
        field = self._field(tree.field)
        if isinstance(tree, RangeFilter):
            if field.kind != "number":
                raise _Unusable(f"a range over {field.name!r}, which is {field.kind}")
            if None not in (tree.lower, tree.upper) and tree.lower > tree.upper:  # type: ignore[operator]
                raise _Unusable(f"a range over {field.name!r} that is empty")
            return RangeFilter(field.name, tree.lower, tree.upper)
        if isinstance(tree, ContainsFilter):
            if field.kind not in ("string", "array"):
                raise _Unusable(f"CONTAINS over {field.name!r}, which is {field.kind}")
            return ContainsFilter(field.name, tree.value)
        if isinstance(tree, InFilter):
            if len(tree.values) > MAX_NODES:
                raise _Unusable(f"more than {MAX_NODES} values")
            return InFilter(field.name, tuple(_value(field, value) for value in tree.values))
        return TermFilter(field.name, _value(field, tree.value))

    def _field(self, name: str) -> FieldInfo:
        field = self._fields.get(name)
        if field is None:
            alike = self._by_folded_name.get(name.strip().casefold(), [])
            field = alike[0] if len(alike) == 1 else None
        if field is None:
            raise _Unusable(f"unknown field {name!r}")
        return field


def _value(field: FieldInfo, value: str) -> str:
    """Return the value as the field spells it."""
    if field.kind == "number":
        if not re.fullmatch(r"\s*-?\d{1,15}(?:\.\d{1,10})?\s*", value):
            raise _Unusable(f"{value!r} for {field.name!r}, which is a number")
        return value.strip()
    if field.kind == "boolean":
        if value.strip().lower() not in ("true", "false"):
            raise _Unusable(f"{value!r} for {field.name!r}, which is true or false")
        return value.strip().lower()
    listed = [str(known) for known, _ in field.top_values]
    if value in listed:
        return value
    for same in (str.casefold, _singular):
        alike = {known for known in listed if same(known) == same(value.strip())}
        if len(alike) == 1:
            return alike.pop()
    return value


def _singular(text: str) -> str:
    """Return an English word without its plural ending, good enough to compare two of them."""
    text = text.casefold()
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x")):
        if text.endswith(ending) and len(text) > len(ending) + 1:
            return text[: -len(ending)] + instead
    return text[:-1] if text.endswith("s") and not text.endswith("ss") and len(text) > 3 else text


def _parsed(text: str) -> Filter:
    try:
        return parse_filter(text)
    except FilterSyntaxError:
        repaired = _with_capital_operators(text)
        if repaired == text:
            raise
        return parse_filter(repaired)


def _with_capital_operators(text: str) -> str:
    """Return the text with `and`, `or`, `not`, `in`, `contains`, `to` in capitals outside of values."""

    def capital(found: re.Match[str]) -> str:
        part = found[0]
        if part.startswith("["):
            return _RANGE_TO.sub("TO", part)
        return part.upper() if _OPERATOR.fullmatch(part) else part

    return _OUTSIDE_GROUPS.sub(capital, text)
