"""Going back in a conversation: one step, one page, to what was named."""

from __future__ import annotations

import json

import pytest

from tests.worker.planning.test_thread_rules import SHOWN, THREAD, say
from worker.planning.thread_recall import NOTHING_BEFORE
from worker.planning.thread_state import MAX_EARLIER, ThreadState, search_of


def talk(*sentences: str) -> ThreadState:
    """Return the thread after sentences, each search having shown the four jackets."""
    state = THREAD
    for sentence in sentences:
        decision = say(sentence, state)
        state = decision.state.after_showing(SHOWN) if decision.kind == "search" else decision.state
    return state


@pytest.mark.parametrize(
    "sentence",
    ["undo", "undo that", "go back", "back", "take that back", "drop the last filter",
     "Remove the last filter.", "can we go back please", "back to the previous search"],
)  # fmt: skip
def test_one_step_back_is_the_search_before(sentence: str) -> None:
    """With all its demands, from its first page."""
    before, state = talk("in red"), talk("in red", "under 50")
    decision = say(sentence, state)
    assert search_of(decision.state) == search_of(before)
    assert decision.search is not None
    assert decision.search.offset == 0


def test_steps_back_go_on_until_nothing_is_left() -> None:
    """Then it is said."""
    state = talk("in red", "under 50", "not wool")
    for expected in (talk("in red", "under 50"), talk("in red"), THREAD):
        state = say("undo", state).state.after_showing(SHOWN)
        assert search_of(state) == search_of(expected)
    nothing = say("undo", state)
    assert (nothing.kind, nothing.message, nothing.state) == ("answer", NOTHING_BEFORE, state)


def test_back_from_a_product_is_the_page_that_it_was_on() -> None:
    """And from a second page the first."""
    picked = talk("in red", "show me more", "the second one")
    decision = say("go back", picked)
    assert decision.search is not None
    assert decision.search.offset == 4
    second = say("previous page", talk("in red", "show me more"))
    assert second.search is not None
    assert second.search.offset == 0


def test_what_was_named_comes_back_with_its_demands() -> None:
    """From under another kind of product."""
    state = talk("in red", "show me gloves", "under 20")
    assert search_of(say("back to the jackets", state).state) == search_of(talk("in red"))
    assert say("back to the rugs", state).state.query == "rugs"


def test_after_a_wish_that_found_nothing_back_is_what_was_there() -> None:
    """Nothing was left, so nothing is skipped."""
    red = talk("in red")
    kept = say("in pink", red).state.after_nothing(red)
    assert search_of(say("back", kept).state) == search_of(red)


def test_only_so_many_steps_are_kept() -> None:
    """They are part of every stored turn."""
    state = talk(*(f"under {90 - number}" for number in range(30)))
    assert len(state.earlier) == MAX_EARLIER
    assert ThreadState.from_json(json.loads(json.dumps(state.to_json()))) == state
    assert len(json.dumps(state.to_json())) < 16 * 1024
