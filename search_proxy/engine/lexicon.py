"""The terms of one segment, sorted, in flat arrays: looked up by bisection, never loaded as a whole.

A term's number is its place. `frequencies` says in how many documents each term occurs, field by field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from search_proxy.engine.columns import Array


class Lexicon:
    """Sorted terms as `offsets` into a `blob`, and their document frequencies, one column per text field."""

    def __init__(self, offsets: Array, blob: Array, frequencies: Array) -> None:
        self._offsets = offsets
        self._blob = blob
        self.frequencies = frequencies

    @classmethod
    def of(cls, frequencies: Mapping[str, int]) -> Lexicon:
        """Return the lexicon of these terms in one field."""
        terms = sorted(frequencies, key=str.encode)
        counts = np.array([[frequencies[term]] for term in terms], "<u4").reshape(len(terms), 1)
        return cls(*packed_terms([term.encode() for term in terms]), counts)

    def __len__(self) -> int:
        return max(0, len(self._offsets) - 1)

    def __getitem__(self, number: int) -> str:
        return self._bytes(number).decode()

    def find(self, term: str) -> int | None:
        """Return the number of `term`, or None where the segment does not have it."""
        wanted = term.encode()
        at = self._bisect(wanted)
        return at if at < len(self) and self._bytes(at) == wanted else None

    def starting_with(self, prefix: str) -> range:
        """Return the numbers of the terms that start with `prefix`."""
        wanted = prefix.encode()
        return range(self._bisect(wanted), self._bisect(wanted + b"\xff"))

    def terms(self) -> list[str]:
        """Return every term, in order."""
        return [term.decode() for term in self.encoded()]

    def encoded(self) -> list[bytes]:
        """Return every term in UTF-8, in order."""
        blob = self._blob.tobytes()
        bounds = self._offsets.tolist()
        return [blob[start:end] for start, end in zip(bounds, bounds[1:], strict=False)]

    @cached_property
    def most(self) -> Array:
        """Return of every term how many documents have it in the field that has it most."""
        if not len(self):
            return np.empty(0, np.int64)
        most: Array = self.frequencies.max(axis=1).astype(np.int64)
        return most

    @cached_property
    def lengths(self) -> Array:
        """Return how many characters each term has."""
        if not len(self):
            return np.empty(0, np.int64)
        starts_character = (self._blob & 0xC0) != 0x80
        return np.add.reduceat(starts_character, self._offsets[:-1].astype(np.int64), dtype=np.int64)

    @cached_property
    def letters(self) -> Array:
        """Return the set of each term's letters, as `letters_of` has it."""
        if not len(self):
            return np.empty(0, np.uint64)
        bits = np.left_shift(np.uint64(1), (self._blob & 63).astype(np.uint64))
        return np.bitwise_or.reduceat(bits, self._offsets[:-1].astype(np.int64))

    def _bisect(self, wanted: bytes) -> int:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def _bytes(self, number: int) -> bytes:
        found: bytes = self._blob[self._offsets[number] : self._offsets[number + 1]].tobytes()
        return found


def letters_of(term: str) -> int:
    """Return the set of a term's letters as 64 bits; different letters may share one."""
    bits = 0
    for byte in term.encode():
        bits |= 1 << (byte & 63)
    return bits


def packed_terms(terms: Sequence[bytes]) -> tuple[Array, Array]:
    """Return sorted terms, in UTF-8, as offsets and blob."""
    offsets = np.zeros(len(terms) + 1, "<u8")
    np.cumsum(np.fromiter(map(len, terms), np.int64, len(terms)), out=offsets[1:])
    return offsets, np.frombuffer(b"".join(terms), "|u1")
