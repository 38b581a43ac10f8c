"""Counts the values of fields over the matches of a search.

Where hits are collapsed to products, a product counts once per value, however many of its variants have it:
so a count is the total that the shopper gets by choosing that value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from search_proxy.engine.columns import Array, FieldColumns
from search_proxy.engine.distinct import count_distinct
from search_proxy.engine.snapshot import Snapshot
from search_proxy.errors import InvalidSearch
from search_proxy.models import FacetField, FacetRange, FacetsRequest

MAX_FACETS = 100
MAX_RESULTS = 10_000
MAX_RANGES = 100
_REMEMBERED_NAMES = 2_000


def check_facets(request: FacetsRequest) -> None:
    """Refuse what cannot be counted.

    Raises:
        InvalidSearch: Too many fields, a limit out of range, ranges that overlap or are not of numbers.
    """
    if len(request.fields) > MAX_FACETS:
        raise InvalidSearch(f"facets must have at most {MAX_FACETS} fields, not {len(request.fields)}")
    for field in request.fields:
        limit = request.max_results if field.max_results is None else field.max_results
        if not 1 <= limit <= MAX_RESULTS:
            raise InvalidSearch(f"maxResults of facet {field.name!r} must be 1 to {MAX_RESULTS}, not {limit}")
        if field.ranges and field.kind != "number":
            raise InvalidSearch(
                f"facet {field.name!r} has ranges, which only facets of type 'number' may have"
            )
        _check_ranges(field)


def count_facet(
    snapshot: Snapshot, field: FacetField, request: FacetsRequest, matched: Matched, *, by_product: bool
) -> Mapping[str, Any]:
    """Return the counts of one facet.

    Returns:
        `{"red": {"count": 5}}`, or for numbers `{"min", "max", "avg", "sum", "count"}`, one per range.
    """
    collapsed = by_product and snapshot.has_variants
    if field.kind == "number":
        owners, values = _numbers(snapshot, field.name, matched.rows)
        if not field.ranges:
            return _statistics(snapshot, owners, values, collapsed=collapsed)
        return {
            range_name(bucket): _statistics(snapshot, owners[inside], values[inside], collapsed=collapsed)
            for bucket in field.ranges
            for inside in [_inside(values, bucket)]
        }
    limit = request.max_results if field.max_results is None else field.max_results
    sign = 1 if field.order == "asc" else -1
    counts = _value_counts(snapshot, field.name, matched, collapsed=collapsed)
    best = _commonest(counts, sign, limit)
    name = snapshot.derived(("names", field.name), lambda: _namer(snapshot.columns(field.name)))
    named = [(name(code), count) for code, count in zip(best.tolist(), counts[best].tolist(), strict=True)]
    ordered = sorted(named, key=lambda entry: (sign * entry[1], entry[0]))
    return {value: {"count": count} for value, count in ordered[:limit]}


def range_name(bucket: FacetRange) -> str:
    """Return the name of a bucket: its own, or its bounds, with `-Inf` and `Inf` for open ones."""
    if bucket.name is not None:
        return bucket.name
    start = "-Inf" if bucket.start is None else f"{bucket.start:g}"
    return f"{start}:{'Inf' if bucket.end is None else f'{bucket.end:g}'}"


def _check_ranges(field: FacetField) -> None:
    if len(field.ranges) > MAX_RANGES:
        raise InvalidSearch(
            f"facet {field.name!r} must have at most {MAX_RANGES} ranges, not {len(field.ranges)}"
        )
    bounds = sorted(
        (
            -np.inf if bucket.start is None else bucket.start,
            np.inf if bucket.end is None else bucket.end,
        )
        for bucket in field.ranges
    )
    for start, end in bounds:
        if not start < end:
            raise InvalidSearch(f"facet {field.name!r} has a range from {start!r} to {end!r}, which is empty")
    for (_, end), (start, _) in zip(bounds, bounds[1:], strict=False):
        if start < end:
            raise InvalidSearch(f"ranges of facet {field.name!r} overlap at {start!r}")


@dataclass(frozen=True, slots=True)
class Matched:
    """The rows to count over, ascending; `siblings` are those whose product has other rows, too."""

    rows: Array
    siblings: Array


def matched_rows(snapshot: Snapshot, rows: Array) -> Matched:
    """Return `rows` prepared once for all facets of a search."""
    if not snapshot.has_variants:
        return Matched(rows, rows[:0])
    return Matched(rows, rows[snapshot.has_siblings[rows]])


@dataclass(frozen=True, slots=True)
class _Values:
    """A field's values as pairs of row and code, `true` and `false` behind the texts.

    Pairs of the same product and code have the same group, and a group counts once. Where no row has two
    values, `code_of_row` and `group_of_row` have them by row, -1 for none.
    """

    width: int
    rows: Array
    codes: Array
    groups: Array
    code_of_row: Array | None
    group_of_row: Array | None

    def among(self, rows: Array, size: int) -> tuple[Array, Array]:
        """Return the code and the group of every value that `rows` have."""
        if self.code_of_row is not None and self.group_of_row is not None:
            codes = self.code_of_row[rows]
            has_one = codes >= 0
            return codes[has_one], self.group_of_row[rows][has_one]
        mask = np.zeros(size, bool)
        mask[rows] = True
        inside = mask[self.rows]
        return self.codes[inside], self.groups[inside]


def _value_counts(snapshot: Snapshot, field: str, matched: Matched, *, collapsed: bool) -> Array:
    """Return how often each value occurs, by its code."""
    values = snapshot.derived(
        ("values", field, collapsed), lambda: _values(snapshot, field, collapsed=collapsed)
    )
    if values.code_of_row is None:
        codes, groups = values.among(matched.rows, snapshot.size)
        return np.bincount(codes[_first_of_each(groups)], minlength=values.width)
    counts = np.bincount(values.code_of_row[matched.rows] + 1, minlength=values.width + 1)[1:]
    if collapsed and len(matched.siblings):
        # Each was counted once too often for every sibling with the same value that came before it.
        codes, groups = values.among(matched.siblings, snapshot.size)
        counts -= np.bincount(codes, minlength=values.width)
        counts += np.bincount(codes[_first_of_each(groups)], minlength=values.width)
    return counts


def _first_of_each(groups: Array) -> Array:
    """Return one position of every group that occurs."""
    if not len(groups):
        return groups
    positions = np.arange(len(groups))
    last = np.empty(int(groups.max()) + 1, np.int64)
    last[groups] = positions
    chosen: Array = np.flatnonzero(last[groups] == positions)
    return chosen


def _values(snapshot: Snapshot, field: str, *, collapsed: bool) -> _Values:
    columns = snapshot.columns(field)
    width = columns.distinct_texts + 2
    flags = np.where(columns["boolean_values"] == 1, width - 2, width - 1)
    rows = np.concatenate([columns["text_rows"], columns["boolean_rows"]]).astype(np.int64)
    codes = np.concatenate([columns["text_codes"].astype(np.int64), flags])
    owners = snapshot.products[rows] if collapsed else rows
    groups = np.unique(owners * width + codes, return_inverse=True)[1].astype(np.int32)
    codes = codes.astype(np.int32)
    if count_distinct(rows, snapshot.size) < len(rows):
        return _Values(width, rows, codes, groups, None, None)
    code_of_row, group_of_row = np.full((2, snapshot.size), -1, np.int32)
    code_of_row[rows] = codes
    group_of_row[rows] = groups
    return _Values(width, rows, codes, groups, code_of_row, group_of_row)


def _commonest(counts: Array, sign: int, limit: int) -> Array:
    """Return the codes that the first `limit` values by count are among, with all that equal the last."""
    present = np.flatnonzero(counts)
    if len(present) <= limit:
        return present
    keys = sign * counts[present]
    last = np.partition(keys, limit - 1)[limit - 1]
    best: Array = present[keys <= last]
    return best


def _namer(columns: FieldColumns) -> Callable[[int], str]:
    texts = columns.distinct_texts

    def name(code: int) -> str:
        if code < texts:
            return columns.text(code)
        return "true" if code == texts else "false"

    return lru_cache(maxsize=_REMEMBERED_NAMES)(name)


def _numbers(snapshot: Snapshot, field: str, matched: Array) -> tuple[Array, Array]:
    """Return the numbers that `matched` have, each with its row."""
    one_each, rows, values = snapshot.derived(("numbers", field), lambda: _every_number(snapshot, field))
    if one_each is not None:
        own = one_each[matched]
        has_one = ~np.isnan(own)
        return matched[has_one], own[has_one]
    mask = np.zeros(snapshot.size, bool)
    mask[matched] = True
    inside = mask[rows]
    return rows[inside], values[inside]


def _every_number(snapshot: Snapshot, field: str) -> tuple[Array | None, Array, Array]:
    """Return the number of every row, or None where a row has several; and all numbers with their rows."""
    columns = snapshot.columns(field)
    rows = np.concatenate([columns["integer_rows"], columns["float_rows"]]).astype(np.int64)
    values = np.concatenate([columns["integer_values"].astype(np.float64), columns["float_values"]])
    if count_distinct(rows, snapshot.size) < len(rows):
        return None, rows, values
    one_each = np.full(snapshot.size, np.nan)
    one_each[rows] = values
    return one_each, rows, values


def _inside(values: Array, bucket: FacetRange) -> Array:
    inside = np.ones(len(values), bool)
    if bucket.start is not None:
        inside &= values >= bucket.start
    if bucket.end is not None:
        inside &= values < bucket.end
    return inside


def _statistics(snapshot: Snapshot, rows: Array, values: Array, *, collapsed: bool) -> dict[str, Any]:
    if not len(rows):
        return {"count": 0}
    if collapsed:
        # A product with several prices counts once, with the first of its matching variants.
        products, positions = snapshot.products[rows], np.arange(len(rows))
        first = np.empty(snapshot.product_count, np.int64)
        first[products[::-1]] = positions[::-1]
        values = values[first[products] == positions]
        count = len(values)
    else:
        count = count_distinct(rows, snapshot.size)
    total = float(values.sum())
    return {
        "min": float(values.min()),
        "max": float(values.max()),
        "avg": total / len(values),
        "sum": total,
        "count": count,
    }
