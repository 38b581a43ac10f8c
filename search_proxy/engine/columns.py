"""The values of one field over many documents, as flat arrays of (row, value) pairs.

Texts are dictionary coded: `text_codes` point into a blob of distinct values, which is decoded value by
value and only where a query asks. Rows ascend in every array, so columns of following segments can be put
behind one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from search_proxy.engine.text_dictionaries import (
    TEXTS_AT_ONCE,
    Array,
    JoinedDictionary,
    TextDictionary,
    join_dictionaries,
)

__all__ = ["COLUMN_TYPES", "Array", "FieldColumns", "dictionary", "in_one_piece", "join_columns", "keep_rows"]


COLUMN_TYPES: Mapping[str, str] = {
    "text_rows": "<u4",
    "text_codes": "<u4",
    "text_offsets": "<u8",
    "text_blob": "|u1",
    "integer_rows": "<u4",
    "integer_values": "<i8",
    "float_rows": "<u4",
    "float_values": "<f8",
    "boolean_rows": "<u4",
    "boolean_values": "|u1",
    "list_rows": "<u4",
}
"""Every array of a field and its type on disk."""


@dataclass(frozen=True, slots=True)
class FieldColumns:
    """The arrays of one field, by the names of `COLUMN_TYPES`; one that is not there is empty.

    `known` are the distinct texts, where they are not among the arrays or what is derived from them is kept.
    """

    arrays: Mapping[str, Array]
    known: TextDictionary | JoinedDictionary | None = None

    def __getitem__(self, name: str) -> Array:
        found = self.arrays.get(name)
        return np.empty(0, COLUMN_TYPES[name]) if found is None else found

    @property
    def dictionary(self) -> TextDictionary | JoinedDictionary:
        """Return the distinct text values."""
        return self.known if self.known is not None else self.stored_dictionary()

    def stored_dictionary(self) -> TextDictionary:
        """Return the distinct text values that are among the arrays."""
        if isinstance(self.known, TextDictionary):
            return self.known
        return TextDictionary(self["text_offsets"], self["text_blob"])

    @property
    def distinct_texts(self) -> int:
        """Return how many distinct text values there are."""
        return len(self.dictionary)

    def text(self, code: int) -> str:
        """Return the text value of `code`."""
        return self.dictionary.text(code)

    def texts(self) -> list[str]:
        """Return every distinct text value, by code."""
        return list(self.dictionary.texts())

    def rows(self) -> Array:
        """Return the rows that have any value, in no order; one that has several may come several times."""
        names = ("text_rows", "integer_rows", "float_rows", "boolean_rows")
        return np.concatenate([self[name] for name in names])


def join_columns(parts: Sequence[tuple[int, FieldColumns]]) -> FieldColumns:
    """Return the columns of following segments as one; each part comes with the row it starts at."""
    if len(parts) == 1 and parts[0][0] == 0:
        return parts[0][1]
    arrays: dict[str, Array] = {}
    for name in COLUMN_TYPES:
        if name.startswith("text_") and name != "text_rows":
            continue
        own = [(base, part.arrays[name]) for base, part in parts if name in part.arrays]
        if own:
            is_rows = name.endswith("_rows")
            arrays[name] = np.concatenate([one + np.uint32(base) if is_rows else one for base, one in own])
    with_texts = [part for _, part in parts if "text_codes" in part.arrays]
    if not with_texts:
        return FieldColumns(arrays)
    translations, joined = join_dictionaries([part.stored_dictionary() for part in with_texts])
    arrays["text_codes"] = np.concatenate(
        [codes[part["text_codes"]] for codes, part in zip(translations, with_texts, strict=True)]
    )
    return FieldColumns(arrays, joined)


def keep_rows(columns: FieldColumns, kept: Array, renumbered: Array) -> FieldColumns:
    """Return only the values of the rows where the mask `kept` is true, rows as they are `renumbered`."""
    arrays: dict[str, Array] = {}
    for prefix, payload in (
        ("text", "text_codes"),
        ("integer", "integer_values"),
        ("float", "float_values"),
        ("boolean", "boolean_values"),
        ("list", None),
    ):
        rows = columns.arrays.get(f"{prefix}_rows")
        if rows is None:
            continue
        chosen = kept[rows]
        arrays[f"{prefix}_rows"] = renumbered[rows[chosen]]
        if payload is not None:
            arrays[payload] = columns[payload][chosen]
    if "text_codes" not in arrays:
        return FieldColumns(arrays)
    used = np.flatnonzero(np.bincount(arrays["text_codes"], minlength=columns.distinct_texts))
    place = np.zeros(columns.distinct_texts, "<u4")
    place[used] = np.arange(len(used), dtype="<u4")
    arrays["text_codes"] = place[arrays["text_codes"]]
    return FieldColumns({**arrays, **dictionary([columns.text(int(code)) for code in used])})


def in_one_piece(columns: FieldColumns) -> FieldColumns:
    """Return the columns as they are stored, with all texts behind one another."""
    if not isinstance(columns.known, JoinedDictionary):
        return columns
    return FieldColumns({**columns.arrays, **dictionary(columns.texts())})


def dictionary(values: Sequence[str]) -> dict[str, Array]:
    """Return the arrays of distinct text values, which codes point into."""
    sizes, blobs = [np.empty(0, np.int64)], [np.empty(0, "|u1")]
    for start in range(0, len(values), TEXTS_AT_ONCE):
        encoded = [value.encode() for value in values[start : start + TEXTS_AT_ONCE]]
        sizes.append(np.fromiter(map(len, encoded), np.int64, len(encoded)))
        blobs.append(np.frombuffer(b"".join(encoded), "|u1"))
    offsets = np.zeros(len(values) + 1, "<u8")
    np.cumsum(np.concatenate(sizes), out=offsets[1:])
    return {"text_offsets": offsets, "text_blob": np.concatenate(blobs)}
