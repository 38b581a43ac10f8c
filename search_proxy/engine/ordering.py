"""Puts matches in order and collapses variants to products.

Every order is total: equal keys are decided by the row, so pages of one generation never skip or repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from search_proxy.engine.best_scores import positions_from
from search_proxy.engine.columns import Array, FieldColumns
from search_proxy.engine.snapshot import Snapshot
from search_proxy.models import SortField

MAX_SORT_FIELDS = 3


def by_score(rows: Array, scores: Array, depth: int) -> Array:
    """Return the positions of the `depth` best of `rows`, best first, and of all that equal the last one.

    Rows ascend; equal scores keep that order.
    """
    chosen = positions_from(scores, depth)
    best: Array = chosen[np.argsort(-scores[chosen], kind="stable")]
    return best


def by_fields(snapshot: Snapshot, rows: Array, scores: Array | None, sort_by: Sequence[SortField]) -> Array:
    """Return the positions that put `rows` in the order of `sort_by`, then best first."""
    keys: list[Array] = [rows]
    if scores is not None:
        keys.append(-scores)
    for field in reversed(sort_by):
        descending = field.order == "desc"
        every = snapshot.derived(
            ("sort", field.name, field.order),
            partial(_sort_values, snapshot, field.name, descending=descending),
        )
        values = every[rows]
        missing = np.isnan(values)
        keys.append(np.where(missing, 0.0, -values if descending else values))
        keys.append(missing if field.missing == "last" else ~missing)
    return np.lexsort(keys)


def first_of_each_product(snapshot: Snapshot, ordered_rows: Array) -> Array:
    """Return the ordered rows with only the first row of every product."""
    if not snapshot.has_variants:
        return ordered_rows
    products = snapshot.products[ordered_rows]
    positions = np.arange(len(products))
    first = np.empty(snapshot.product_count, np.int64)
    # Of equal indices the last assignment stays, which in reverse is the first row.
    first[products[::-1]] = positions[::-1]
    collapsed: Array = ordered_rows[first[products] == positions]
    return collapsed


def count_products(snapshot: Snapshot, rows: Array) -> int:
    """Return how many products `rows` belong to."""
    if not snapshot.has_variants:
        return len(rows)
    seen = np.zeros(snapshot.product_count, bool)
    seen[snapshot.products[rows]] = True
    return int(np.count_nonzero(seen))


def _sort_values(snapshot: Snapshot, field: str, *, descending: bool) -> Array:
    """Return one comparable number per row, NaN where the field is missing.

    Numbers come before texts. Of a list, the value that comes first in the order is the one that counts.
    """
    columns = snapshot.columns(field)
    values = np.full(snapshot.size, np.nan)
    choose = np.fmax.at if descending else np.fmin.at
    numbers = np.concatenate(
        [
            columns["boolean_values"].astype(np.float64),
            columns["integer_values"].astype(np.float64),
            columns["float_values"],
        ]
    )
    rows = np.concatenate([columns["boolean_rows"], columns["integer_rows"], columns["float_rows"]])
    if columns.distinct_texts:
        distinct, numbers = np.unique(numbers, return_inverse=True)
        choose(values, columns["text_rows"], (len(distinct) + _text_ranks(columns))[columns["text_codes"]])
    choose(values, rows, numbers.astype(np.float64))
    return values


def _text_ranks(columns: FieldColumns) -> Array:
    texts = columns.texts()
    order = sorted(range(len(texts)), key=lambda code: (texts[code].casefold(), texts[code]))
    ranks = np.empty(len(texts))
    ranks[order] = np.arange(len(texts))
    return ranks
