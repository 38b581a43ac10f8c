"""Vectors as bytes: a quarter of the memory to read, and a bound on how far off that can be.

A vector v is kept as v' = scale * codes, with |v - v'| and |v|. For a query q, which is kept likewise,
q v = q' v' + (q - q') v + q' (v - v'), so no similarity is above q' v' + |q - q'| |v| + |q'| |v - v'|. Who
compares by that bound first, and by the true numbers then, misses nothing
(docs/decisions/0017-vectors-are-compared-as-bytes-first.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import simsimd

from search_proxy.engine.columns import Array

FACTS = 3
"""Numbers of each vector beside its codes: the scale, |v - v'|, and |v|."""

_HIGHEST = 127
_ROWS_AT_ONCE = 1_024
_LONGEST = 1e6
"""Beyond this length, and below the shortest, single precision no longer follows the bound's arithmetic."""
_SHORTEST = 1e-6
_ROUNDED_UP = 1 + 1e-6


@dataclass(frozen=True, slots=True)
class Codes:
    """Vectors as bytes, one row each, and `facts` of them, one column each."""

    rows: Array
    facts: Array

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, start: int, stop: int) -> Codes:
        """Return the vectors from `start` to `stop`, without copying them."""
        return Codes(self.rows[start:stop], self.facts[:, start:stop])

    def at(self, positions: Array) -> Codes:
        """Return copies of the vectors at `positions`."""
        return Codes(self.rows.take(positions, axis=0), self.facts.take(positions, axis=1))

    def upper_bounds(self, query: QueryCodes) -> Array:
        """Return what the similarity of each vector to `query` is not above.

        The similarity may be that of exact numbers, or be summed in single precision in any order.
        """
        return bounded(self.products(query), self.facts, query)

    def products(self, query: QueryCodes) -> Array:
        """Return the product of the codes of each vector with those of `query`."""
        if not len(self):
            return np.empty(0, np.float32)
        # Never with `out=`, which returns None without counting the reference, until the process dies of it.
        products: Array = np.asarray(simsimd.cdist(query.row, self.rows, "dot", out_dtype="float32"))[0]
        return products


def bounded(products: Array, facts: Array, query: QueryCodes) -> Array:
    """Return the bounds that follow from products of codes and the facts beside these, in their place."""
    scales, errors, lengths = facts
    products *= scales
    products *= query.scale
    products += errors * query.per_error
    products += lengths * query.per_length
    return products


@dataclass(frozen=True, slots=True)
class QueryCodes:
    """The vector of a query as bytes, and what a vector's error and length add to the bound for it."""

    row: Array
    scale: np.float32
    per_error: np.float32
    per_length: np.float32


def quantised(vectors: Array) -> Codes:
    """Return the vectors as bytes."""
    rows = np.empty(vectors.shape, np.int8)
    facts = np.empty((FACTS, len(vectors)), np.float32)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, len(vectors))
        _quantise(vectors[start:stop], rows[start:stop], facts[:, start:stop])
    return Codes(rows, facts)


def query_codes(query: Array) -> QueryCodes | None:
    """Return the vector of a query as bytes, or None where no bound would hold: it is zero, or absurd."""
    precise = query.astype(np.float64)
    length = float(precise @ precise) ** 0.5
    if not _SHORTEST <= length <= _LONGEST:
        return None
    scale = float(np.abs(precise).max()) / _HIGHEST
    codes = np.rint(precise / scale)
    missed = precise - codes * scale
    error = float(missed @ missed) ** 0.5
    rounding = float(_rounding(len(query))) * length
    return QueryCodes(
        codes.astype(np.int8)[None],
        np.float32(scale),
        np.float32((length + error) * _ROUNDED_UP),
        np.float32((error + rounding) * _ROUNDED_UP),
    )


def _quantise(vectors: Array, rows: Array, facts: Array) -> None:
    scales = np.maximum(vectors.max(axis=1), -vectors.min(axis=1)) / np.float32(_HIGHEST)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        lengths = np.sqrt(np.vecdot(vectors, vectors))
        is_usual = (lengths >= _SHORTEST) & (lengths <= _LONGEST)
        codes = np.rint(vectors / np.where(is_usual, scales, np.inf)[:, None])
        missed = vectors - codes * scales[:, None]
        errors = np.sqrt(np.vecdot(missed, missed))
    rows[:] = codes
    rounding = _rounding(vectors.shape[1])
    facts[0] = scales
    facts[1] = (errors + lengths * 2.0**-22) * (1 + rounding)
    facts[2] = lengths * (1 + rounding)
    # Whatever the similarity to an absurd vector is, it has to be looked at; to nothing at all it is nothing.
    facts[:, ~is_usual] = np.array([[0], [np.inf], [0]])
    facts[:, ~vectors.any(axis=1)] = 0


def _rounding(dimension: int) -> np.float32:
    """Return how much a sum of so many products may be off for single precision, relative to the lengths."""
    return np.float32((dimension + 32) * 2.0**-23)
