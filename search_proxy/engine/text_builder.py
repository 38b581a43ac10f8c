"""Makes the searchable text of one segment, from all its documents.

A value is read once however many products have it: what is kept of each field is the number of its sequence
of terms, and the words themselves are only put in their places when everything has been read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from search_proxy.engine.columns import Array
from search_proxy.engine.distinct import distinct
from search_proxy.engine.flat_documents import BOOLEAN, FLOAT, INTEGER, LIST, TEXT, FlatDocuments, Flattening
from search_proxy.engine.languages import TEXT_END, TextAnalysis
from search_proxy.engine.numbering import Numbering
from search_proxy.engine.searchable_text import field_of, is_prose, listed_text, number_text, searched_texts
from search_proxy.engine.stable_order import stable_order
from search_proxy.engine.text_columns import (
    MAX_WORDS,
    TEXT_FIELDS,
    TextColumns,
    columns_of_words,
)

_PROSE = TEXT_FIELDS.index("description")
_NOT_SEARCHED = -1
_NUMBERS = (INTEGER, FLOAT)

_CHARACTERS_AT_ONCE = 50_000
"""Of text, read in one step: about a millisecond."""


class TextBuilder:
    """Collects the texts of documents, some at a time; rows ascend."""

    def __init__(
        self,
        flattening: Flattening,
        analysis: TextAnalysis,
        searched_in: Callable[[str], tuple[str, str] | None] = field_of,
    ) -> None:
        self._flattening = flattening
        self._searched_in = searched_in
        self._sequences = _Sequences(analysis)
        self._fields: list[int] = []
        self._named: list[int] = []
        # A number is a key of its own kind: 1 and 1.0 are equal, and not written in the same way.
        self._numberings: Mapping[int, Numbering] = {
            TEXT: flattening.texts,
            LIST: Numbering(),
            INTEGER: Numbering(),
            FLOAT: Numbering(),
        }
        self._sequence_of = {kind: np.zeros(0, np.int64) for kind in self._numberings}
        self._is_long = np.zeros(0, bool)
        self._collected: list[tuple[Array, ...]] = []

    def add(self, flat: FlatDocuments) -> None:
        """Add the fields of some documents."""
        self._place(self._flattening.names.keys_by_number[len(self._fields) :])
        fields = np.array(self._fields, np.int8)[flat.fields]
        named = np.array(self._named, np.int64)[flat.fields]
        sequences = np.zeros(len(fields), np.int64)
        searched = fields != _NOT_SEARCHED
        for kind in (LIST, INTEGER, FLOAT):
            at, values = flat.chosen(kind, searched)
            values = list(map(listed_text, values)) if kind == LIST else values
            sequences[at] = self._sequences_of(kind, self._numberings[kind].of(values))
        is_text = flat.kinds == TEXT
        at, numbers = np.flatnonzero(is_text & searched), flat.texts[searched[is_text]]
        sequences[at] = self._sequences_of(TEXT, numbers)
        fields[at[self._is_long[numbers] & (named[at] > 0)]] = _PROSE
        # Of what is true, the field's name is all that there is to say.
        at, values = flat.chosen(BOOLEAN, searched)
        true = at[np.array(values, bool)]
        sequences[true], named[true] = named[true], 0
        filled = sequences > 0
        self._collected.append(tuple(one[filled] for one in (flat.rows, fields, named, sequences)))

    def build(self, size: int) -> TextColumns:
        """Return the columns of `size` rows."""
        nothing = np.empty((4, 0), np.int64)
        rows, fields, named, sequences = map(np.concatenate, zip(nothing, *self._collected, strict=True))
        filled = self._sequences.lengths()[sequences] > 0
        owners = (rows * len(TEXT_FIELDS) + fields)[filled]
        parts = np.stack([named[filled], sequences[filled]], axis=1)
        order = stable_order(owners)
        owners = owners[order]
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        words, counts = self._sequences.joined(parts[order])
        runs = np.empty((len(starts), 3), np.int64)
        runs[:, 0], runs[:, 1] = np.divmod(owners[starts], len(TEXT_FIELDS))
        runs[:, 2] = np.add.reduceat(counts, starts) if len(starts) else 0
        if np.any(runs[:, 2] > MAX_WORDS):
            words = words[_places(runs[:, 2]) < MAX_WORDS]
            np.minimum(runs[:, 2], MAX_WORDS, out=runs[:, 2])
        lengths = np.zeros((len(TEXT_FIELDS), size), "<u2")
        lengths[runs[:, 1], runs[:, 0]] = runs[:, 2]
        return columns_of_words(list(self._sequences.terms), words, runs, lengths)

    def _place(self, names: Sequence[str]) -> None:
        """Find the text field of each document's field, and the terms of its name, which every value gets."""
        if names:
            found = [self._searched_in(name) or ("", "") for name in names]
            self._fields += [TEXT_FIELDS.index(field) if field else _NOT_SEARCHED for field, _ in found]
            numbers = self._sequences.add([words for _, words in found])
            self._named += [number if words else 0 for number, (_, words) in zip(numbers, found, strict=True)]

    def _sequences_of(self, kind: int, numbers: Array) -> Array:
        """Return the sequence of each of the numbered values, of which new ones are read."""
        keys = self._numberings[kind].keys_by_number
        known = self._sequence_of[kind] = _grown(self._sequence_of[kind], len(keys))
        new = distinct(numbers[known[numbers] == 0])
        if len(new):
            values = [keys[number] for number in new.tolist()]
            texts = list(map(number_text, values)) if kind in _NUMBERS else searched_texts(values)
            known[new] = self._sequences.add(texts)
            if kind == TEXT:
                self._is_long = _grown(self._is_long, len(keys))
                self._is_long[new] = list(map(is_prose, values))
        found: Array = known[numbers]
        return found


