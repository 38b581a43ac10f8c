"""Which rows have which value of a field, as roaring bitmaps.

Everything is derived from a field's columns when a query first asks for it, and kept for the generation.
Comparison is that of `filters.matching`: strings whole and without case, a whole number equals integers and
floats, a number with a point only floats.
"""

from __future__ import annotations

import array
import math
import re
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from pyroaring import BitMap

from search_proxy.engine.columns import Array, FieldColumns
from search_proxy.filters.numbers import parse_number

_WORD = re.compile(r"\w+")
_BOOLEANS = {"true": 1, "false": 0}
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1

Number = int | float
Range = tuple[Number | None, Number | None]
"""Both ends are included; None is open."""


def bitmap_of(rows: Array) -> BitMap:
    """Return the set of `rows`."""
    return BitMap(array.array("I", np.asarray(rows, np.uint32).tobytes()))


def rows_of(rows: BitMap) -> Array:
    """Return the rows of a set, ascending."""
    return np.asarray(rows.to_array(), np.uint32)


def bitmap_of_all(parts: Sequence[Array]) -> BitMap:
    """Return the set of the rows in all `parts`."""
    filled = [part for part in parts if len(part)]
    if not filled:
        return BitMap()
    return bitmap_of(filled[0] if len(filled) == 1 else np.concatenate(filled))


class FieldPostings:
    """Answers equality, range and word questions about one field."""

    def __init__(self, columns: FieldColumns) -> None:
        self.columns = columns

    def equal(self, wanted: str) -> BitMap:
        """Return the rows where some value equals `wanted`."""
        return bitmap_of_all(self.rows_matching((wanted,), ()))

    def rows_matching(self, wanted: Sequence[str], ranges: Sequence[Range]) -> list[Array]:
        """Return the rows where some value equals one of `wanted`, or some number lies in one of `ranges`.

        They come in parts that may overlap.
        """
        parts = self._rows_of_texts([value.casefold() for value in wanted]) if wanted else []
        if not self._has_numbers:
            return parts
        numbers = [number for number in map(parse_number, wanted) if number is not None]
        whole: list[tuple[Number, Number]] = [(one, one) for one in numbers if isinstance(one, int)]
        within = [
            (-math.inf if lower is None else lower, math.inf if upper is None else upper)
            for lower, upper in ranges
        ]
        parts += self._integers_between(whole + within)
        parts += self._floats_between([*((one, one) for one in numbers), *within])
        return parts

    def _rows_of_texts(self, folded: Sequence[str]) -> list[Array]:
        """Return the rows of texts and of truth values, given without case."""
        parts: list[Array] = []
        if self._codes_by_text:
            found = map(self._codes_by_text.get, folded)
            parts += [self._rows_of_code(code) for codes in found if codes for code in codes]
        if len(self.columns["boolean_rows"]):
            for flag in {_BOOLEANS[value] for value in folded if value in _BOOLEANS}:
                parts.append(self.columns["boolean_rows"][self.columns["boolean_values"] == flag])
        return parts

    def contains(self, wanted: str) -> BitMap:
        """Return the rows in whose texts every word of `wanted` occurs."""
        words = set(_WORD.findall(wanted.casefold()))
        if not words or any(word not in self._codes_by_word for word in words):
            return BitMap()
        sets = [self._rows_of_codes(self._codes_by_word[word]) for word in words]
        return BitMap.intersection(*sets)

    @cached_property
    def _has_numbers(self) -> bool:
        return len(self.columns["integer_rows"]) + len(self.columns["float_rows"]) > 0

    @cached_property
    def _codes_by_text(self) -> dict[str, list[int]]:
        codes: dict[str, list[int]] = {}
        for code, text in enumerate(self.columns.texts()):
            codes.setdefault(text.casefold(), []).append(code)
        return codes

    @cached_property
    def _codes_by_word(self) -> dict[str, list[int]]:
        codes: dict[str, list[int]] = {}
        for code, text in enumerate(self.columns.texts()):
            for word in set(_WORD.findall(text.casefold())):
                codes.setdefault(word, []).append(code)
        return codes

    @cached_property
    def _rows_by_code(self) -> tuple[Array, Array]:
        order = np.argsort(self.columns["text_codes"], kind="stable")
        codes = np.arange(self.columns.distinct_texts + 1, dtype=np.uint32)
        starts = np.searchsorted(self.columns["text_codes"][order], codes)
        return self.columns["text_rows"][order], starts

    def _rows_of_code(self, code: int) -> Array:
        rows, starts = self._rows_by_code
        found: Array = rows[starts[code] : starts[code + 1]]
        return found

    def _rows_of_codes(self, codes: Iterable[int]) -> BitMap:
        return bitmap_of(np.concatenate([self._rows_of_code(code) for code in codes]))

    @cached_property
    def _sorted_integers(self) -> tuple[Array, Array]:
        order = np.argsort(self.columns["integer_values"], kind="stable")
        return self.columns["integer_values"][order], self.columns["integer_rows"][order]

    @cached_property
    def _sorted_floats(self) -> tuple[Array, Array]:
        order = np.argsort(self.columns["float_values"], kind="stable")
        return self.columns["float_values"][order], self.columns["float_rows"][order]

    def _integers_between(self, bounds: Sequence[tuple[Number, Number]]) -> list[Array]:
        values, rows = self._sorted_integers
        if not len(values):
            return []
        within = [_whole_bounds(lower, upper) for lower, upper in bounds]
        possible = [(low, high) for low, high in within if low <= high]
        return _slices(rows, values, possible)

    def _floats_between(self, bounds: Sequence[tuple[Number, Number]]) -> list[Array]:
        values, rows = self._sorted_floats
        if not len(values):
            return []
        within = [(_float_at_least(lower), -_float_at_least(-upper)) for lower, upper in bounds]
        return _slices(rows, values, within)


def _slices(rows: Array, values: Array, bounds: Sequence[tuple[Number, Number]]) -> list[Array]:
    """Return the rows of the values that lie within each of `bounds`; values ascend."""
    starts = values.searchsorted(np.array([low for low, _ in bounds], values.dtype), "left").tolist()
    ends = values.searchsorted(np.array([high for _, high in bounds], values.dtype), "right").tolist()
    return [rows[start:end] for start, end in zip(starts, ends, strict=True) if start < end]


def _whole_bounds(lower: Number, upper: Number) -> tuple[int, int]:
    """Return the least and the greatest 64-bit integer in a range; none are when the least is greater."""
    if type(lower) is int and type(upper) is int:
        return max(lower, _LOWEST), min(upper, _HIGHEST)
    low = _LOWEST if lower == -math.inf else _HIGHEST + 1 if lower == math.inf else math.ceil(lower)
    high = _HIGHEST if upper == math.inf else _LOWEST - 1 if upper == -math.inf else math.floor(upper)
    return max(low, _LOWEST), min(high, _HIGHEST)


def _float_at_least(bound: int | float) -> float:
    """Return the least float that is not below `bound`: an integer beyond 2**53 may lie between two."""
    try:
        nearest = float(bound)
    except OverflowError:
        return math.inf if bound > 0 else -math.inf
    return nearest if nearest >= bound else math.nextafter(nearest, math.inf)
