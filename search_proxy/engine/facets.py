"""Counts the values of fields over the matches of a search.

Where hits are collapsed to products, a product counts once per value, however many of its variants have it:
so a count is the total that the shopper gets by choosing that value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from search_proxy.engine.columns import Array, FieldColumns
from search_proxy.engine.snapshot import Snapshot
from search_proxy.errors import InvalidSearch
from search_proxy.models import FacetField, FacetRange, FacetsRequest

MAX_FACETS = 100
MAX_RESULTS = 10_000
MAX_RANGES = 100


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
    snapshot: Snapshot, field: FacetField, request: FacetsRequest, matched: Array, *, by_product: bool
) -> Mapping[str, Any]:
    """Return the counts of one facet over the rows where the mask `matched` is true.

    Returns:
        `{"red": {"count": 5}}`, or for numbers `{"min", "max", "avg", "sum", "count"}`, one per range.
    """
    columns = snapshot.columns(field.name)
    products = snapshot.products if by_product and snapshot.has_variants else None
    if field.kind == "number":
        rows, values = _numbers(columns, matched)
        if not field.ranges:
            return _statistics(rows, values, products)
        return {
            range_name(bucket): _statistics(rows[inside], values[inside], products)
            for bucket in field.ranges
            for inside in [_inside(values, bucket)]
        }
    counts = _text_counts(columns, matched, products)
    sign = 1 if field.order == "asc" else -1
    ordered = sorted(counts.items(), key=lambda entry: (sign * entry[1], entry[0]))
    limit = request.max_results if field.max_results is None else field.max_results
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


def _text_counts(columns: FieldColumns, matched: Array, products: Array | None) -> dict[str, int]:
    inside = matched[columns["text_rows"]]
    codes = columns["text_codes"][inside].astype(np.int64)
    distinct = columns.distinct_texts
    if products is not None:
        pairs = products[columns["text_rows"][inside]] * distinct + codes
        codes = np.unique(pairs) % distinct if distinct else codes
    elif len(columns["list_rows"]):
        pairs = columns["text_rows"][inside].astype(np.int64) * distinct + codes
        codes = np.unique(pairs) % distinct if distinct else codes
    counts = np.bincount(codes, minlength=distinct)
    found = {columns.text(int(code)): int(counts[code]) for code in np.flatnonzero(counts)}
    for value, name in ((1, "true"), (0, "false")):
        chosen = matched[columns["boolean_rows"]] & (columns["boolean_values"] == value)
        rows = columns["boolean_rows"][chosen]
        number = len(np.unique(rows if products is None else products[rows]))
        if number:
            found[name] = found.get(name, 0) + number
    return found


def _numbers(columns: FieldColumns, matched: Array) -> tuple[Array, Array]:
    rows = np.concatenate([columns["integer_rows"], columns["float_rows"]])
    values = np.concatenate([columns["integer_values"].astype(np.float64), columns["float_values"]])
    inside = matched[rows]
    return rows[inside], values[inside]


def _inside(values: Array, bucket: FacetRange) -> Array:
    inside = np.ones(len(values), bool)
    if bucket.start is not None:
        inside &= values >= bucket.start
    if bucket.end is not None:
        inside &= values < bucket.end
    return inside


def _statistics(rows: Array, values: Array, products: Array | None) -> dict[str, Any]:
    if not len(rows):
        return {"count": 0}
    if products is None:
        count = len(np.unique(rows))
    else:
        # A product with several prices counts once, with the first of its matching variants.
        _, first = np.unique(products[rows], return_index=True)
        values, count = values[first], len(first)
    total = float(values.sum())
    return {
        "min": float(values.min()),
        "max": float(values.max()),
        "avg": total / len(values),
        "sum": total,
        "count": count,
    }
