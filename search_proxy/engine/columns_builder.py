"""Makes the columns of all fields of one segment, from all its documents.

Values are collected in one stream of each type, whatever fields they are of, and the streams put in order of
field and row at the end: a feed of thousands of fields then costs hardly more than one of ten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from search_proxy.engine.columns import COLUMN_TYPES, Array, FieldColumns, dictionary
from search_proxy.engine.flat_documents import (
    BOOLEAN,
    FLOAT,
    INTEGER,
    LIST,
    NOTHING,
    TEXT,
    FlatDocuments,
    Flattening,
    kinds_of,
)
from search_proxy.engine.stable_order import stable_order

_ARRAYS_OF: Mapping[int, tuple[str, str]] = {
    TEXT: ("text_rows", "text_codes"),
    INTEGER: ("integer_rows", "integer_values"),
    FLOAT: ("float_rows", "float_values"),
    BOOLEAN: ("boolean_rows", "boolean_values"),
}


class ColumnsBuilder:
    """Collects the values of documents, some at a time; rows ascend."""

    def __init__(self, flattening: Flattening) -> None:
        self._names = flattening.names
        self._texts = flattening.texts
        self._identifier = self._names["_id"]
        self._collected: dict[int, list[tuple[Array, ...]]] = {kind: [] for kind in (*_ARRAYS_OF, LIST)}

    def add(self, flat: FlatDocuments) -> None:
        """Add every value, and every scalar of a list; other values cannot be addressed and are left out."""
        kinds = np.where(flat.fields == self._identifier, NOTHING, flat.kinds)
        self._collect(
            flat.fields, flat.rows, kinds, flat.values, flat.texts[kinds[flat.kinds == TEXT] == TEXT]
        )
        lists = np.flatnonzero(kinds == LIST)
        if len(lists):
            fields, rows = flat.fields[lists], flat.rows[lists]
            self._collected[LIST].append((fields, rows))
            inner = [flat.values[at] for at in lists.tolist()]
            values, sizes = list(chain.from_iterable(inner)), list(map(len, inner))
            kinds = kinds_of(values)
            texts = self._texts.of([values[at] for at in np.flatnonzero(kinds == TEXT).tolist()])
            self._collect(np.repeat(fields, sizes), np.repeat(rows, sizes), kinds, values, texts)

    def build(self) -> dict[str, FieldColumns]:
        """Return the columns of each field that has a value, fields in the order in which they came."""
        found: list[dict[str, Array]] = [{} for _ in self._names]
        for kind, collected in self._collected.items():
            if not collected:
                continue
            fields, rows, *values = map(np.concatenate, zip(*collected, strict=True))
            # What was in lists stands behind the rest of its documents.
            order = stable_order(fields * (int(rows.max()) + 1) + rows)
            fields, rows = fields[order], rows[order]
            if kind == LIST:
                _share_out(found, fields, {"list_rows": rows})
                continue
            own = values[0][order]
            if kind == TEXT:
                own = self._coded(found, fields, own)
            _share_out(found, fields, dict(zip(_ARRAYS_OF[kind], (rows, own), strict=True)))
        names = self._names.keys_by_number
        return {name: FieldColumns(own) for name, own in zip(names, found, strict=True) if own}

    def _collect(self, fields: Array, rows: Array, kinds: Array, values: Sequence[Any], texts: Array) -> None:
        for kind, (_, name) in _ARRAYS_OF.items():
            at = np.flatnonzero(kinds == kind)
            if len(at):
                own = (
                    texts
                    if kind == TEXT
                    else np.array([values[one] for one in at.tolist()], COLUMN_TYPES[name])
                )
                self._collected[kind].append((fields[at], rows[at], own))

    def _coded(self, found: Sequence[dict[str, Array]], fields: Array, texts: Array) -> Array:
        """Return codes for texts, counted in each field as they come there; add the fields' dictionaries."""
        keys = fields * len(self._texts) + texts
        order = stable_order(keys)
        ordered = keys[order]
        is_first = np.ones(len(keys), bool)
        is_first[1:] = ordered[1:] != ordered[:-1]
        first = order[is_first]
        place, coming = np.empty(len(first), np.int64), np.argsort(first)
        place[coming] = np.arange(len(first))
        codes = np.empty(len(keys), np.int64)
        codes[order] = place[np.cumsum(is_first) - 1]
        first = first[coming]
        by_number = self._texts.keys_by_number
        arrays = dictionary([by_number[text] for text in texts[first].tolist()])
        offsets, blob = arrays["text_offsets"], arrays["text_blob"]
        bounds = np.searchsorted(fields[first], np.arange(len(found) + 1))
        for own, start, end in zip(found, bounds.tolist(), bounds[1:].tolist(), strict=False):
            if start < end:
                own["text_offsets"] = offsets[start : end + 1] - offsets[start]
                own["text_blob"] = blob[int(offsets[start]) : int(offsets[end])]
        return codes - bounds[fields]


def _share_out(found: Sequence[dict[str, Array]], fields: Array, arrays: Mapping[str, Array]) -> None:
    """Give each field its part of the arrays, which are in order of field."""
    bounds = np.searchsorted(fields, np.arange(len(found) + 1)).tolist()
    typed = [(name, array.astype(COLUMN_TYPES[name], copy=False)) for name, array in arrays.items()]
    for own, start, end in zip(found, bounds, bounds[1:], strict=False):
        if start < end:
            for name, array in typed:
                own[name] = array[start:end]
