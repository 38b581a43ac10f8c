"""The filter tree: seven kinds of node, each of which can be written back as text that parses to itself.

`str(filter)` is the always-round-trip form: every value in a group, every operand in parentheses
(docs/decisions/0002-filters-are-trees.md). Writing walks the tree with a stack of its own, so a chain of any
length that was built in code can be written too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TermFilter:
    """`field:(value)`: the whole value, compared as the field's type allows."""

    field: str
    value: str

    def __post_init__(self) -> None:
        _require_name(self.field)

    def to_tree(self) -> dict[str, Any]:
        """Return `{"term": [field, value]}`."""
        return {"term": [self.field, self.value]}

    def __str__(self) -> str:
        # The grammar has no empty group; a list of one empty item means the same.
        return f"{_field(self.field)}:({_value(self.value)})" if self.value else f"{_field(self.field)} IN ()"


@dataclass(frozen=True, slots=True)
class RangeFilter:
    """`field:[lower TO upper]`, both ends inclusive; None is open, never both."""

    field: str
    lower: int | float | None
    upper: int | float | None

    def __post_init__(self) -> None:
        _require_name(self.field)
        if self.lower is None and self.upper is None:
            raise ValueError(f"range of {self.field!r} needs a lower or an upper bound")
        if any(isinstance(bound, float) and math.isnan(bound) for bound in (self.lower, self.upper)):
            raise ValueError(f"range of {self.field!r} has a bound that is not a number")

    def to_tree(self) -> dict[str, Any]:
        """Return `{"range": [field, lower, upper]}`."""
        return {"range": [self.field, self.lower, self.upper]}

    def __str__(self) -> str:
        return f"{_field(self.field)}:[{_bound(self.lower)} TO {_bound(self.upper)}]"


@dataclass(frozen=True, slots=True)
class InFilter:
    """`field IN ((a), (b))`: any of the values, at least one."""

    field: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        _require_name(self.field)
        if not self.values:
            raise ValueError(f"IN of {self.field!r} needs at least one value")

    def to_tree(self) -> dict[str, Any]:
        """Return `{"in": [field, [values]]}`."""
        return {"in": [self.field, list(self.values)]}

    def __str__(self) -> str:
        return f"{_field(self.field)} IN ({', '.join(f'({_item(value)})' for value in self.values)})"


@dataclass(frozen=True, slots=True)
class ContainsFilter:
    """`field CONTAINS (value)`: every word of the value occurs in the field's text."""

    field: str
    value: str

    def __post_init__(self) -> None:
        _require_name(self.field)
        if not self.value:
            raise ValueError(f"CONTAINS of {self.field!r} needs a value")

    def to_tree(self) -> dict[str, Any]:
        """Return `{"contains": [field, value]}`."""
        return {"contains": [self.field, self.value]}

    def __str__(self) -> str:
        return f"{_field(self.field)} CONTAINS ({_value(self.value)})"


@dataclass(frozen=True, slots=True)
class NotFilter:
    """Everything that the operand does not match, documents without the field included."""

    operand: Filter

    def to_tree(self) -> dict[str, Any]:
        """Return `{"not": tree}`."""
        return _tree(self)

    def __str__(self) -> str:
        return _text(self)


@dataclass(frozen=True, slots=True)
class AndFilter:
    """Both operands match."""

    left: Filter
    right: Filter

    def to_tree(self) -> dict[str, Any]:
        """Return `{"and": [left, right]}`."""
        return _tree(self)

    def __str__(self) -> str:
        return _text(self)


@dataclass(frozen=True, slots=True)
class OrFilter:
    """At least one operand matches."""

    left: Filter
    right: Filter

    def to_tree(self) -> dict[str, Any]:
        """Return `{"or": [left, right]}`."""
        return _tree(self)

    def __str__(self) -> str:
        return _text(self)


Filter = TermFilter | RangeFilter | InFilter | ContainsFilter | NotFilter | AndFilter | OrFilter

Leaf = TermFilter | RangeFilter | InFilter | ContainsFilter

_PAIRS = (AndFilter, OrFilter)


def post_order(root: Filter) -> list[Filter]:
    """Return every node of the tree, operands before their operator, left before right."""
    pending, visited = [root], list[Filter]()
    while pending:
        node = pending.pop()
        visited.append(node)
        if isinstance(node, _PAIRS):
            pending += (node.left, node.right)
        elif isinstance(node, NotFilter):
            pending.append(node.operand)
    visited.reverse()
    return visited


def leaves(root: Filter) -> list[Leaf]:
    """Return the terms of the tree from left to right: what a filter says about which fields."""
    return [node for node in post_order(root) if not isinstance(node, AndFilter | OrFilter | NotFilter)]


def _tree(root: Filter) -> dict[str, Any]:
    done: list[dict[str, Any]] = []
    for node in post_order(root):
        if isinstance(node, NotFilter):
            done.append({"not": done.pop()})
        elif isinstance(node, AndFilter | OrFilter):
            right, left = done.pop(), done.pop()
            done.append({"and" if isinstance(node, AndFilter) else "or": [left, right]})
        else:
            done.append(node.to_tree())
    return done.pop()


def _text(root: Filter) -> str:
    pending: list[Filter | str] = [root]
    parts: list[str] = []
    while pending:
        node = pending.pop()
        if isinstance(node, NotFilter):
            pending += (")", node.operand, "NOT (")
        elif isinstance(node, AndFilter):
            pending += (")", node.right, ") AND (", node.left, "(")
        elif isinstance(node, OrFilter):
            pending += (")", node.right, ") OR (", node.left, "(")
        else:
            parts.append(str(node))
    return "".join(parts)


def _value(text: str) -> str:
    return text.replace("\\", "\\\\").replace(")", "\\)")


def _item(text: str) -> str:
    # A comma ends an item even inside the item's own parentheses.
    return _value(text).replace(",", "\\,")


def _bound(value: int | float | None) -> str:
    if value is None:
        return "*"
    return repr(float(value)) if isinstance(value, float) else str(int(value))


def _field(name: str) -> str:
    return "".join(f"\\{character}" if character in " :()\\" else character for character in name)


def _require_name(field: str) -> None:
    if not field:
        raise ValueError("a filter term needs a field name")
