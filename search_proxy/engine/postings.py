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
        return self.any_equal((wanted,))

    def any_equal(self, wanted: Iterable[str]) -> BitMap:
        """Return the rows where some value equals one of `wanted`."""
        return bitmap_of_all(self.rows_equal(wanted))

    def between(self, lower: int | float | None, upper: int | float | None) -> BitMap:
        """Return the rows where some number lies in the range, both ends included."""
        return bitmap_of_all(self.rows_between(lower, upper))

    def rows_equal(self, wanted: Iterable[str]) -> list[Array]:
        """Return the rows where some value equals one of `wanted`, in parts that may overlap."""
        parts: list[Array] = []
        for value in wanted:
            folded = value.casefold()
            parts.extend(self._rows_of_code(code) for code in self._codes_by_text.get(folded, ()))
            if folded in _BOOLEANS and len(self.columns["boolean_rows"]):
                chosen = self.columns["boolean_values"] == _BOOLEANS[folded]
                parts.append(self.columns["boolean_rows"][chosen])
            if self._has_numbers:
                number = parse_number(value)
                if number is not None:
                    parts.append(self._floats_between(number, number))
                    if isinstance(number, int):
                        parts.append(self._integers_between(number, number))
        return parts

    def rows_between(self, lower: int | float | None, upper: int | float | None) -> list[Array]:
        """Return the rows where some number lies in the range, in parts that may overlap."""
        low = -math.inf if lower is None else lower
        high = math.inf if upper is None else upper
        return [self._integers_between(low, high), self._floats_between(low, high)]

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

    def _integers_between(self, lower: int | float, upper: int | float) -> Array:
        values, rows = self._sorted_integers
        if not len(values):
            return rows
        low = _LOWEST if lower == -math.inf else math.ceil(lower) if lower != math.inf else _HIGHEST + 1
        high = _HIGHEST if upper == math.inf else math.floor(upper) if upper != -math.inf else _LOWEST - 1
        low, high = max(low, _LOWEST), min(high, _HIGHEST)
        if low > high:
            return rows[:0]
        start = values.searchsorted(low, "left")
        found: Array = rows[start : values.searchsorted(high, "right")]
        return found

    def _floats_between(self, lower: int | float, upper: int | float) -> Array:
        values, rows = self._sorted_floats
        if not len(values):
            return rows
        start = values.searchsorted(_float_at_least(lower), "left")
        found: Array = rows[start : values.searchsorted(-_float_at_least(-upper), "right")]
        return found


def _float_at_least(bound: int | float) -> float:
    """Return the least float that is not below `bound`: an integer beyond 2**53 may lie between two."""
    try:
        nearest = float(bound)
    except OverflowError:
        return math.inf if bound > 0 else -math.inf
    return nearest if nearest >= bound else math.nextafter(nearest, math.inf)
