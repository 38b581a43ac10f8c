"""Evaluates a filter tree over a snapshot, as sets of rows.

The answer is that of `filters.matching.matches`, document by document; a property test says so. The tree is
walked with a stack, so no length or depth of it can exhaust ours.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from pyroaring import BitMap

from search_proxy.engine.columns import Array
from search_proxy.engine.postings import bitmap_of_all, rows_of
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
    }
)
"""Fields that every index knows, whether or not a document has them yet."""


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
    given = [one for one in wanted if one is not None]
    if not given:
        return Passing(snapshot.live_rows, snapshot.live)
    trees = [post_order(one) for one in given]
    # A tree is told by its nodes in this order; comparing trees themselves would recurse as deep as they are.
    key = tuple(
        type(node) if isinstance(node, NotFilter | AndFilter | OrFilter) else node
        for tree in trees
        for node in tree
    )
    return snapshot.passing.get(key, lambda: _evaluate(snapshot, given))


def rows_passing(snapshot: Snapshot, wanted: Filter | None) -> BitMap:
    """Return the living rows that pass the filter.

    Raises:
        UnknownField: The filter names a field that the index does not have.
    """
    if wanted is None:
        return snapshot.live_rows
    check_fields(snapshot, dict.fromkeys(leaf.field for leaf in leaves(wanted)), "filter")
    found: list[list[Array]] = []
    for node in post_order(wanted):
        if isinstance(node, NotFilter):
            found.append([rows_of(snapshot.live_rows - bitmap_of_all(found.pop()))])
        elif isinstance(node, OrFilter):
            # An OR of thousands only collects rows; they become one set where it ends.
            right = found.pop()
            found[-1].extend(right)
        elif isinstance(node, AndFilter):
            right, left = found.pop(), found.pop()
            found.append([rows_of(bitmap_of_all(left) & bitmap_of_all(right))])
        else:
            found.append(_leaf_rows(snapshot, node))
    return bitmap_of_all(found.pop()) & snapshot.live_rows


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


def _evaluate(snapshot: Snapshot, given: Sequence[Filter]) -> Passing:
    rows = BitMap.intersection(*(rows_passing(snapshot, one) for one in given))
    mask = np.zeros(snapshot.size, bool)
    mask[rows_of(rows)] = True
    return Passing(rows, mask)


def _leaf_rows(snapshot: Snapshot, leaf: Leaf) -> list[Array]:
    """Return the rows of one term, in parts that may overlap."""
    if leaf.field == "_id":
        return [rows_of(_id_rows(snapshot, leaf))]
    postings = snapshot.postings(leaf.field)
    if postings is None:
        return []
    match leaf:
        case TermFilter(_, value):
            return postings.rows_equal((value,))
        case InFilter(_, values):
            return postings.rows_equal(values)
        case RangeFilter(_, lower, upper):
            return postings.rows_between(lower, upper)
        case ContainsFilter(_, value):
            return [rows_of(postings.contains(value))]


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
