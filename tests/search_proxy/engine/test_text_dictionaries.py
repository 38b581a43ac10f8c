"""Joined dictionaries say what one dictionary of all texts would."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_proxy.engine.catalog_writer import add_documents, delete_index
from search_proxy.engine.columns import FieldColumns, dictionary, in_one_piece, join_columns
from search_proxy.engine.open_indexes import OpenIndexes
from search_proxy.engine.snapshot import open_snapshot
from search_proxy.engine.text_dictionaries import TEXTS_AT_ONCE, TextDictionary, join_dictionaries

_TEXTS = st.lists(st.sampled_from(["", "a", "ä", "b", "tent", "Tent", "光"]), unique=True)


def dictionary_of(texts: list[str]) -> TextDictionary:
    """Return a dictionary of texts."""
    arrays = dictionary(texts)
    return TextDictionary(arrays["text_offsets"], arrays["text_blob"])


@given(st.lists(_TEXTS, max_size=5))
def test_codes_are_given_as_texts_come(parts: list[list[str]]) -> None:
    """Each text once, whatever part has it; every part's own codes lead to it."""
    every = list(dict.fromkeys(text for part in parts for text in part))
    translations, joined = join_dictionaries([dictionary_of(part) for part in parts])
    assert list(joined.texts()) == every
    assert len(joined) == len(every)
    assert [joined.text(code) for code in range(len(every))] == every
    assert joined.lengths().tolist() == [len(text.encode()) for text in every]
    assert [[every[code] for code in codes.tolist()] for codes in translations] == parts


@pytest.mark.parametrize("count", [TEXTS_AT_ONCE - 1, TEXTS_AT_ONCE, 2 * TEXTS_AT_ONCE + 1])
def test_a_large_dictionary_is_read_in_steps(count: int) -> None:
    """No step takes more texts than it may, and together they are all."""
    texts = [f"text {at}" for at in range(count)]
    large = dictionary_of(texts)
    steps = list(large.encoded())
    assert max(map(len, steps)) <= TEXTS_AT_ONCE
    assert [text.decode() for step in steps for text in step] == texts == list(large.texts())
    _, joined = join_dictionaries([dictionary_of(["x"]), large])
    assert joined.text(count) == texts[-1]


def test_joined_columns_are_stored_in_one_piece() -> None:
    """As columns that were never apart; a part without texts has a part in nothing."""
    codes = np.array([0, 1], "<u4")
    parts = [FieldColumns({"text_codes": codes, **dictionary(texts)}) for texts in (["a", "b"], ["b", "c"])]
    joined = in_one_piece(join_columns([(0, FieldColumns({})), (0, parts[0]), (2, parts[1])]))
    assert joined.texts() == ["a", "b", "c"]
    assert joined["text_codes"].tolist() == [0, 1, 1, 2]
    assert bytes(joined["text_blob"]) == b"abc"


def test_generations_share_what_they_have_in_common(tmp_path: Path) -> None:
    """A segment stays open, with what was derived from it; one of an index made anew does not."""
    folder = tmp_path / "demo" / "shop"
    add_documents(folder, [{"_id": "a", "brand": "Lumo", "productTitle": "red tent"}])
    indexes = OpenIndexes(tmp_path)
    first = indexes.snapshot("demo", "shop")
    assert first.columns("brand").texts() == ["Lumo"]
    add_documents(folder, [{"_id": "b", "brand": "Osprey", "productTitle": "blue tent"}])
    second = indexes.snapshot("demo", "shop")
    assert second.segments[0] is first.segments[0]
    assert second.segments[0].text.lexicon is first.segments[0].text.lexicon
    assert (
        second.columns("brand").texts()
        == open_snapshot(folder)[1].columns("brand").texts()
        == ["Lumo", "Osprey"]
    )
    assert second.text.scored("tent").rows.tolist() == [0, 1]
    delete_index(folder)
    add_documents(folder, [{"_id": "c", "brand": "Rab"}])
    third = indexes.snapshot("demo", "shop")
    assert (third.columns("brand").texts(), third.ids) == (["Rab"], ["c"])
