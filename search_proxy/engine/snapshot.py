"""One generation of an index, opened: what every search of that generation reads.

Rows are counted through all segments, in the order in which documents were written. Whatever is derived
(a field's joined columns, products, sort orders) is made when first asked for and kept as long as the
generation is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import orjson
from pyroaring import BitMap

from search_proxy.engine.columns import Array, FieldColumns, dictionary, join_columns
from search_proxy.engine.languages import TextAnalysis
from search_proxy.engine.manifest import Manifest, SegmentEntry, identity, read_manifest
from search_proxy.engine.numbering import Numbering
from search_proxy.engine.postings import FieldPostings, rows_of
from search_proxy.engine.remembered import Remembered
from search_proxy.engine.segment import Segment
from search_proxy.engine.synonyms import parse_synonyms, read_synonyms
from search_proxy.engine.text_index import TextIndex
from search_proxy.engine.visible_columns import visible_columns
from search_proxy.filters.visibility import VISIBILITY, VISIBLE_TO, is_visibility_field
from search_proxy.models import IndexDescription

SEGMENTS = "segments"

_OPEN_ATTEMPTS = 50
_REMEMBERED_BYTES = 32_000_000
"""Of evaluated filters, per open index: the last thirty of a million products, hundreds of a small shop."""

_REMEMBERED_DESCRIPTIONS = 128
"""Of what different shoppers may see; each holds the commonest values of every field, some 100 KB."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Passing:
    """The rows that pass a filter of `terms` values, as a mask that is never changed, and their number."""

    mask: Array
    count: int
    terms: int = 0

    def memory(self) -> int:
        """Return how many bytes this takes, about, with the filter that it is remembered by."""
        return len(self.mask) + 1_000 + 200 * self.terms


