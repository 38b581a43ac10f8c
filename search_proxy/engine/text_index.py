"""The text of one generation: which products have a term, where, and how much that says.

A term's score in a product is BM25 in each text field, the best field in full and the others by a share, and
a little more where the title has it. That does not depend on the query, so it is computed once per term and
generation and kept while there is room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np

from search_proxy.engine.columns import Array
from search_proxy.engine.distinct import distinct
from search_proxy.engine.languages import TextAnalysis
from search_proxy.engine.lexicon import Lexicon
from search_proxy.engine.remembered import Remembered
from search_proxy.engine.searchable_text import BOOSTS
from search_proxy.engine.text_columns import TEXT_FIELDS, TextColumns
from search_proxy.engine.vocabulary import Vocabulary

SATURATION = 1.2
LENGTH_SHARE = 0.75
"""The k1 and b of BM25, as everywhere."""

DISMAX_TIE = 0.1
"""What the fields beside the best one add. Source: docs/engine.md."""

IN_TITLE_SCORE = 0.3
"""What a term in the title is worth beside all of this, however rare it is elsewhere: a word that few
descriptions have and many titles do would rank the former first. Source: docs/engine.md."""

_TITLE = TEXT_FIELDS.index("title")
_REMEMBERED_BYTES = 64_000_000
"""Of scored terms, per open index: the commonest few hundred words of a million products."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Ascending rows and the score of each."""

    rows: Array
    scores: Array


