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
from search_proxy.engine.distinct import count_distinct, distinct
from search_proxy.engine.snapshot import Snapshot
from search_proxy.errors import InvalidSearch
from search_proxy.models import FacetField, FacetRange, FacetsRequest

MAX_FACETS = 100
MAX_RESULTS = 10_000
MAX_RANGES = 100
_REMEMBERED_NAMES = 2_000

_FEW_GROUPS = 0.02
"""Below this share of all groups, sorting those that occur is faster than marking them."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Values:
    """A field's values by row, each once, as codes from 1 on; 0 is none. `true` and `false` come last.

    Where a row has several, those of row `n` lie from `starts[n]` to `starts[n + 1]`; else there is one for
    every row. Where variants collapse, the same value of the same product has the same group; -1 is none, and
    a row without siblings has none.
    """

    width: int
    codes: Array
    groups: Array | None
    code_of_group: Array
    starts: Array | None

    def places(self, rows: Array) -> Array:
        """Return where the values of `rows` lie."""
        if self.starts is None:
            return rows
        first = self.starts[rows]
        sizes = self.starts[rows + 1] - first
        before = np.cumsum(sizes) - sizes
        return np.repeat(first - before, sizes) + np.arange(int(sizes.sum()))

    def codes_of_groups(self, groups: Array) -> Array:
        """Return the code of every group that occurs, once each."""
        if len(groups) < _FEW_GROUPS * len(self.code_of_group):
            present = distinct(groups)
            present = present[present >= 0]
        else:
            # The last place is that of -1, no group.
            seen = np.zeros(len(self.code_of_group) + 1, bool)
            seen[groups] = True
            present = np.flatnonzero(seen[:-1])
        codes: Array = self.code_of_group[present]
        return codes


def _value_counts(snapshot: Snapshot, field: str, matched: Matched, *, collapsed: bool) -> Array:
    """Return how often each value occurs, by its code, the first being 0."""
    values = snapshot.derived(
        ("values", field, collapsed), lambda: _values(snapshot, field, collapsed=collapsed)
    )
    bins = values.width + 1
    counts = np.bincount(values.codes[values.places(matched.rows)], minlength=bins)
    if values.groups is not None and len(matched.siblings):
        # Each was counted once too often for every sibling with the same value that came before it.
        places = values.places(matched.siblings)
        counts -= np.bincount(values.codes[places], minlength=bins)
        counts += np.bincount(values.codes_of_groups(values.groups[places]), minlength=bins)
    return counts[1:]


def _values(snapshot: Snapshot, field: str, *, collapsed: bool) -> _Values:
    columns = snapshot.columns(field)
    width = columns.distinct_texts + 2
    # A text that reads like a truth value counts with it, as filters have it.
    texts = columns.texts() if len(columns["boolean_rows"]) else []
    true, false = (
        texts.index(name) if name in texts else width - 2 + at for at, name in enumerate(("true", "false"))
    )
    flags = np.where(columns["boolean_values"] == 1, true, false)
    rows = np.concatenate([columns["text_rows"], columns["boolean_rows"]]).astype(np.int64)
    codes = np.concatenate([columns["text_codes"].astype(np.int64), flags])
    keys = rows * width + codes
    if np.any(keys[1:] <= keys[:-1]):
        rows, codes = np.divmod(distinct(keys), width)
    groups, code_of_group = None, codes[:0]
    if collapsed:
        # Only what has siblings can be counted more than once.
        several = np.flatnonzero(snapshot.has_siblings[rows])
        named, own = np.unique(snapshot.products[rows[several]] * width + codes[several], return_inverse=True)
        code_of_group = (named % width + 1).astype(np.int32)
        groups = np.full(len(rows), -1, np.int32)
        groups[several] = own
    codes = (codes + 1).astype(np.int32)
    sizes = np.bincount(rows, minlength=snapshot.size)
    starts = None
    if len(rows) and sizes.max() > 1:
        starts = np.concatenate([[0], np.cumsum(sizes)])
    else:
        codes = _by_row(rows, codes, 0, snapshot.size)
        groups = None if groups is None else _by_row(rows, groups, -1, snapshot.size)
    return _Values(width=width, codes=codes, groups=groups, code_of_group=code_of_group, starts=starts)


def _by_row(rows: Array, values: Array, missing: int, size: int) -> Array:
    every = np.full(size, missing, values.dtype)
    every[rows] = values
    return every


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
