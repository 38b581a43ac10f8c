"""What is built from many documents at once is what reading them one by one says."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_proxy.engine.columns import FieldColumns
from search_proxy.engine.columns_builder import ColumnsBuilder
from search_proxy.engine.documents import addressable_values, prepare_document
from search_proxy.engine.flat_documents import Flattening
from search_proxy.engine.forms import indexed_forms
from search_proxy.engine.languages import TEXT_END, TextAnalysis
from search_proxy.engine.searchable_text import field_of, searched_texts
from search_proxy.engine.stable_order import stable_order
from search_proxy.engine.text_builder import TextBuilder
from search_proxy.engine.text_columns import MAX_WORDS, TEXT_FIELDS, TextColumns

_ANALYSIS = TextAnalysis("en")
_TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            "—",
            'a 27" screen, 27-inch or 27 in',
            "2 in 1",
            "TN-2110 and TN.2110/b, 10.5 x 3",
            "Ärmel ΟΔΟΣ e\u0301tui 光",
            "\u0301tent",
            "https://shop.test/tent",
            "running shoes for kids " * 20,
            "x" * 90,
            "ÿ" * 50,
            "12 mm",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
)
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 20_000_000), st.sampled_from([1.0, 0.5, 2e7, 1.5e-5]), _TEXTS
)
_VALUES = st.one_of(
    _SCALARS,
    st.lists(_SCALARS, max_size=3),
    st.dictionaries(st.sampled_from(["a", "b.c"]), _SCALARS, max_size=2),
)
_NAMES = st.sampled_from(
    ["productTitle", "description", "brand", "price", "color", "screenSize", "dims", "dims.a", "光", "_"]
)
_DOCUMENTS = st.lists(st.dictionaries(_NAMES, _VALUES, max_size=6), min_size=1, max_size=8).map(
    lambda documents: [{"_id": str(at), **one} for at, one in enumerate(documents)]
)


def built(documents: list[dict[str, Any]]) -> tuple[TextColumns, dict[str, FieldColumns]]:
    """Return text and columns of documents, two of which are added at a time."""
    flattening = Flattening()
    text, columns = TextBuilder(flattening, _ANALYSIS), ColumnsBuilder(flattening)
    for start in range(0, len(documents), 2):
        flat = flattening.flat(start, documents[start : start + 2])
        text.add(flat)
        columns.add(flattening.addressable(start, documents[start : start + 2], flat))
    return text.build(len(documents)), columns.build()


def _terms(value: Any) -> list[str]:
    if isinstance(value, list):
        parts = [_plain(one) for one in value]
        value = " ; ".join(part for part in parts if part)
    if isinstance(value, int | float):
        text = _plain(value)
    else:
        (text,) = searched_texts([value]) if isinstance(value, str) else [""]
    return [_ANALYSIS.term(word) for word in _ANALYSIS.words(text)]


def _plain(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return ""
    if isinstance(value, str):
        return "" if value.startswith(("http://", "https://")) else value
    return f"{value:g}" if isinstance(value, float) else str(value)


def _expected_terms(document: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {field: [] for field in TEXT_FIELDS}
    for name, value in document.items():
        place = field_of(name)
        if place is None or value is None or value is False:
            continue
        named = [_ANALYSIS.term(word) for word in _ANALYSIS.words(place[1])]
        terms = named if value is True else [*named, *own] if (own := _terms(value)) else []
        prose = named and isinstance(value, str) and len(value) > 300
        found["description" if prose else place[0]] += terms
    return found


def _found_terms(columns: TextColumns, size: int) -> list[dict[str, dict[int, str]]]:
    """Return the term at every place of every field of every row."""
    found: list[dict[str, dict[int, str]]] = [{field: {} for field in TEXT_FIELDS} for _ in range(size)]
    arrays = columns.arrays
    starts = arrays["posting_starts"].tolist()
    for number, term in enumerate(columns.lexicon.terms()):
        at = int(arrays["position_starts"][number])
        for posting in range(starts[number], starts[number + 1]):
            count = int(arrays["posting_counts"][posting])
            field = TEXT_FIELDS[int(arrays["posting_fields"][posting])]
            places = arrays["positions"][at : at + count].tolist()
            found[int(arrays["posting_rows"][posting])][field] |= dict.fromkeys(places, term)
            at += count
    return found


@settings(max_examples=150, deadline=None)
@given(_DOCUMENTS)
def test_every_word_stands_at_its_place(documents: list[dict[str, Any]]) -> None:
    """Row by row, field by field: names before values, prose with the descriptions, no word lost."""
    text, _ = built(documents)
    expected = [_expected_terms(document) for document in documents]
    assert _found_terms(text, len(documents)) == [
        {field: {at: term for at, term in enumerate(terms) if term} for field, terms in one.items()}
        for one in expected
    ]
    assert text.lengths.tolist() == [[len(one[field]) for one in expected] for field in TEXT_FIELDS]
    assert text.lexicon.terms() == sorted(text.lexicon.terms())


@settings(max_examples=150, deadline=None)
@given(_DOCUMENTS)
def test_every_value_is_in_the_columns_of_its_field(documents: list[dict[str, Any]]) -> None:
    """Lists value by value, maps as dotted names; codes are counted as the texts of a field come."""
    _, columns = built(documents)
    expected: dict[str, dict[str, list[Any]]] = {}
    for row, document in enumerate(documents):
        for name, value in addressable_values(document):
            for kind, one in [("list", None)] * isinstance(value, list) + _typed(value):
                own = expected.setdefault(name, {})
                own.setdefault(f"{kind}_rows", []).append(row)
                own.setdefault(kind, []).append(one)
    assert columns.keys() == expected.keys()
    for name, own in expected.items():
        found = columns[name]
        assert all(
            found[f"{k}_rows"].tolist() == own.get(f"{k}_rows", []) for k in (*_KINDS.values(), "list")
        )
        texts = found.texts()
        assert [texts[code] for code in found["text_codes"].tolist()] == own.get("text", [])
        assert texts == list(dict.fromkeys(own.get("text", [])))
        assert found["integer_values"].tolist() == own.get("integer", [])
        assert found["float_values"].tolist() == own.get("float", [])
        assert found["boolean_values"].tolist() == own.get("boolean", [])


_KINDS = {str: "text", int: "integer", float: "float", bool: "boolean"}


def _typed(value: Any) -> list[tuple[str, Any]]:
    values = value if isinstance(value, list) else [value]
    return [(_KINDS[type(one)], one) for one in values if type(one) in _KINDS]


def test_words_beyond_the_limit_of_a_field_are_not_searched() -> None:
    """The word behind the last one that fits has no posting, and the next document's words have theirs."""
    words = "tent " * (MAX_WORDS - 1)
    text, _ = built([{"_id": "a", "description": f"{words} last lost"}, {"_id": "b", "description": "stove"}])
    first, second = (one["description"] for one in _found_terms(text, 2))
    assert (first[MAX_WORDS - 1], len(first), second) == ("last", MAX_WORDS, {0: "stove"})
    assert text.lengths[TEXT_FIELDS.index("description")].tolist() == [MAX_WORDS, 1]


