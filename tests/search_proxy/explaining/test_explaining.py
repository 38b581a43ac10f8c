"""Excerpts and reasons: whatever a document and a query are, nothing is said that is not written there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_proxy.engine.languages import TextAnalysis
from search_proxy.explaining.excerpts import EXCERPT_CHARACTERS, excerpt
from search_proxy.explaining.matched_words import matched_fields, readable
from search_proxy.explaining.reasons import REASON_CHARACTERS, met_demands, reason
from search_proxy.filters import merge_filters, parse_filter

ENGLISH = TextAnalysis("en")
WORDS = st.sampled_from(
    [
        "tent",
        "tents",
        "Winter",
        "wintry",
        "warm",
        "Ärmel",
        "café",
        "x" * 90,
        "50",
        "<b>down</b>",
        "a.b",
        "…",
        "🙂",
    ]
)
TEXTS = st.lists(WORDS | st.text(max_size=12), max_size=120).map(" ".join)


def _terms(query: str) -> frozenset[str]:
    return frozenset(ENGLISH.analyze(query))


@given(TEXTS, TEXTS)
def test_an_excerpt_is_a_bounded_substring_of_the_text_with_a_word_of_the_query(
    text: str, query: str
) -> None:
    """Nothing is put in, nothing left out, and never a passage that did not match."""
    plain = readable(text)
    cut = excerpt(plain, _terms(query), ENGLISH.term)
    if cut is None:
        assert not matched_fields({"d": text}, ["d"], _terms(query), ENGLISH.term)
        return
    assert cut in plain
    assert len(cut) <= EXCERPT_CHARACTERS
    assert matched_fields({"d": cut}, ["d"], _terms(query), ENGLISH.term)


@given(
    st.dictionaries(st.sampled_from(["productTitle", "brand", "tags", "note"]), TEXTS | st.lists(TEXTS)),
    TEXTS,
)
def test_every_word_of_a_reason_stands_in_the_field_that_it_names(
    document: dict[str, Any], query: str
) -> None:
    """A reason is found, never written."""
    terms = _terms(query)
    matched = matched_fields(document, list(document), terms, ENGLISH.term)
    for each in matched:
        for word in each.words:
            assert word in readable(document[each.field])
            assert set(ENGLISH.analyze(word)) <= terms
    said = reason(matched, [], is_similar=False, language="en")
    assert said is None or len(said) <= REASON_CHARACTERS
    assert matched or said is None


def test_the_sentence_with_most_of_the_querys_words_is_the_excerpt() -> None:
    """Not the first that has one, but the one that has most."""
    text = "A tent for two. Warm in winter and at home on any camping trip. The pegs are red."
    assert excerpt(text, _terms("warm winter camping tents"), ENGLISH.term) == (
        "Warm in winter and at home on any camping trip."
    )


def test_a_long_sentence_is_cut_at_blanks_around_its_words() -> None:
    """Two lines of a card hold 240 characters."""
    text = f"{'lorem ipsum ' * 60}a tent for the winter {'dolor sit ' * 60}"
    cut = excerpt(text, _terms("winter tent"), ENGLISH.term)
    assert cut is not None
    assert "tent for the winter" in cut
    assert 100 < len(cut) <= EXCERPT_CHARACTERS
    assert f" {cut} " in f" {text} "


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "“Winter” in title; “warme” in description; brand: Fellhorn; price: 19.5"),
        ("de", "“Winter” in Titel; “warme” in Beschreibung; Marke: Fellhorn; price: 19.5"),
        ("fi", "“Winter” in title; “warme” in description; brand: Fellhorn; price: 19.5"),
    ],
)
def test_a_reason_says_each_term_once_where_it_says_most_and_the_demands_that_are_met(
    language: str, said: str
) -> None:
    """In the index's language where its words are known, in English elsewhere."""
    document = {
        "productTitle": "Winter Zelt",
        "description": "Das warme Zelt im Winter",
        "brand": "Fellhorn",
        "price": 19.5,
    }
    analysis = TextAnalysis("de")
    terms = frozenset(analysis.analyze("warm winter"))
    matched = matched_fields(document, ["productTitle", "description"], terms, analysis.term)
    asked = parse_filter("brand:(fellhorn) AND price:[* TO 20] AND NOT color:(red)")
    demands = met_demands(document, asked, None)
    assert reason(matched, demands, is_similar=True, language=language) == said


def test_what_the_callers_rights_put_into_a_filter_is_never_told() -> None:
    """A key's own filter is not the shopper's business. Source: docs/accounts.md, forced filters."""
    document = {"brand": "Fellhorn", "channel": "outlet", "tags": ["x", "Sale"]}
    forced = parse_filter("channel:(outlet)")
    asked = merge_filters(forced, parse_filter("brand:(Fellhorn) AND tags:(sale)"))
    told = [(each.field, each.value) for each in met_demands(document, asked, forced)]
    assert told == [("brand", "Fellhorn"), ("tags", "Sale")]


def test_a_hit_that_no_word_found_is_only_similar() -> None:
    """The vector lane names no words, so none are named."""
    assert reason([], [], is_similar=True, language="en") == "similar in meaning"
    assert reason([], [], is_similar=False, language="en") is None
