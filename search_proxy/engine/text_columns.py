"""The searchable text of one segment as flat arrays: sorted terms, and where in which product each stands.

A posting is a term in one text field of one row, with how often and at which places. Postings lie in the
order of term, row and field, so one term's are one slice. Nothing here is a score: those depend on the whole
generation.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from search_proxy.engine.columns import Array
from search_proxy.engine.languages import TextAnalysis
from search_proxy.engine.lexicon import Lexicon, packed_terms
from search_proxy.engine.searchable_text import BOOSTS, field_of, is_prose, value_text

TEXT_FIELDS = tuple(BOOSTS)
MAX_WORDS = 65_535
"""Per field of a product; what stands behind is not searched."""

_LONGEST_REMEMBERED = 120
_MAX_REMEMBERED = 100_000
"""Values of products repeat; of titles and descriptions only the words do."""

_PROSE = TEXT_FIELDS.index("description")
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


@dataclass(frozen=True, slots=True)
class TextColumns:
    """The arrays of one segment's text, by the names of `TEXT_TYPES`."""

    arrays: Mapping[str, Array]

    @property
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


class TextBuilder:
    """Collects the texts of documents row by row."""

    def __init__(
        self, analysis: TextAnalysis, searched_in: Callable[[str], tuple[str, str] | None] = field_of
    ) -> None:
        self._analysis = analysis
        self._searched_in = searched_in
        self._terms: dict[str, int] = {"": 0}
        self._numbers = _NumberOfWord(analysis, self._terms)
        self._occurrences = array("i")
        self._runs: list[tuple[int, int, int]] = []
        self._fields: dict[str, tuple[int, array[int]] | None] = {}
        self._texts: dict[str, array[int]] = {}
        self._figures: dict[int | float, array[int]] = {}

    def add(self, row: int, document: Mapping[str, Any]) -> None:
        """Add one document, as `orjson.loads` gives it."""
        parts: list[list[array[int]]] = [[] for _ in TEXT_FIELDS]
        for name, value in document.items():
            if name not in self._fields:
                self._fields[name] = self._field(name)
            known = self._fields[name]
            if known is None or value is None or value is False:
                continue
            field, named = known
            numbers = named if value is True else self._numbers_of(value)
            if not numbers:
                continue
            written = parts[_PROSE if named and type(value) is str and is_prose(value) else field]
            if named and value is not True:
                written.append(named)
            written.append(numbers)
        for field, written in enumerate(parts):
            length = sum(map(len, written))
            if length:
                for numbers in written:
                    self._occurrences.extend(numbers)
                if length > MAX_WORDS:
                    del self._occurrences[MAX_WORDS - length :]
                self._runs.append((row, field, min(length, MAX_WORDS)))

    def _field(self, name: str) -> tuple[int, array[int]] | None:
        """Return the text field of a document's field, and the terms of its name, which every value gets."""
        found = self._searched_in(name)
        return None if found is None else (TEXT_FIELDS.index(found[0]), self._terms_of(found[1]))

    def _numbers_of(self, value: Any) -> array[int]:
        """Return the numbers of a value's terms, 0 for words that are none."""
        kind = type(value)
        if kind is str and len(value) <= _LONGEST_REMEMBERED:
            return self._remembered(self._texts, value)
        if kind is int or kind is float:
            return self._remembered(self._figures, value)
        return self._terms_of(value_text(value))

    def _remembered(self, read: dict[Any, array[int]], value: Any) -> array[int]:
        numbers = read.get(value)
        if numbers is None:
            if len(read) > _MAX_REMEMBERED:
                read.clear()
            numbers = read[value] = self._terms_of(value_text(value))
        return numbers

    def _terms_of(self, text: str) -> array[int]:
        return array("i", map(self._numbers.__getitem__, self._analysis.words(text)))

    def build(self, size: int) -> TextColumns:
        """Return the arrays of `size` rows."""
        runs = np.array(self._runs, np.int64).reshape(-1, 3)
        lengths = np.zeros((len(TEXT_FIELDS), size), "<u2")
        lengths[runs[:, 1], runs[:, 0]] = runs[:, 2]
        occurrences = np.frombuffer(self._occurrences, np.int32)
        run_of = np.repeat(np.arange(len(runs)), runs[:, 2])
        places = np.arange(len(occurrences)) - np.repeat(np.cumsum(runs[:, 2]) - runs[:, 2], runs[:, 2])
        written = list(self._terms)
        order = np.array(sorted(range(len(written)), key=written.__getitem__), np.int64)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        # The empty term, which comes first in the order, stands for words that are none.
        by_term = stable_order(rank[occurrences])
        by_term = by_term[np.count_nonzero(occurrences == 0) :]
        ranks = rank[occurrences[by_term]] - 1
        rows, fields = runs[run_of[by_term], 0], runs[run_of[by_term], 1]
        starts = np.flatnonzero(np.concatenate([[True], _differ(ranks, rows, fields)])[: len(ranks)])
        return _columns(
            terms=[written[at] for at in order[1:].tolist()],
            numbers=ranks[starts],
            rows=rows[starts],
            fields=fields[starts],
            counts=np.diff(np.append(starts, len(ranks))),
            positions=places[by_term],
            lengths=lengths,
        )