def test_texts_that_are_read_together_do_not_touch() -> None:
    """No size reaches from one text into the next, and no accent either."""
    assert indexed_forms(["27", '" wide', "2", "in 1", "5 in", "3 cats", "TN-", "2110"]) == [
        *("", "", "", "", "5inch", "", "", ""),
    ]
    assert _ANALYSIS.words_of_each(["e", "\u0301tent", "A"]) == [
        "e",
        TEXT_END,
        "tent",
        TEXT_END,
        "a",
        TEXT_END,
    ]


def test_a_document_is_read_again_only_where_that_differs() -> None:
    """What is flat already is used as it is; a tuple becomes a list."""
    flat = {"_id": "a", "tags": ["x", None], "price": 1.5, "count": 3}
    assert prepare_document(flat, 0).read() is flat
    for value in ([1, 2.5], {"a": 1}, ("x",)):
        document = {"_id": "a", "value": value}
        assert prepare_document(document, 0).read() == orjson.loads(orjson.dumps(document))


@pytest.mark.parametrize("highest", [10, 2**16, 2**31, 2**40, 2**62])
def test_order_is_stable_for_numbers_of_any_size(highest: int) -> None:
    """Equal numbers stay as they stand."""
    keys = np.random.default_rng(1).integers(0, highest, 500) // (highest // 7 + 1) * (highest // 7 + 1)
    assert stable_order(keys).tolist() == np.argsort(keys, kind="stable").tolist()
    assert stable_order(keys[:0]).tolist() == []
