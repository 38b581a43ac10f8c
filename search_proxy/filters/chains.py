"""Joins many filters with one operator, in a tree that stays shallow enough to walk by recursion.

A short AND chain nests to the left and a short OR chain to the right, as the grammar says. A chain that
would become deeper than `CHAIN_HEIGHT` is balanced instead: the same operands in the same order, so the
same meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from search_proxy.filters.tree import AndFilter, Filter, NotFilter, OrFilter, post_order

CHAIN_HEIGHT = 100
"""A chain up to this deep keeps the nesting of the grammar; Python's recursion limit is about 1,000."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A filter and the number of levels of its tree; a single term has one."""

    filter: Filter
    height: int


def all_of(parts: Sequence[Filter]) -> Filter:
    """Return the AND of at least one filter."""
    return join([measure(part) for part in parts], AndFilter).filter


def any_of(parts: Sequence[Filter]) -> Filter:
    """Return the OR of at least one filter."""
    return join([measure(part) for part in parts], OrFilter).filter


def measure(root: Filter) -> Measured:
    """Return the filter with its height."""
    heights: list[int] = []
    for node in post_order(root):
        if isinstance(node, NotFilter):
            heights[-1] += 1
        elif isinstance(node, AndFilter | OrFilter):
            heights[-2:] = [max(heights[-2:]) + 1]
        else:
            heights.append(1)
    return Measured(root, heights.pop())


def join(operands: list[Measured], kind: type[AndFilter] | type[OrFilter]) -> Measured:
    """Return the operands joined by one operator.

    Raises:
        ValueError: There is no operand.
    """
    if not operands:
        raise ValueError("a chain needs at least one filter")
    ordered = operands if kind is AndFilter else operands[::-1]
    height = ordered[0].height
    for operand in ordered[1:]:
        height = max(height, operand.height) + 1
    if height > CHAIN_HEIGHT:
        balanced = _balanced(operands, kind)
        if balanced.height < height:
            return balanced
    joined = ordered[0].filter
    for operand in ordered[1:]:
        joined = kind(joined, operand.filter) if kind is AndFilter else kind(operand.filter, joined)
    return Measured(joined, height)


def _balanced(operands: list[Measured], kind: type[AndFilter] | type[OrFilter]) -> Measured:
    # Heights fall from the bottom of the list to its top, as in a binary counter, so that a tall operand
    # gets one level on top of it and not the whole chain.
    joined: list[Measured] = []
    for operand in operands:
        newest = operand
        while joined and joined[-1].height <= newest.height:
            while len(joined) > 1 and joined[-2].height <= newest.height:
                _join_last_two(joined, kind)
            newest = _pair(joined.pop(), newest, kind)
        joined.append(newest)
    while len(joined) > 1:
        _join_last_two(joined, kind)
    return joined[0]


def _join_last_two(joined: list[Measured], kind: type[AndFilter] | type[OrFilter]) -> None:
    joined[-2:] = [_pair(joined[-2], joined[-1], kind)]


def _pair(left: Measured, right: Measured, kind: type[AndFilter] | type[OrFilter]) -> Measured:
    return Measured(kind(left.filter, right.filter), max(left.height, right.height) + 1)
