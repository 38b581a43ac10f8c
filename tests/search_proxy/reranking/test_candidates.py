"""What of a product a reranker is given."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from search_proxy.reranking.candidates import MAX_TEXT_CHARACTERS, MAX_TITLE_CHARACTERS, candidate
from search_proxy.reranking.reranker import complete_order


def test_a_candidate_is_title_facts_and_description_without_markup_ids_and_addresses() -> None:
    """What says nothing of relevance costs tokens and time."""
    document: dict[str, Any] = {
        "_id": "t1",
        "parentProductId": "t",
        "productTitle": "Dome <b>tent</b>",
        "brand": "Fellhorn",
        "price": 199.0,
        "currency": "EUR",
        "description": "<p>Two people.</p><p>Light.</p>",
        "variantImageUrl": "https://shop.example/t1.jpg",
        "sku": "993-11",
        "visibleTo": ["wholesale"],
        "season": ["winter", "summer"],
        "weightKg": 2.1,
        "inStock": True,
    }
    made = candidate("t1", document)
    assert (made.id, made.title) == ("t1", "Dome tent")
    assert made.text == (
        "brand: Fellhorn; price: 199; currency: EUR; season: winter, summer; weightKg: 2.1. "
        "Two people. Light."
    )


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=3000) | st.lists(st.text()) | st.floats()))
def test_whatever_a_document_holds_its_candidate_is_bounded(document: dict[str, Any]) -> None:
    """Fifty of them must fit into one call."""
    made = candidate("x", document | {"productTitle": "word " * 500})
    assert len(made.title) <= MAX_TITLE_CHARACTERS
    assert len(made.text) <= MAX_TEXT_CHARACTERS


@given(st.lists(st.text(max_size=3), unique=True), st.lists(st.text(max_size=3)))
def test_a_completed_order_has_every_product_once_and_no_other(known: list[str], said: list[str]) -> None:
    """Whatever a reranker says, the products stay the same."""
    order = complete_order(known, said)
    assert sorted(order) == sorted(known)
    named = [identifier for identifier in dict.fromkeys(said) if identifier in known]
    assert list(order[: len(named)]) == named
    unnamed = [identifier for identifier in known if identifier not in named]
    assert list(order[len(named) :]) == unnamed
