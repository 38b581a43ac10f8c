"""The searchable text of one segment as flat arrays: sorted terms, and where in which product each stands.

A posting is a term in one text field of one row, with how often and at which places. Postings lie in the
order of term, row and field, so one term's are one slice. Nothing here is a score: those depend on the whole
generation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from search_proxy.engine.columns import Array
from search_proxy.engine.lexicon import Lexicon, packed_terms
from search_proxy.engine.searchable_text import BOOSTS
from search_proxy.engine.stable_order import stable_order

TEXT_FIELDS = tuple(BOOSTS)
MAX_WORDS = 65_535
"""Per field of a product; what stands behind is not searched."""

_FIELD_BITS = 3
_POSTINGS_AT_ONCE = 4_000_000

TEXT_TYPES: Mapping[str, str] = {
    "term_offsets": "<u8",
    "term_blob": "|u1",
    "term_frequencies": "<u4",
    "posting_starts": "<u8",
    "posting_rows": "<u4",
    "posting_fields": "|u1",
    "posting_counts": "<u2",
    "position_starts": "<u8",
    "positions": "<u2",
    "text_lengths": "<u2",
}
"""Every array and its type on disk; `*_starts` are by term, `text_lengths` by field and row."""


@dataclass(frozen=True)
class TextColumns:
    """The arrays of one segment's text, by the names of `TEXT_TYPES`."""

    arrays: Mapping[str, Array]

    @cached_property
    def lexicon(self) -> Lexicon:
        """Return the terms."""
        frequencies = self.arrays["term_frequencies"].reshape(-1, self._width)
        missing = len(TEXT_FIELDS) - self._width
        padded = np.pad(frequencies, ((0, 0), (0, missing))) if missing else frequencies
        return Lexicon(self.arrays["term_offsets"], self.arrays["term_blob"], padded)

    @property
    def lengths(self) -> Array:
        """Return how many words each text field (first index) of each row has."""
        lengths = self.arrays["text_lengths"].reshape(self._width, -1)
        missing = len(TEXT_FIELDS) - self._width
        return np.pad(lengths, ((0, missing), (0, 0))) if missing else lengths

    @property
    def _width(self) -> int:
        """How many text fields there were when the segment was written."""
        terms = max(0, len(self.arrays["term_offsets"]) - 1)
        return len(self.arrays["term_frequencies"]) // terms if terms else len(TEXT_FIELDS)


def columns_of_words(terms: Sequence[str], words: Array, runs: Array, lengths: Array) -> TextColumns:
    """Return the columns of a segment's words.

    `words` are places in `terms`, of which 0 is none, run after run; `runs` has the row, the text field and
    the number of words of each run. `lengths` is the number of words by text field and row.
    """
    written = np.array([term.encode() for term in terms], np.bytes_)
    alphabetical = np.argsort(written, kind="stable")
    rank = np.empty(len(terms), np.uint32)
    rank[alphabetical] = np.arange(len(terms), dtype=np.uint32)
    ends = np.cumsum(runs[:, 2])
    owners = np.repeat(runs[:, 0] << _FIELD_BITS | runs[:, 1], runs[:, 2])
    places = (np.arange(len(words)) - np.repeat(ends - runs[:, 2], runs[:, 2])).astype(np.uint16)
    ranks = rank[words]
    # The empty term, which comes first in the order, stands for words that are none.
    order = stable_order(ranks)[np.count_nonzero(ranks == 0) :]
    owners, ranks = owners[order], ranks[order]
    starts = np.flatnonzero(np.concatenate([[True], _differ(ranks, owners)])[: len(order)])
    return _columns(
        terms=written[alphabetical[1:]].tolist(),
        numbers=ranks[starts].astype(np.int64) - 1,
        rows=owners[starts] >> _FIELD_BITS,
        fields=owners[starts] & ((1 << _FIELD_BITS) - 1),
        counts=np.diff(np.append(starts, len(order))),
        positions=places[order],
        lengths=lengths,
    )


