"""The text lane's numbers are those of its formula, whatever segments and merges lie beneath."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_proxy.engine.catalog_writer import add_documents, delete_documents
from search_proxy.engine.lexicon import Lexicon
from search_proxy.engine.query_reading import read_query
from search_proxy.engine.remembered import Remembered
from search_proxy.engine.searchable_text import BOOSTS
from search_proxy.engine.segment import Segment
from search_proxy.engine.snapshot import Snapshot, open_snapshot
from search_proxy.engine.text_columns import merge_texts
from search_proxy.engine.text_query import score_reading

_WORDS = ["tent", "red", "lamp", "stove", "gas"]
_TEXTS = st.lists(st.sampled_from(_WORDS), max_size=5).map(" ".join)
_DOCUMENTS = st.fixed_dictionaries(
    {}, optional={"productTitle": _TEXTS, "description": _TEXTS, "brand": _TEXTS, "category": _TEXTS}
)
_BATCHES = st.lists(st.lists(_DOCUMENTS, min_size=1, max_size=4), min_size=1, max_size=4)
_FIELDS = {"productTitle": "title", "description": "description", "brand": "brand", "category": "category"}


def _bm25(documents: list[dict[str, Any]], at: int, field: str, term: str) -> float:
    """Return the textbook score of a term in a field of one of all documents."""
    words = [str(document.get(field, "")).split() for document in documents]
    frequency = sum(term in one for one in words)
    average = sum(map(len, words)) / len(words)
    count = Counter(words[at])[term]
    if not count:
        return 0.0
    rarity = math.log(1 + (len(words) - frequency + 0.5) / (frequency + 0.5))
    return rarity * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * len(words[at]) / average))


def _expected(documents: list[dict[str, Any]], at: int, term: str) -> float:
    by_field = [BOOSTS[text] * _bm25(documents, at, field, term) for field, text in _FIELDS.items()]
    in_title = 0.3 if term in str(documents[at].get("productTitle", "")).split() else 0.0
    return max(by_field) + 0.1 * (sum(by_field) - max(by_field)) + in_title


@settings(max_examples=60, deadline=None)
@given(batches=_BATCHES, term=st.sampled_from(_WORDS))
def test_a_terms_score_is_bm25_with_the_best_field_in_full(
    batches: list[list[dict[str, Any]]], term: str
) -> None:
    """One segment per batch counts as one index."""
    documents = [document for batch in batches for document in batch]
    with TemporaryDirectory() as name:
        folder = Path(name) / "index"
        first = 0
        for batch in batches:
            add_documents(folder, [{"_id": str(first + at), **one} for at, one in enumerate(batch)])
            first += len(batch)
        _, snapshot = open_snapshot(folder)
        scored = snapshot.text.scored(snapshot.text.analysis.term(term))
    found = dict(zip(scored.rows.tolist(), scored.scores.tolist(), strict=True))
    expected = {row: score for row in range(len(documents)) if (score := _expected(documents, row, term)) > 0}
    assert found == pytest.approx(expected, rel=1e-4)


@settings(max_examples=40, deadline=None)
@given(batches=_BATCHES, gone=st.sets(st.integers(0, 15)))
def test_merged_texts_are_those_of_one_segment(batches: list[list[dict[str, Any]]], gone: set[int]) -> None:
    """Without the rows that were deleted, word by word and place by place."""
    documents = [document for batch in batches for document in batch]
    living = [{"_id": str(at), **one} for at, one in enumerate(documents) if at not in gone]
    with TemporaryDirectory() as name:
        parts, whole = Path(name) / "parts", Path(name) / "whole"
        first = 0
        for batch in batches:
            add_documents(parts, [{"_id": str(first + at), **one} for at, one in enumerate(batch)])
            first += len(batch)
        snapshot = open_snapshot(parts)[1]
        kept = [
            np.array([int(base) + row not in gone for row in range(segment.size)])
            for base, segment in zip(snapshot.bases, snapshot.segments, strict=False)
        ]
        merged = merge_texts([(s.text, mask) for s, mask in zip(snapshot.segments, kept, strict=True)])
        add_documents(whole, living)
        if not living:
            assert not len(merged.lexicon)
            return
        expected = _only_segment(whole).text
        for array in expected.arrays:
            assert merged.arrays[array].tolist() == expected.arrays[array].tolist(), array


def test_a_deleted_product_is_not_found_though_its_words_are_still_there(tmp_path: Path) -> None:
    """Until its segment is written anew, its row is dead."""
    add_documents(
        tmp_path / "index", [{"_id": "a", "productTitle": "tent"}, {"_id": "b", "productTitle": "tent"}]
    )
    delete_documents(tmp_path / "index", ["a"])
    _, snapshot = open_snapshot(tmp_path / "index")
    scores = score_reading(snapshot.text, read_query(snapshot.text, "tent"))
    assert snapshot.live.tolist() == [False, True]
    assert (scores > 0).tolist() == [True, True]


@pytest.mark.parametrize(
    ("slop", "starts"),
    [(0, {"a": 1, "b": 0, "c": 0, "d": 0}), (1, {"a": 1, "b": 1, "c": 0, "d": 0})],
)
def test_a_phrase_is_words_that_follow_each_other(tmp_path: Path, slop: int, starts: dict[str, int]) -> None:
    """With one other word between them where that is allowed; never across fields or backwards."""
    add_documents(
        tmp_path / "index",
        [
            {"_id": "a", "productTitle": "big red tent"},
            {"_id": "b", "productTitle": "red dome tent"},
            {"_id": "c", "productTitle": "red", "description": "tent"},
            {"_id": "d", "productTitle": "tent red"},
        ],
    )
    _, snapshot = open_snapshot(tmp_path / "index")
    rows, _ = snapshot.text.phrase_starts(["red", "tent"], slop, np.arange(4))
    assert {name: rows.tolist().count(row) for name, row in snapshot.row_by_id.items()} == starts


@given(st.dictionaries(st.text(min_size=1, max_size=6), st.integers(1, 9), max_size=12), st.text(max_size=4))
def test_a_lexicon_finds_what_it_has(frequencies: dict[str, int], prefix: str) -> None:
    """By bisection over bytes, as the sorted list of its terms would."""
    frequencies = {term: count for term, count in frequencies.items() if term.isprintable()}
    lexicon = Lexicon.of(frequencies)
    assert {term: lexicon.find(term) for term in frequencies} == {
        term: at for at, term in enumerate(lexicon.terms())
    }
    assert lexicon.find("\u0000no such term") is None
    if prefix.isprintable():
        found = [lexicon[number] for number in lexicon.starting_with(prefix)]
        assert found == [term for term in lexicon.terms() if term.startswith(prefix)]
    assert lexicon.lengths.tolist() == list(map(len, lexicon.terms()))


def test_what_is_remembered_stays_within_its_bytes() -> None:
    """The least recently used goes first; what is larger than all is not kept."""
    made: list[str] = []

    def make(value: str) -> str:
        made.append(value)
        return value

    store: Remembered[str] = Remembered(6, len)
    for key in ("aaa", "bbb", "aaa", "cc", "aaa", "bbb", "ddddddd", "ddddddd"):
        assert store.get(key, lambda key=key: make(key)) == key  # type: ignore[misc]
    assert made == ["aaa", "bbb", "cc", "bbb", "ddddddd", "ddddddd"]


def _only_segment(folder: Path) -> Segment:
    snapshot: Snapshot = open_snapshot(folder)[1]
    (segment,) = snapshot.segments
    return segment
