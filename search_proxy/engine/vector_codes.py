"""The vectors of an index as bytes: two files beside the vectors themselves, written behind them.

Files that are shorter than the vectors, or missing, as in an index of an earlier version, are no error:
readers make the rest in memory, block by block as it is asked for, and the next embedding run writes it.
Codes are written only of vectors that count already, so what is in the files never belongs to another vector.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from search_proxy.engine.columns import Array
from search_proxy.engine.quantised import FACTS, Codes, QueryCodes, quantised

BLOCK_ROWS = 8_192
"""Rows that are made at once in memory where the files end; it takes 12 ms."""

_CODES = "codes.i8"
_FACTS = "codes.f32"
_ROWS_AT_ONCE = 2_048
"""Rows that are gathered at once: their copy stays in a near cache."""


class StoredCodes:
    """The codes of all rows of `matrix`: mapped as far as the files go, the rest in memory."""

    def __init__(self, folder: Path, matrix: Array, before: StoredCodes | None) -> None:
        """Map the files; blocks that `before` has already in memory of the same vectors are taken over."""
        self._matrix = matrix
        self._stored = _mapped(folder, len(matrix), matrix.shape[1])
        self._blocks: dict[int, Codes] = {}
        if before is not None and before.stored == self.stored:
            self._blocks = before.full_blocks(len(matrix))

    @property
    def stored(self) -> int:
        """Return how many vectors the files have."""
        return len(self._stored)

    def upper_bounds(self, query: QueryCodes, start: int = 0) -> Array:
        """Return what the similarity of `query` to each vector from position `start` on is not above."""
        parts = [
            codes.part(min(max(0, start - at), len(codes)), len(codes)).upper_bounds(query)
            for at, codes in self._parts()
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def upper_bounds_at(self, query: QueryCodes, positions: Array) -> Array:
        """Return what the similarity of `query` to the vector at each position is not above."""
        bounds = np.empty(len(positions), np.float32)
        for start in range(0, len(positions), _ROWS_AT_ONCE):
            stop = start + _ROWS_AT_ONCE
            bounds[start:stop] = self._at(positions[start:stop]).upper_bounds(query)
        return bounds

    def full_blocks(self, length: int) -> dict[int, Codes]:
        """Return the blocks in memory, by number, that hold where there are `length` vectors."""
        made = self._blocks.copy()
        if length == len(self._matrix):
            return made
        full = (min(length, len(self._matrix)) - self.stored) // BLOCK_ROWS
        return {number: block for number, block in made.items() if number < full}

    def _at(self, positions: Array) -> Codes:
        if self.stored == len(self._matrix):
            return self._stored.at(positions)
        rows = np.empty((len(positions), self._matrix.shape[1]), np.int8)
        facts = np.empty((FACTS, len(positions)), np.float32)
        for start, codes in self._parts():
            inside = np.flatnonzero((positions >= start) & (positions < start + len(codes)))
            found = codes.at(positions[inside] - start)
            rows[inside] = found.rows
            facts[:, inside] = found.facts
        return Codes(rows, facts)

    def _parts(self) -> Iterator[tuple[int, Codes]]:
        """Yield all codes in parts, each with the position that it begins at."""
        yield 0, self._stored
        for number in range(-(-(len(self._matrix) - self.stored) // BLOCK_ROWS)):
            yield self.stored + number * BLOCK_ROWS, self._block(number)

    def _block(self, number: int) -> Codes:
        """Return one block behind the files; searches that make the same at once make equal ones."""
        block = self._blocks.get(number)
        if block is None:
            start = self.stored + number * BLOCK_ROWS
            block = quantised(self._matrix[start : start + BLOCK_ROWS])
            self._blocks[number] = block
        return block


def mapped_array(path: Path, kind: type[np.generic], rows: int, columns: int) -> Array:
    """Return so many rows of the file at `path`, mapped; there is at least one."""
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, kind, rows * columns).reshape(rows, columns)


def stored_codes(folder: Path, dimension: int) -> int:
    """Return how many vectors the files in `folder` have codes of."""
    try:
        rows = (folder / _CODES).stat().st_size // dimension
        return min(rows, (folder / _FACTS).stat().st_size // (FACTS * 4))
    except FileNotFoundError:
        return 0


def append_codes(folder: Path, vectors: Array, start: int) -> None:
    """Write the codes of `vectors`, which are those from position `start` on, behind so many others."""
    codes = quantised(vectors)
    _write(folder / _CODES, codes.rows.tobytes(), start * vectors.shape[1])
    _write(folder / _FACTS, codes.facts.T.tobytes(), start * FACTS * 4)


def _write(path: Path, content: bytes, at: int) -> None:
    with path.open("ab") as file:
        # What a dead writer left half done is overwritten.
        file.truncate(at)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _mapped(folder: Path, length: int, dimension: int) -> Codes:
    known = min(length, stored_codes(folder, dimension))
    if not known:
        return Codes(np.empty((0, dimension), np.int8), np.empty((FACTS, 0), np.float32))
    rows = mapped_array(folder / _CODES, np.int8, known, dimension)
    facts = np.fromfile(folder / _FACTS, np.float32, known * FACTS).reshape(known, FACTS)
    return Codes(rows, np.ascontiguousarray(facts.T))
