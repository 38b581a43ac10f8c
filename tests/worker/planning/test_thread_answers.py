"""Questions about shown products: which are recognised, and what a product's own data answers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.worker.planning.test_thread_rules import THREAD, VOCABULARY, say
from worker.planning.thread_answers import answer_question, can_answer
from worker.planning.thread_question_kinds import Question, read_question

ALDER: dict[str, Any] = {
    "_id": "j1", "productTitle": "Alder Jacket", "price": 60.0, "currency": "EUR", "color": "red",
    "material": "wool", "size": "M", "brand": "Peatmoor", "inStock": False, "warrantyYears": 5,
    "weightG": 480,
    "description": "Warm and light. It is not waterproof. Machine washable at 30 degrees.",
}  # fmt: skip
BIRCH = ALDER | {"_id": "j2", "productTitle": "Birch Jacket", "price": 40.0, "color": "blue", "inStock": True}


def answer(asked: str, *documents: dict[str, Any]) -> str:
    """Return the answer to a sentence about documents, the last being variants of the first."""
    question = read_question(asked)
    assert question is not None
    return answer_question(question, documents or (ALDER,), (ALDER, BIRCH), VOCABULARY)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("how much is", "Alder Jacket costs 60.00 EUR."),
        ("what does it cost?", "Alder Jacket costs 60.00 EUR."),
        ("how heavy is", "Alder Jacket: weight g 480."),
        ("how long is the warranty", "Alder Jacket: warranty years 5."),
        ("what is it made of?", "Alder Jacket is made of wool."),
        ("who makes it", "Alder Jacket is made by Peatmoor."),
        ("which colours does it come in", "Alder Jacket comes in red, blue."),
        ("is it in stock", "Alder Jacket is sold out, but there is blue M."),
        ("is it waterproof?", "About Alder Jacket it says: “It is not waterproof.”"),
        ("can I wash it", "About Alder Jacket it says: “Machine washable at 30 degrees.”"),
        ("does it have a hood", "I cannot tell: Alder Jacket says nothing of “hood”."),
        ("is it good", "I cannot tell: Alder Jacket says nothing of its rating."),
    ],
)
def test_a_question_is_answered_from_the_products_own_data(asked: str, told: str) -> None:
    """Words are quoted, never turned into a yes."""
    assert answer(asked) == told


def test_a_product_without_sizes_tells_what_it_measures() -> None:
    """Its own measures, by the names that the merchant gave them."""
    pot = {"_id": "p", "productTitle": "Pot", "capacityL": 1.5, "heightCm": 12, "pieces": 3}
    question = Question(asked="sizes")
    assert answer_question(question, [pot], [pot], VOCABULARY) == "Pot comes in capacity l 1.5, height cm 12."


def test_two_products_are_compared_by_what_differs() -> None:
    """Prices first; what both have alike is not said."""
    told = answer("what is the difference", ALDER, BIRCH)
    assert told.startswith("Alder Jacket costs 60.00 EUR; Birch Jacket costs 40.00 EUR. They differ in ")
    assert "color (red / blue)" in told
    assert "material" not in told


@pytest.mark.parametrize(
    "sentence",
    ["do you have it in green", "does it come in XL", "is it available in blue", "what else is there",
     "what about the third", "show me the second one", "cheaper", "in red", "waterproof", "for hiking",
     "is there a blue one", "have you got tents"],
)  # fmt: skip
def test_a_wish_for_other_products_is_no_question(sentence: str) -> None:
    """It is searched."""
    found = read_question(sentence)
    assert found is None or found.asked == "words"
    assert say(sentence).kind != "answer"


@pytest.mark.parametrize(
    ("sentence", "ids", "asked"),
    [
        ("how much is the second one?", ("j2",), "price"),
        ("is the third waterproof?", ("j3",), "words"),
        ("compare the first and the third", ("j1", "j3"), "differences"),
        ("compare 1 and 2", ("j1", "j2"), "differences"),
        ("what is the difference between the first and second?", ("j1", "j2"), "differences"),
        ("compare them", ("j1", "j2", "j3", "j4"), "differences"),
        ("tell me more about the last one", ("j4",), "description"),
    ],
)
def test_a_question_names_its_products(sentence: str, ids: tuple[str, ...], asked: str) -> None:
    """By position, or all that was shown."""
    decision = say(sentence)
    assert decision.question is not None
    assert (decision.kind, decision.product_ids, decision.question.asked) == ("show", ids, asked)


def test_a_question_without_a_product_is_about_the_last_one_or_asked_back() -> None:
    """What several cost can be said at once."""
    focused = say("the second one").state
    assert say("how heavy is it?", focused).product_ids == ("j2",)
    assert say("how long is the warranty?", focused).product_ids == ("j2",)
    assert say("how much are they?").message == "They cost from 40.00 to 100.00."
    asked = say("which sizes are there?")
    assert (asked.kind, asked.state) == ("clarify", THREAD)


def test_what_cannot_be_told_is_known_beforehand() -> None:
    """Whoever offers a question asks it first."""
    assert can_answer(Question(asked="material"), ALDER, VOCABULARY)
    assert not can_answer(Question(asked="words", words=("hood",)), ALDER, VOCABULARY)
