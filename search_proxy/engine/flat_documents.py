"""Documents as streams: the rows, names and values of all their fields, one behind the other.

What is done with hundreds of fields at once, by the interpreter's own loops, costs a fraction of what it does
field by field. A stream is of few documents, so that no step of it keeps other threads waiting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from search_proxy.engine.columns import Array
from search_proxy.engine.documents import addressable_values
from search_proxy.engine.numbering import Numbering

DOCUMENTS_AT_ONCE = 200
"""Some thousands of values: a step over all of them takes about a millisecond."""

NOTHING, TEXT, INTEGER, FLOAT, BOOLEAN, LIST, MAP = range(7)
_KINDS: Mapping[type, int] = {
    type(None): NOTHING,
    str: TEXT,
    int: INTEGER,
    float: FLOAT,
    bool: BOOLEAN,
    list: LIST,
    dict: MAP,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatDocuments:
    """The fields of documents in their order, by the numbers of their names.

    `texts` are the numbers of the values that are texts, in their order.
    """

    rows: Array
    fields: Array
    values: list[Any]
    kinds: Array
    texts: Array

    def chosen(self, kind: int, among: Array) -> tuple[Array, list[Any]]:
        """Return where values of a kind are, of those where the mask `among` is true, and the values."""
        at = np.flatnonzero(among & (self.kinds == kind))
        return at, [self.values[place] for place in at.tolist()]


class Flattening:
    """Gives the names and texts of one segment's documents their numbers."""

    def __init__(self) -> None:
        self.names = Numbering()
        self.texts = Numbering()

    def flat(self, first_row: int, documents: Sequence[Mapping[str, Any]]) -> FlatDocuments:
        """Return the fields of `documents`, as `orjson.loads` gives them, from row `first_row` on."""
        names = list(chain.from_iterable(documents))
        values = list(chain.from_iterable(document.values() for document in documents))
        return self._flat(first_row, list(map(len, documents)), names, values)

    def addressable(
        self, first_row: int, documents: Sequence[Mapping[str, Any]], flat: FlatDocuments
    ) -> FlatDocuments:
        """Return every field that a filter can name, a map's among them; `flat` are the documents as such."""
        if not np.any(flat.kinds == MAP):
            return flat
        pairs = [list(addressable_values(document)) for document in documents]
        names = [name for own in pairs for name, _ in own]
        values = [value for own in pairs for _, value in own]
        return self._flat(first_row, list(map(len, pairs)), names, values)

    def _flat(
        self, first_row: int, counts: Sequence[int], names: Sequence[str], values: list[Any]
    ) -> FlatDocuments:
        kinds = kinds_of(values)
        return FlatDocuments(
            rows=np.repeat(np.arange(first_row, first_row + len(counts)), counts),
            fields=self.names.of(names),
            values=values,
            kinds=kinds,
            texts=self.texts.of([values[at] for at in np.flatnonzero(kinds == TEXT).tolist()]),
        )


def kinds_of(values: Sequence[Any]) -> Array:
    """Return the kind of each value."""
    return np.fromiter(map(_KINDS.__getitem__, map(type, values)), np.int8, len(values))


def in_parts(documents: Sequence[Any]) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield some documents at a time, and the row of the first."""
    for start in range(0, len(documents), DOCUMENTS_AT_ONCE):
        yield start, documents[start : start + DOCUMENTS_AT_ONCE]