def merge_texts(parts: Sequence[tuple[TextColumns, Array]]) -> TextColumns:
    """Return the texts of following segments as one; of each, the rows where its mask is true."""
    vocabularies = [part.lexicon.terms() for part, _ in parts]
    terms = sorted(set().union(*vocabularies))
    number_of = {term: number for number, term in enumerate(terms)}
    base = 0
    chosen: list[tuple[Array, ...]] = []
    for (part, kept), vocabulary in zip(parts, vocabularies, strict=True):
        arrays = part.arrays
        merged_number = np.array([number_of[term] for term in vocabulary], np.uint32)
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
    del chosen, number_of, vocabularies
    order = stable_order(numbers)
    used = np.bincount(numbers, minlength=len(terms)) > 0
    renumbered = (np.cumsum(used) - 1).astype(np.uint32)
    return _columns(
        terms=list(compress(terms, used.tolist())),
        numbers=renumbered[numbers[order]],
        rows=rows[order],
        fields=fields[order],
        counts=counts[order],
        positions=_moved(positions, counts, order),
        lengths=np.concatenate([part.lengths[:, kept] for part, kept in parts], axis=1),
    )


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


def stable_order(keys: Array) -> Array:
    """Return the positions that sort `keys`, equal ones as they stand; keys are below 2**28."""
    if len(keys) >= 1 << 36:
        raise ValueError(f"a segment can have {1 << 36} words, not {len(keys)}")
    marked = keys.astype(np.uint64)
    marked <<= np.uint64(36)
    marked |= np.arange(len(keys), dtype=np.uint64)
    # Sorting whole numbers is several times as fast as sorting positions by them.
    marked.sort()
    marked &= np.uint64((1 << 36) - 1)
    return marked.view(np.int64)


def _differ(*columns: Array) -> Array:
    different = np.zeros(max(0, len(columns[0]) - 1), bool)
    for column in columns:
        different |= column[1:] != column[:-1]
    return different


def _columns(
    *,
    terms: list[str],
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
        "term_frequencies": np.stack(
            [np.bincount(numbers[fields == field], minlength=len(terms)) for field in range(width)], axis=1
        ).reshape(-1),
        "posting_starts": posting_starts,
        "posting_rows": rows,
        "posting_fields": fields,
        "posting_counts": counts,
        "position_starts": places_before[posting_starts],
        "positions": positions,
        "text_lengths": lengths.reshape(-1),
    }
    return TextColumns({name: array.astype(TEXT_TYPES[name], copy=False) for name, array in arrays.items()})


class _NumberOfWord(dict[str, int]):
    """The number of each word's term, given when the word first comes."""

    def __init__(self, analysis: TextAnalysis, terms: dict[str, int]) -> None:
        super().__init__()
        self._analysis = analysis
        self._terms = terms

    def __missing__(self, word: str) -> int:
        number = self._terms.setdefault(self._analysis.term(word), len(self._terms))
        self[word] = number
        return number
