"""The distinct texts of one field by their codes: those of one segment, and of following segments as one.

Joining copies no text: a joined dictionary knows which segment has the text of a code, and reads it there.
Nothing here holds the interpreter's lock for long, however many texts there are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

TEXTS_AT_ONCE = 2_000
"""Of a dictionary, taken in one step: well under a millisecond."""


@dataclass(frozen=True)
class TextDictionary:
    """Distinct texts behind one another in `blob`; the one of code `n` lies from `offsets[n]` to the next."""

    offsets: Array
    blob: Array

    def __len__(self) -> int:
        return max(0, len(self.offsets) - 1)

    def text(self, code: int) -> str:
        """Return the text of a code."""
        return self.blob[self.offsets[code] : self.offsets[code + 1]].tobytes().decode()

    def texts(self) -> Iterator[str]:
        """Yield every text, by code."""
        for part in self.encoded():
            yield from map(bytes.decode, part)

    def encoded(self) -> Iterator[list[bytes]]:
        """Yield every text in UTF-8, by code, some at a time."""
        for start in range(0, len(self), TEXTS_AT_ONCE):
            offsets = self.offsets[start : start + TEXTS_AT_ONCE + 1]
            first = int(offsets[0])
            blob = self.blob[first : int(offsets[-1])].tobytes()
            bounds = (offsets - offsets[0]).tolist()
            yield [blob[begin:end] for begin, end in zip(bounds, bounds[1:], strict=False)]

    def lengths(self) -> Array:
        """Return how many bytes each text has."""
        return np.diff(self.offsets.astype(np.int64))

    @cached_property
    def hashes(self) -> Array:
        """Return a hash of each text; it holds for this process only."""
        parts = [np.fromiter(map(hash, some), np.int64, len(some)) for some in self.encoded()]
        return np.concatenate([np.empty(0, np.int64), *parts])


class JoinedDictionary:
    """The texts of several dictionaries: of each part, those at `codes`, where no part before it has them."""

    def __init__(self, parts: Sequence[tuple[TextDictionary, Array]]) -> None:
        self._parts = parts
        self._starts = list(accumulate((len(codes) for _, codes in parts), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    def text(self, code: int) -> str:
        """Return the text of a code."""
        number = bisect_right(self._starts, code) - 1
        dictionary, codes = self._parts[number]
        return dictionary.text(int(codes[code - self._starts[number]]))

    def texts(self) -> Iterator[str]:
        """Yield every text, by code."""
        for dictionary, codes in self._parts:
            chosen = np.zeros(len(dictionary), bool)
            chosen[codes] = True
            start = 0
            for part in dictionary.encoded():
                inside = chosen[start : start + len(part)].tolist()
                start += len(part)
                yield from (text.decode() for text, is_chosen in zip(part, inside, strict=True) if is_chosen)

    def lengths(self) -> Array:
        """Return how many bytes each text has."""
        nothing = np.empty(0, np.int64)
        return np.concatenate([nothing, *(dictionary.lengths()[codes] for dictionary, codes in self._parts)])


def join_dictionaries(parts: Sequence[TextDictionary]) -> tuple[list[Array], JoinedDictionary]:
    """Return the dictionaries as one, and of each the joined code of its own codes; counted as texts come."""
    first = _first_places(parts)
    places = np.arange(len(first))
    joined = (np.cumsum(first == places) - 1)[first].astype("<u4")
    bounds = list(accumulate(map(len, parts), initial=0))
    own = [slice(start, end) for start, end in zip(bounds, bounds[1:], strict=False)]
    kept = [np.flatnonzero(first[one] == places[one]) for one in own]
    return [joined[one] for one in own], JoinedDictionary(list(zip(parts, kept, strict=True)))


def _first_places(parts: Sequence[TextDictionary]) -> Array:
    """Return of every text, counted through all parts, where an equal one comes first.

    Texts are equal where 64 bits of their hashes are, which nobody can foresee: of a million different texts,
    two are taken for one about once in forty million times.
    """
    every = np.concatenate([np.empty(0, np.int64), *(part.hashes for part in parts)])
    if not len(every):
        return every
    order = np.argsort(every)
    ordered = every[order]
    is_start = np.ones(len(every), bool)
    is_start[1:] = ordered[1:] != ordered[:-1]
    least = np.minimum.reduceat(order, np.flatnonzero(is_start))
    first = np.empty(len(every), np.int64)
    first[order] = least[np.cumsum(is_start) - 1]
    return first
