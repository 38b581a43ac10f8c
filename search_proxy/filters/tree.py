"""The filter tree: seven kinds of node, each of which can be written back as text that parses to itself.

`str(filter)` is the always-round-trip form: every value in a group, every operand in parentheses
(docs/decisions/0002-filters-are-trees.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TermFilter:
    """`field:(value)`: the whole value, compared as the field's type allows."""

    field: str
    value: str

    def to_tree(self) -> dict[str, Any]:
        """Return `{"term": [field, value]}`."""
        return {"term": [self.field, self.value]}

    def __str__(self) -> str:
        return f"{_field(self.field)}:({_value(self.value)})"


@dataclass(frozen=True, slots=True)
class RangeFilter:
    """`field:[lower TO upper]`, both ends inclusive; None is open, never both."""

    field: str
    lower: int | float | None
    upper: int | float | None

    def to_tree(self) -> dict[str, Any]:
        """Return `{"range": [field, lower, upper]}`."""
        return {"range": [self.field, self.lower, self.upper]}

    def __str__(self) -> str:
        return f"{_field(self.field)}:[{_bound(self.lower)} TO {_bound(self.upper)}]"


@dataclass(frozen=True, slots=True)
class InFilter:
    """`field IN ((a), (b))`: any of the values."""

    field: str
    values: tuple[str, ...]

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
        return {"not": self.operand.to_tree()}

    def __str__(self) -> str:
        return f"NOT ({self.operand})"


@dataclass(frozen=True, slots=True)
class AndFilter:
    """Both operands match."""

    left: Filter
    right: Filter

    def to_tree(self) -> dict[str, Any]:
        """Return `{"and": [left, right]}`."""
        return {"and": [self.left.to_tree(), self.right.to_tree()]}

    def __str__(self) -> str:
        return f"({self.left}) AND ({self.right})"


@dataclass(frozen=True, slots=True)
class OrFilter:
    """At least one operand matches."""

    left: Filter
    right: Filter

    def to_tree(self) -> dict[str, Any]:
        """Return `{"or": [left, right]}`."""
        return {"or": [self.left.to_tree(), self.right.to_tree()]}

    def __str__(self) -> str:
        return f"({self.left}) OR ({self.right})"


Filter = TermFilter | RangeFilter | InFilter | ContainsFilter | NotFilter | AndFilter | OrFilter


def _value(text: str) -> str:
    return text.replace("\\", "\\\\").replace(")", "\\)")


def _item(text: str) -> str:
    return _value(text)


def _bound(value: int | float | None) -> str:
    return "*" if value is None else repr(value)


def _field(name: str) -> str:
    return "".join(f"\\{character}" if character in " :()\\" else character for character in name)