def merge_texts(parts: Sequence[tuple[TextColumns, Array]]) -> TextColumns:
    """Return the texts of following segments as one; of each, the rows where its mask is true."""
    terms, merged_numbers = _merged_terms([part.lexicon for part, _ in parts])
    base = 0
    chosen: list[tuple[Array, ...]] = []
    for (part, kept), merged_number in zip(parts, merged_numbers, strict=True):
        arrays = part.arrays
        starts = arrays["posting_starts"].astype(np.int64)
        living = kept[arrays["posting_rows"]]
        renumbered = (base + np.cumsum(kept) - 1).astype(np.uint32)
        chosen.append(
            (
                np.repeat(merged_number, starts[1:] - starts[:-1])[living],
                renumbered[arrays["posting_rows"][living]],
                arrays["posting_fields"][living],
                arrays["posting_counts"][living],
                arrays["positions"][np.repeat(living, arrays["posting_counts"])],
            )
        )
        base += int(np.count_nonzero(kept))
    numbers, rows, fields, counts, positions = (
        np.concatenate(column) for column in zip(*chosen, strict=True)
    )
    del chosen
    order = stable_order(numbers)
    used = np.bincount(numbers, minlength=len(terms)) > 0
    renumbered = (np.cumsum(used) - 1).astype(np.uint32)
    return _columns(
        terms=terms[used].tolist(),
        numbers=renumbered[numbers[order]],
        rows=rows[order],
        fields=fields[order],
        counts=counts[order],
        positions=_moved(positions, counts, order),
        lengths=np.concatenate([part.lengths[:, kept] for part, kept in parts], axis=1),
    )


def _merged_terms(lexicons: Sequence[Lexicon]) -> tuple[Array, list[Array]]:
    """Return all terms, sorted, and of each lexicon the places of its own terms among them."""
    # As an array they are sorted without the interpreter's lock; none has a NUL byte, which would be lost.
    vocabularies = [np.array(lexicon.encoded(), np.bytes_) for lexicon in lexicons]
    every = np.concatenate(vocabularies)
    order = np.argsort(every, kind="stable")
    ordered = every[order]
    is_first = np.ones(len(every), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    numbers = np.empty(len(every), np.uint32)
    numbers[order] = np.cumsum(is_first) - 1
    ends = np.cumsum(list(map(len, vocabularies)))
    return ordered[is_first], np.split(numbers, ends[:-1])


def _moved(positions: Array, counts: Array, order: Array) -> Array:
    """Return the runs of `positions`, `counts` long, in another order; part by part, to stay small."""
    starts = np.cumsum(counts, dtype=np.int64) - counts
    moved = []
    for at in range(0, len(order), _POSTINGS_AT_ONCE):
        part = order[at : at + _POSTINGS_AT_ONCE]
        sizes = counts[part].astype(np.int64)
        offsets = np.repeat(starts[part] - (np.cumsum(sizes) - sizes), sizes)
        moved.append(positions[offsets + np.arange(len(offsets))])
    return np.concatenate([positions[:0], *moved])


def _differ(*columns: Array) -> Array:
    different = np.zeros(max(0, len(columns[0]) - 1), bool)
    for column in columns:
        different |= column[1:] != column[:-1]
    return different


def _columns(
    *,
    terms: Sequence[bytes],
    numbers: Array,
    rows: Array,
    fields: Array,
    counts: Array,
    positions: Array,
    lengths: Array,
) -> TextColumns:
    width = len(TEXT_FIELDS)
    offsets, blob = packed_terms(terms)
    posting_starts = np.searchsorted(numbers, np.arange(len(terms) + 1, dtype=numbers.dtype))
    places_before = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=places_before[1:])
    arrays = {
        "term_offsets": offsets,
        "term_blob": blob,
        "term_frequencies": np.bincount(
            numbers.astype(np.int64) * width + fields, minlength=len(terms) * width
        ),
        "posting_starts": posting_starts,
        "posting_rows": rows,
        "posting_fields": fields,
        "posting_counts": counts,
        "position_starts": places_before[posting_starts],
        "positions": positions,
        "text_lengths": lengths.reshape(-1),
    }
    return TextColumns({name: array.astype(TEXT_TYPES[name], copy=False) for name, array in arrays.items()})
