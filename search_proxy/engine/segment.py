"""One immutable segment of an index: stored documents, their ids and hashes, columns and text.

A segment is a folder that is written once and never changed; what was deleted from it stands in the
manifest. All arrays lie in one file, one behind the other, and are read through the page cache.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import orjson

from search_proxy.engine.columns import COLUMN_TYPES, Array, FieldColumns
from search_proxy.engine.text_columns import TEXT_TYPES, TextColumns
from search_proxy.engine.text_dictionaries import TextDictionary

_ARRAYS = "arrays.bin"
_HEADER = "arrays.json"
_ALIGNMENT = 8
_PADDING = bytes(_ALIGNMENT)

_BLOBS_AT_ONCE = 1_000
"""Documents that are put together in one step, for which other threads wait."""


class Segment:
    """A segment opened for reading; generations share it, with what is derived from it."""

    def __init__(self, folder: Path) -> None:
        header = orjson.loads((folder / _HEADER).read_bytes())
        self.name = folder.name
        self._columns: dict[str, FieldColumns] = {}
        self._layout: Mapping[str, Mapping[str, Sequence[int]]] = header["fields"]
        self._own: Mapping[str, tuple[str, int, int]] = header["own"]
        self._data: Array = np.memmap(folder / _ARRAYS, dtype=np.uint8, mode="r").view(np.ndarray)
        self.text_hashes = self._own_array("text_hashes")
        self.product_hashes = self._own_array("product_hashes")
        self._body_offsets = self._own_array("body_offsets")
        self._bodies = self._own_array("bodies")
        self.size = len(self.text_hashes)
        self.text = TextColumns({name: self._own_array(name) for name in TEXT_TYPES})

    @property
    def fields(self) -> Sequence[str]:
        """Return the names of the fields that have values here."""
        return list(self._layout)

    def columns(self, field: str) -> FieldColumns | None:
        """Return the columns of `field`, or None where no document of this segment has it."""
        layout = self._layout.get(field)
        if layout is None:
            return None
        columns = self._columns.get(field)
        if columns is None:
            arrays = {
                name: self._view(COLUMN_TYPES[name], offset, length)
                for name, (offset, length) in layout.items()
            }
            columns = self._columns[field] = FieldColumns(arrays, FieldColumns(arrays).stored_dictionary())
        return columns

    def body(self, row: int) -> bytes:
        """Return the stored document of `row`."""
        return self._bodies[self._body_offsets[row] : self._body_offsets[row + 1]].tobytes()

    def bodies(self, rows: Array) -> list[bytes]:
        """Return the stored documents of `rows`."""
        return [self.body(int(row)) for row in rows]

    def ids(self) -> list[str]:
        """Return the document ids, by row."""
        return list(self._ids.texts())

    def rows_of(self, ids: Set[bytes]) -> Iterator[tuple[bytes, int]]:
        """Yield which of `ids`, in UTF-8, are here, and their rows."""
        first_row = 0
        for part in self._ids.encoded():
            if not ids.isdisjoint(part):
                yield from ((one, row) for row, one in enumerate(part, first_row) if one in ids)
            first_row += len(part)

    @property
    def _ids(self) -> TextDictionary:
        return TextDictionary(self._own_array("id_offsets"), self._own_array("id_blob"))

    def _own_array(self, name: str) -> Array:
        kind, offset, length = self._own[name]
        return self._view(kind, offset, length)

    def _view(self, kind: str, offset: int, length: int) -> Array:
        width = np.dtype(kind).itemsize
        return self._data[offset : offset + length * width].view(kind)


def write_segment(
    folder: Path,
    *,
    ids: Sequence[str],
    text_hashes: Array,
    product_hashes: Array,
    bodies: Sequence[bytes],
    fields: Mapping[str, FieldColumns],
    text: TextColumns,
) -> None:
    """Write a segment and flush it to disk; the folder must not exist."""
    folder.mkdir(parents=True)
    encoded_ids = [identifier.encode() for identifier in ids]
    own: dict[str, Array | Sequence[bytes]] = {
        "text_hashes": np.asarray(text_hashes, "<u8"),
        "product_hashes": np.asarray(product_hashes, "<u8"),
        "body_offsets": _offsets(bodies),
        "bodies": bodies,
        "id_offsets": _offsets(encoded_ids),
        "id_blob": np.frombuffer(b"".join(encoded_ids), "|u1"),
        **text.arrays,
    }
    header: dict[str, Any] = {"own": {}, "fields": {}}
    with (folder / _ARRAYS).open("wb") as file:
        end = 0
        for name, array in own.items():
            if isinstance(array, np.ndarray):
                offset, end = _append(file, end, array)
                header["own"][name] = (array.dtype.str, offset, len(array))
            else:
                offset, end = _append_blobs(file, end, array)
                header["own"][name] = ("|u1", offset, end - offset)
        for field, columns in fields.items():
            layout = header["fields"][field] = {}
            for name in COLUMN_TYPES:
                column = columns.arrays.get(name)
                if column is not None and len(column):
                    offset, end = _append(file, end, column)
                    layout[name] = (offset, len(column))
        file.flush()
        os.fsync(file.fileno())
    with (folder / _HEADER).open("wb") as file:
        file.write(orjson.dumps(header))
        file.flush()
        os.fsync(file.fileno())


def _append(file: BinaryIO, end: int, array: Array) -> tuple[int, int]:
    """Write an array behind what ends at `end`, and return where it begins and ends."""
    start = end + -end % _ALIGNMENT
    file.write(_PADDING[: start - end])
    file.write(np.ascontiguousarray(array).data)
    return start, start + array.nbytes


def _append_blobs(file: BinaryIO, end: int, blobs: Sequence[bytes]) -> tuple[int, int]:
    """Write blobs one behind the other, and return where the first begins and the last ends."""
    start = end + -end % _ALIGNMENT
    file.write(_PADDING[: start - end])
    end = start
    for at in range(0, len(blobs), _BLOBS_AT_ONCE):
        end += file.write(b"".join(blobs[at : at + _BLOBS_AT_ONCE]))
    return start, end


def _offsets(chunks: Sequence[bytes]) -> Array:
    offsets = np.zeros(len(chunks) + 1, "<u8")
    for at in range(0, len(chunks), _BLOBS_AT_ONCE):
        own = offsets[at + 1 : at + 1 + _BLOBS_AT_ONCE]
        np.cumsum(np.fromiter(map(len, chunks[at : at + _BLOBS_AT_ONCE]), np.int64), out=own)
        own += offsets[at]
    return offsets
