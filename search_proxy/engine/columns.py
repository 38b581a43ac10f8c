"""The values of one field over many documents, as flat arrays of (row, value) pairs.

Texts are dictionary coded: `text_codes` point into a blob of distinct values, which is decoded value by
value and only where a query asks. Rows ascend in every array, so columns of following segments can be put
behind one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

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
    """The arrays of one field, by the names of `COLUMN_TYPES`; one that is not there is empty."""

    arrays: Mapping[str, Array]

    def __getitem__(self, name: str) -> Array:
        found = self.arrays.get(name)
        return np.empty(0, COLUMN_TYPES[name]) if found is None else found

    @property
    def distinct_texts(self) -> int:
        """Return how many distinct text values there are."""
        return max(0, len(self["text_offsets"]) - 1)

    def text(self, code: int) -> str:
        """Return the text value of `code`."""
        offsets = self["text_offsets"]
        return bytes(self["text_blob"][offsets[code] : offsets[code + 1]]).decode()

    def texts(self) -> list[str]:
        """Return every distinct text value, by code."""
        blob = self["text_blob"].tobytes()
        bounds = self["text_offsets"].tolist()
        return [blob[start:end].decode() for start, end in zip(bounds, bounds[1:], strict=False)]

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
    codes: dict[str, int] = {}
    coded = []
    for part in with_texts:
        translation = [codes.setdefault(text, len(codes)) for text in part.texts()]
        coded.append(np.asarray(translation, "<u4")[part["text_codes"]])
    arrays["text_codes"] = np.concatenate(coded)
    return FieldColumns({**arrays, **dictionary(list(codes))})


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


def dictionary(values: Sequence[str]) -> dict[str, Array]:
    """Return the arrays of distinct text values, which codes point into."""
    encoded = [value.encode() for value in values]
    offsets = np.zeros(len(encoded) + 1, "<u8")
    np.cumsum([len(value) for value in encoded], out=offsets[1:])
    return {"text_offsets": offsets, "text_blob": np.frombuffer(b"".join(encoded), "|u1")}