class TextIndex:
    """The text of an index; rows are counted through all segments, dead ones among them."""

    def __init__(
        self,
        parts: Sequence[tuple[int, TextColumns]],
        size: int,
        analysis: TextAnalysis,
        weights: Array | None = None,
    ) -> None:
        self.analysis = analysis
        self.weights = np.array(list(BOOSTS.values())) if weights is None else weights
        self.size = size
        self._parts = [(base, part.lexicon, part) for base, part in parts]
        self._segments_of = lru_cache(maxsize=20_000)(partial(_segments_having, self._parts))
        self.vocabulary = Vocabulary([lexicon for _, lexicon, _ in self._parts])
        self._scored: Remembered[Scored] = Remembered(
            _REMEMBERED_BYTES, lambda one: one.rows.nbytes + one.scores.nbytes
        )

    def frequency(self, term: str) -> int:
        """Return in how many products `term` occurs in the field that has it most."""
        return self.vocabulary.frequency(term)

    def scored(self, term: str, field: str | None = None) -> Scored:
        """Return every row that has `term`, and what it says about the row; in one text field where named."""
        return self._scored.get((term, field), lambda: self._score(term, field))

    def having_all(self, terms: Sequence[str], field: str | None = None) -> Array:
        """Return the rows that have every one of `terms`, in any text field or in that one."""
        seen = np.zeros(self.size, np.uint8)
        for term in dict.fromkeys(terms):
            seen[self.scored(term, field).rows] += 1
        return np.flatnonzero(seen == len(set(terms))) if terms else np.empty(0, np.int64)

    def phrase_starts(self, terms: Sequence[str], slop: int, among: Array) -> tuple[Array, Array]:
        """Return where `terms` stand one behind the other, as the row and the text field of each occurrence.

        Only the rows `among` are looked at. `slop` is how many other words may stand between them: 0 or 1.
        """
        gaps = [0] + list(range(1, len(terms)) if slop else [])
        found: list[Array] = []
        for gap in gaps:
            starts: Array | None = None
            for at, term in enumerate(terms):
                shift = at + (1 if gap and at >= gap else 0)
                places = self._places(term, among) - shift
                starts = places if starts is None else starts[np.isin(starts, places, assume_unique=True)]
            if starts is not None:
                found.append(starts)
        owners = distinct(*found) >> 16 if found else np.empty(0, np.int64)
        return owners >> 3, owners & 7

    def weight(self, term: str) -> Array:
        """Return how much one field's occurrences of `term` can say, field by field: its rarity there."""
        documents = np.zeros(len(TEXT_FIELDS))
        for _, lexicon, _, number in self._segments_of(term):
            documents += lexicon.frequencies[number]
        return np.log1p((self.size - documents + 0.5) / (documents + 0.5))

    @cached_property
    def lengthiness(self) -> Array:
        """Return what the length of each field (first index) of each row takes off its scores."""
        lengths = np.zeros((len(TEXT_FIELDS), self.size), np.float32)
        for base, _, part in self._parts:
            lengths[:, base : base + part.lengths.shape[1]] = part.lengths
        average = lengths.mean(axis=1, keepdims=True, dtype=np.float64) if self.size else lengths
        lengths *= (SATURATION * LENGTH_SHARE / np.maximum(average, 1e-9)).astype(np.float32)
        lengths += np.float32(SATURATION * (1 - LENGTH_SHARE))
        return lengths

    def _score(self, term: str, field: str | None) -> Scored:
        rows, impacts, fields = self._impacts(term)
        if field is None:
            found = _best_field(rows, impacts)
            titled = np.searchsorted(found.rows, rows[fields == _TITLE])
            found.scores[titled] += np.float32(IN_TITLE_SCORE * self.weights[_TITLE])
            return found
        inside = fields == TEXT_FIELDS.index(field)
        return Scored(rows[inside], impacts[inside])

    def _impacts(self, term: str) -> tuple[Array, Array, Array]:
        """Return the row, the BM25 score and the field of every posting of `term`, by row and field."""
        rows, fields, counts = [], [], []
        for base, _, part, number in self._segments_of(term):
            inside = slice(*part.arrays["posting_starts"][number : number + 2].tolist())
            rows.append(part.arrays["posting_rows"][inside].astype(np.int64) + base)
            fields.append(part.arrays["posting_fields"][inside])
            counts.append(part.arrays["posting_counts"][inside])
        if not rows:
            return np.empty(0, np.int64), np.empty(0, np.float32), np.empty(0, np.uint8)
        row, field = np.concatenate(rows), np.concatenate(fields)
        count = np.concatenate(counts).astype(np.float32)
        weight = self.weight(term) * (SATURATION + 1) * self.weights
        impact = weight.astype(np.float32)[field] * count / (count + self.lengthiness[field, row])
        return row, impact, field

    def _places(self, term: str, among: Array) -> Array:
        """Return every place of `term` in the rows `among`, ascending: row, then field, then position."""
        chosen = np.zeros(self.size, bool)
        chosen[among] = True
        found = [np.empty(0, np.int64)]
        for base, _, part, number in self._segments_of(term):
            arrays = part.arrays
            inside = slice(*arrays["posting_starts"][number : number + 2].tolist())
            rows = arrays["posting_rows"][inside].astype(np.int64) + base
            owners = rows << 3 | arrays["posting_fields"][inside]
            counts = arrays["posting_counts"][inside].astype(np.int64)
            first = int(arrays["position_starts"][number])
            positions = arrays["positions"][first : first + int(counts.sum())]
            kept = np.repeat(chosen[rows], counts)
            found.append(np.repeat(owners, counts)[kept] << 16 | positions[kept])
        return np.concatenate(found)


def _segments_having(
    parts: Sequence[tuple[int, Lexicon, TextColumns]], term: str
) -> list[tuple[int, Lexicon, TextColumns, int]]:
    """Return the segments that have `term`, and its number there."""
    numbers = ((base, lexicon, part, lexicon.find(term)) for base, lexicon, part in parts)
    return [(base, lexicon, part, number) for base, lexicon, part, number in numbers if number is not None]


def _best_field(rows: Array, impacts: Array) -> Scored:
    """Return one score per row: its best field's, and a share of the others'."""
    if not len(rows):
        return Scored(rows, impacts)
    starts = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
    best = np.maximum.reduceat(impacts, starts)
    whole = np.add.reduceat(impacts, starts)
    return Scored(rows[starts], best + np.float32(DISMAX_TIE) * (whole - best))
