"""Evaluates a filter tree over a snapshot, as sets of rows (`row_sets`).

The answer is that of `filters.matching.matches`, document by document; a property test says so. The tree is
walked with a stack, so no length or depth of it can exhaust ours.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from pyroaring import BitMap

from search_proxy.engine.columns import Array
from search_proxy.engine.postings import FieldPostings, Range, rows_of
from search_proxy.engine.row_sets import RowSet, both, complement, either, mask_of, union_of
from search_proxy.engine.snapshot import Passing, Snapshot
from search_proxy.errors import InvalidSearch, UnknownField
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
from search_proxy.filters.tree import Leaf, leaves, post_order
from search_proxy.filters.visibility import VISIBILITY, VISIBLE_TO, without_open_visibility

STANDARD_FIELDS = frozenset(
    {
        "_id",
        "parentProductId",
        "productTitle",
        "variantTitle",
        "variantImageUrl",
        "description",
        "price",
        "currency",
        "productCollections",
        "category",
        "brand",
        VISIBLE_TO,
        VISIBILITY,
    }
)
"""Fields that every index knows, whether or not a document has them yet."""

MAX_LISTED = 10_000
"""Values of one IN."""

_OPERATORS = (NotFilter, AndFilter, OrFilter)


def check_fields(snapshot: Snapshot, names: Collection[str], where: str) -> None:
    """Refuse names that neither the index nor the product document has.

    Raises:
        UnknownField: The first such name.
    """
    for name in names:
        if name not in STANDARD_FIELDS and name not in snapshot.field_names:
            raise UnknownField(name, sorted(snapshot.field_names), where)


def passing(snapshot: Snapshot, *wanted: Filter | None) -> Passing:
    """Return the living rows that pass every one of the filters; the same filters are evaluated once.

    Raises:
        UnknownField: A filter names a field that the index does not have.
    """
    if not snapshot.says_who_may_see:
        wanted = tuple(map(without_open_visibility, wanted))
    given = [one for one in wanted if one is not None]
    if not given:
        return Passing(snapshot.live, snapshot.documents)
    trees = [post_order(one) for one in given]
    # A tree is told by its nodes in this order; comparing trees themselves would recurse as deep as they are.
    key = tuple(kind if (kind := type(node)) in _OPERATORS else node for tree in trees for node in tree)
    return snapshot.passing.get(key, lambda: _evaluate(snapshot, trees))


def without_terms(wanted: Filter | None, texts: Sequence[str]) -> Filter | None:
    """Return the filter without the terms written in `texts`, for counts that leave their own choice out.

    Of equal terms only the last one goes. A caller that forces a filter ANDs it again afterwards.

    Raises:
        InvalidSearch: A text is not one term, or not a term of the filter.
    """
    for text in texts:
        term = _parsed_term(text)
        if wanted is None or not any(leaf == term for leaf in leaves(wanted)):
            raise InvalidSearch(f"excludeTerms has {text!r}, which is no term of the filter")
        wanted = _without_last(wanted, term)
    return wanted


@dataclass(slots=True)
class _AnyOf:
    """An OR that may go on: `rows`, and those of `leaves`, which are evaluated together where it ends."""

    leaves: list[Leaf]
    rows: RowSet | None = None


def _evaluate(snapshot: Snapshot, trees: Sequence[Sequence[Filter]]) -> Passing:
    mask = snapshot.live
    for nodes in trees:
        mask = mask & mask_of(_rows_passing(snapshot, nodes), snapshot.size)
    listed = sum(len(node.values) for nodes in trees for node in nodes if isinstance(node, InFilter))
    return Passing(mask, int(np.count_nonzero(mask)), listed + sum(map(len, trees)))


def _rows_passing(snapshot: Snapshot, nodes: Sequence[Filter]) -> RowSet:
    """Return the rows, dead ones among them, that pass the tree of which `nodes` is the post order."""
    found: list[Leaf | _AnyOf] = []
    for node in nodes:
        if not isinstance(node, _OPERATORS):
            found.append(node)
        elif isinstance(node, NotFilter):
            found.append(_AnyOf([], complement(_settled(snapshot, found.pop()), snapshot.size)))
        else:
            right, left = found.pop(), found.pop()
            if isinstance(node, OrFilter):
                found.append(_joined(left, right))
            else:
                found.append(_AnyOf([], both(_settled(snapshot, left), _settled(snapshot, right))))
    return _settled(snapshot, found.pop())


def _joined(left: Leaf | _AnyOf, right: Leaf | _AnyOf) -> _AnyOf:
    if not isinstance(left, _AnyOf):
        left, right = right, left
    if not isinstance(left, _AnyOf):
        left = _AnyOf([left])
    if not isinstance(right, _AnyOf):
        left.leaves.append(right)
        return left
    if len(left.leaves) < len(right.leaves):
        left, right = right, left
    left.leaves += right.leaves
    if right.rows is not None:
        left.rows = right.rows if left.rows is None else either(left.rows, right.rows)
    return left


def _settled(snapshot: Snapshot, found: Leaf | _AnyOf) -> RowSet:
    if not isinstance(found, _AnyOf):
        return union_of(_rows_of_leaves(snapshot, [found]), snapshot.size)
    if not found.leaves and found.rows is not None:
        return found.rows
    rows = union_of(_rows_of_leaves(snapshot, found.leaves), snapshot.size)
    return rows if found.rows is None else either(found.rows, rows)


def _rows_of_leaves(snapshot: Snapshot, leaves: Sequence[Leaf]) -> list[Array]:
    """Return the rows of every leaf, in parts that may overlap; a field is asked for all its own at once."""
    by_field: dict[str, list[Leaf]] = {}
    for leaf in leaves:
        if isinstance(leaf, InFilter) and len(leaf.values) > MAX_LISTED:
            raise InvalidSearch(
                f"filter lists {len(leaf.values)} values of {leaf.field!r}, more than {MAX_LISTED}"
            )
        by_field.setdefault(leaf.field, []).append(leaf)
    check_fields(snapshot, by_field, "filter")
    parts: list[Array] = []
    for field, own in by_field.items():
        if field == "_id":
            parts.extend(rows_of(_id_rows(snapshot, leaf)) for leaf in own)
        elif (postings := snapshot.postings(field)) is not None:
            parts += _rows_in_field(postings, own)
    return parts


def _rows_in_field(postings: FieldPostings, leaves: Sequence[Leaf]) -> list[Array]:
    values: list[str] = []
    ranges: list[Range] = []
    parts: list[Array] = []
    for leaf in leaves:
        if isinstance(leaf, TermFilter):
            values.append(leaf.value)
        elif isinstance(leaf, RangeFilter):
            ranges.append((leaf.lower, leaf.upper))
        elif isinstance(leaf, InFilter):
            values.extend(leaf.values)
        else:
            parts.append(rows_of(postings.contains(leaf.value)))
    return [*parts, *postings.rows_matching(values, ranges)]


def _id_rows(snapshot: Snapshot, leaf: Leaf) -> BitMap:
    match leaf:
        case TermFilter(_, value):
            wanted: Sequence[str] = (value,)
        case InFilter(_, values):
            wanted = values
        case RangeFilter():
            return BitMap()
        case ContainsFilter(_, value):
            return snapshot.id_postings.contains(value)
    return BitMap(row for one in wanted if (row := snapshot.row_by_id.get(one)) is not None)


def _parsed_term(text: str) -> Leaf:
    try:
        term = parse_filter(text)
    except FilterSyntaxError as error:
        raise InvalidSearch(
            f"excludeTerms must be terms of the filter; {text!r} is none: {error.expected}"
        ) from error
    if isinstance(term, AndFilter | OrFilter | NotFilter):
        raise InvalidSearch(f"excludeTerms must be single terms of the filter, not {text!r}")
    return term


def _without_last(wanted: Filter, term: Leaf) -> Filter | None:
    found = max(at for at, node in enumerate(post_order(wanted)) if node == term)
    done: list[Filter | None] = []
    for at, node in enumerate(post_order(wanted)):
        if isinstance(node, NotFilter):
            operand = done.pop()
            done.append(NotFilter(operand) if operand is not None else None)
        elif isinstance(node, AndFilter | OrFilter):
            right, left = done.pop(), done.pop()
            done.append(type(node)(left, right) if left is not None and right is not None else left or right)
        else:
            done.append(None if at == found else node)
    return done.pop()