class Snapshot:
    """A generation of one index, opened for reading; never changes."""

    def __init__(self, folder: Path, manifest: Manifest, last: Snapshot | None = None) -> None:
        """Open a generation; what it shares with the `last` one that was open is taken from there."""
        self.folder = folder
        self.manifest = manifest
        shared = last is not None and last.manifest.created == manifest.created
        known = {segment.name: segment for segment in last.segments} if last is not None and shared else {}
        self.segments: Sequence[Segment] = [
            known.get(entry.name) or Segment(folder / SEGMENTS / entry.name) for entry in manifest.segments
        ]
        self.bases = np.cumsum([0, *(segment.size for segment in self.segments)])
        self.size = int(self.bases[-1])
        self.live = np.ones(self.size, bool)
        for base, entry in zip(self.bases, manifest.segments, strict=False):
            dead = read_deleted(folder, entry)
            self.live[rows_of(dead) + base] = False
        self.documents = int(self.live.sum())
        parts = [(int(base), segment.text) for base, segment in zip(self.bases, self.segments, strict=False)]
        self.text = TextIndex(parts, self.size, TextAnalysis(manifest.language), manifest.schema.weights())
        self.synonyms = parse_synonyms(read_synonyms(folder), self.text.analysis)
        self.passing: Remembered[Passing] = Remembered(_REMEMBERED_BYTES, Passing.memory)
        self.descriptions: Remembered[IndexDescription] = Remembered(_REMEMBERED_DESCRIPTIONS, lambda _: 1)
        self._postings: dict[str, FieldPostings | None] = {}
        self._derived: dict[object, Any] = {}

    @cached_property
    def text_hashes(self) -> Array:
        """Return the hash of every row's embedded text."""
        return np.concatenate([np.empty(0, "<u8"), *(segment.text_hashes for segment in self.segments)])

    @cached_property
    def ids(self) -> Sequence[str]:
        """Return the document id of every row."""
        return [identifier for segment in self.segments for identifier in segment.ids()]

    @cached_property
    def row_by_id(self) -> Mapping[str, int]:
        """Return the row of every living document, by id."""
        if self.documents == self.size:
            return {identifier: row for row, identifier in enumerate(self.ids)}
        return {identifier: row for row, identifier in enumerate(self.ids) if self.live[row]}

    def rows_of(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the row of every living document among `ids`, without a table of all of them."""
        wanted = {identifier.encode("utf-8", "surrogatepass") for identifier in ids}
        return {
            identifier.decode(): row
            for base, segment in zip(self.bases.tolist(), self.segments, strict=False)
            for identifier, own in segment.rows_of(wanted)
            if self.live[row := base + own]
        }

    @cached_property
    def id_postings(self) -> FieldPostings:
        """Return the postings of the ids as texts, for questions about their words."""
        rows = np.arange(self.size, dtype="<u4")
        codes = Numbering()
        coded = codes.of(self.ids).astype("<u4")
        return FieldPostings(
            FieldColumns({"text_rows": rows, "text_codes": coded, **dictionary(list(codes))})
        )

    @cached_property
    def field_names(self) -> frozenset[str]:
        """Return the fields that some document has, or had until its segment was last rewritten."""
        return frozenset(name for segment in self.segments for name in segment.fields)

    def columns(self, field: str) -> FieldColumns:
        """Return the columns of `field` over all rows; empty where no document has it."""
        postings = self.postings(field)
        return postings.columns if postings else FieldColumns({})

    def postings(self, field: str) -> FieldPostings | None:
        """Return who has which value of `field`, or None where no document has it."""
        if field == VISIBILITY:
            return self._visibility
        if field not in self._postings:
            parts = [
                (int(base), columns)
                for base, segment in zip(self.bases, self.segments, strict=False)
                if (columns := segment.columns(field)) is not None
            ]
            self._postings[field] = FieldPostings(join_columns(parts)) if parts else None
        return self._postings[field]

    @cached_property
    def says_who_may_see(self) -> bool:
        """Return whether a document keeps itself from somebody, or did until its segment was rewritten."""
        return any(map(is_visibility_field, self.field_names))

    @cached_property
    def _visibility(self) -> FieldPostings:
        below = (name for name in self.field_names if name != VISIBLE_TO and is_visibility_field(name))
        columns = visible_columns(self.columns(VISIBLE_TO), map(self.columns, below), self.size)
        return FieldPostings(columns)

    @cached_property
    def products(self) -> Array:
        """Return the number of the product that every row belongs to.

        A product is what shares a `parentProductId`; a document without one is a product of its own.
        """
        hashes = [np.empty(0, "<u8"), *(segment.product_hashes for segment in self.segments)]
        return np.unique(np.concatenate(hashes), return_inverse=True)[1]

    @cached_property
    def product_count(self) -> int:
        """Return how many products there are numbers for."""
        return int(self.products.max()) + 1 if self.size else 0

    @cached_property
    def has_variants(self) -> bool:
        """Return whether any product has more than one living document."""
        return int((self._rows_of_product > 1).sum()) > 0

    @cached_property
    def has_siblings(self) -> Array:
        """Return of every row whether its product has another living document."""
        several: Array = (self._rows_of_product > 1)[self.products]
        return several

    @cached_property
    def _rows_of_product(self) -> Array:
        return np.bincount(self.products[self.live], minlength=self.product_count)

    def derived(self, key: object, make: Callable[[], _T]) -> _T:
        """Return what `make` returned for `key` when it was first asked for in this generation.

        Two threads that ask at once may both make it; the results are equal.
        """
        if key not in self._derived:
            self._derived[key] = make()
        value: _T = self._derived[key]
        return value

    def document(self, row: int) -> dict[str, Any]:
        """Return the stored document of `row`."""
        document: dict[str, Any] = orjson.loads(self.body(row))
        return document

    def body(self, row: int) -> bytes:
        """Return the document of `row` as it is stored."""
        number = int(np.searchsorted(self.bases, row, "right")) - 1
        return self.segments[number].body(row - int(self.bases[number]))

    def bodies(self) -> Iterator[tuple[int, bytes]]:
        """Yield the row and stored form of every living document."""
        for base, segment in zip(self.bases, self.segments, strict=False):
            for row in range(segment.size):
                if self.live[base + row]:
                    yield int(base) + row, segment.body(row)


def open_snapshot(folder: Path, last: Snapshot | None = None) -> tuple[tuple[int, int], Snapshot]:
    """Return the newest generation and the identity of its manifest; `last` is one that was open before.

    A writer may publish the next generation while this one is being opened; then it is opened again.

    Raises:
        FileNotFoundError: There is no index in `folder`.
    """
    for _ in range(_OPEN_ATTEMPTS):
        before = identity(folder)
        try:
            snapshot = Snapshot(folder, read_manifest(folder), last)
        except FileNotFoundError:
            if before is not None and identity(folder) not in (before, None):
                continue
            raise
        if before is not None and identity(folder) == before:
            return before, snapshot
    raise FileNotFoundError(f"the index in {str(folder)!r} changed faster than it could be opened")


def read_deleted(folder: Path, entry: SegmentEntry) -> BitMap:
    """Return the dead rows of a segment, counted within it."""
    if entry.deleted is None:
        return BitMap()
    return BitMap.deserialize((folder / SEGMENTS / entry.deleted).read_bytes())
