"""Slips of the words that steer a conversation, and words that only look like slips."""

from __future__ import annotations

import pytest

from tests.worker.planning.test_thread_rules import VOCABULARY
from worker.planning.thread_spelling import respelled


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("cheeper", "cheaper"),
        ("cehaper", "cheaper"),
        ("secnd one", "second one"),
        ("the thrid", "the third"),
        ("in bleu", "in blue"),
        ("not blakc", "not black"),
        ("gren or yelow", "green or yellow"),
        ("wihtout lether", "without leather"),
        ("mor like that", "more like that"),
        ("undr 100", "under 100"),
        ("compar them", "compare them"),
        ("similr", "similar"),
        ("new serch", "new search"),
        ("expensiv", "expensive"),
    ],
)
def test_a_slip_of_a_steering_word_is_read_as_meant(typed: str, meant: str) -> None:
    """Letters swapped, doubled, forgotten, or a vowel for another."""
    assert respelled(typed, VOCABULARY) == meant


@pytest.mark.parametrize(
    "text",
    [
        "stove", "back", "milk", "cold", "mood", "rack", "sold", "wood", "liner", "brass", "start", "colours",
        "blues and greens", "peatmoor jackets", "bread", "whale", "shirt", "rugs", "gloves", "a tent for 4",
    ],
)  # fmt: skip
def test_another_word_stays_what_it_is(text: str) -> None:
    """What names a product is left to the search."""
    assert respelled(text, VOCABULARY) == text