class _Sequences:
    """Sequences of terms by number; sequence 0 is empty, and term 0 stands for words that are none."""

    def __init__(self, analysis: TextAnalysis) -> None:
        self._analysis = analysis
        self.terms: dict[str, int] = {"": 0}
        self._words = Numbering()
        self._end = self._words[TEXT_END]
        self._term_of_word: list[int] = [-1]
        self._read: list[Array] = []
        self._size = 0
        self._count = 1
        self._starts, self._lengths = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]

    def add(self, texts: Sequence[str]) -> range:
        """Read texts and return the numbers of their sequences."""
        starts, lengths = np.empty(len(texts), np.int64), np.empty(len(texts), np.int64)
        is_ascii = np.fromiter(map(str.isascii, texts), bool, len(texts))
        for places in (np.flatnonzero(is_ascii), np.flatnonzero(~is_ascii)):
            for part in _parts(places.tolist(), texts):
                words = self._words.of(self._analysis.words_of_each([texts[place] for place in part]))
                lengths[part] = own = np.diff(np.flatnonzero(words == self._end), prepend=-1) - 1
                starts[part] = self._size + np.cumsum(own) - own
                self._read.append(words[words != self._end].astype(np.int32))
                self._size += len(self._read[-1])
        for term in self._analysis.terms(self._words.keys_by_number[len(self._term_of_word) :]):
            self._term_of_word.append(self.terms.setdefault(term, len(self.terms)))
        self._starts.append(starts)
        self._lengths.append(lengths)
        self._count += len(texts)
        return range(self._count - len(texts), self._count)

    def lengths(self) -> Array:
        """Return how many words each sequence has."""
        return np.concatenate(self._lengths)

    def joined(self, parts: Array) -> tuple[Array, Array]:
        """Return the terms of all sequences in `parts`, and how many those of each of its rows are."""
        sizes = self.lengths()[parts]
        words = np.concatenate([np.empty(0, np.int32), *self._read])
        terms = np.array(self._term_of_word, np.int32)[words]
        offsets = _places(sizes.reshape(-1))
        offsets += np.repeat(np.concatenate(self._starts)[parts.reshape(-1)], sizes.reshape(-1))
        return terms[offsets], sizes.sum(axis=1)


def _parts(places: Sequence[int], texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield the places of so many texts as are read in one step."""
    part: list[int] = []
    characters = 0
    for place in places:
        part.append(place)
        characters += len(texts[place])
        if characters >= _CHARACTERS_AT_ONCE:
            yield part
            part, characters = [], 0
    if part:
        yield part


def _grown(array: Array, size: int) -> Array:
    """Return the array with room for `size` values; new ones are 0."""
    if len(array) >= size:
        return array
    return np.concatenate([array, np.zeros(2 * size - len(array), array.dtype)])


def _places(sizes: Array) -> Array:
    """Return the places in runs of these sizes, each counted from 0."""
    places: Array = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return places
