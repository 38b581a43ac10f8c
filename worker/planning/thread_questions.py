"""Decides what a question is about: the products it names, the one just spoken of, or all that was shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from worker.planning.thread_decision import ThreadDecision, to_show
from worker.planning.thread_products import ShownProduct
from worker.planning.thread_question_kinds import MAX_COMPARED, Question
from worker.planning.thread_state import ThreadState

_IT = re.compile(r"\b(?:it|its|(?:this|that) one)\b")


def about_some(
    question: Question, named: Sequence[ShownProduct], state: ThreadState
) -> ThreadDecision | None:
    """Return the decision to answer for the products that are meant, or None where none is."""
    products = tuple(named)
    focus = () if state.focus is None else (state.focus,)
    if question.asked == "differences" and len(products) < 2:
        products = tuple(dict.fromkeys((*focus, *products))) if products else ()
        if len(products) < 2:
            products = (state.spoken or state.shown)[:MAX_COMPARED]
    elif not products and (question.asked != "words" or question.of_what_was_spoken):
        products = focus
    return to_show(products, state, question) if products else None


def is_about_one(text: str, question: Question | None, state: ThreadState) -> bool:
    """Return whether a sentence asks about "it" where several were shown and none was spoken of."""
    return question is not None and len(state.shown) > 1 and _IT.search(text) is not None


def about_all(question: Question, state: ThreadState) -> ThreadDecision:
    """Return the answer for everything that was shown, or ask which of it is meant."""
    prices = [each.price for each in state.spoken or state.shown if each.price is not None]
    if question.asked == "price" and prices:
        return ThreadDecision(kind="answer", state=state, message=_span(prices))
    message = f"Which of the {len(state.shown)} do you mean? Say for example “the first one”."
    if not state.shown:
        message = "Which product do you mean?"
    return ThreadDecision(kind="clarify", state=state, message=message)


def _span(prices: Sequence[float]) -> str:
    low, high = min(prices), max(prices)
    return f"They cost {low:.2f}." if low == high else f"They cost from {low:.2f} to {high:.2f}."
