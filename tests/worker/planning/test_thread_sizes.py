"""Sizes as catalogs write them, and what is larger or smaller than what."""

from __future__ import annotations

import pytest

from search_proxy.filters import InFilter
from tests.worker.planning.test_thread_rules import SHOWN, THREAD, VOCABULARY, product, say
from worker.planning.thread_sizes import measure, sizes_beyond
from worker.planning.thread_state import ThreadState


@pytest.mark.parametrize(
    "rising",
    [
        ("XS", "S", "S/M", "M", "L", "XL", "XXL", "3XL"),
        ("EU 36", "EU 36-38", "EU 40", "EU 42.5", "EU 47"),
        ("50 × 100 cm", "70 x 140 cm", "200 × 300 cm"),
        ("18 cm", "24 cm", "32 cm"),
        ("small", "medium", "large"),
    ],
)
def test_sizes_of_one_kind_are_compared(rising: tuple[str, ...]) -> None:
    """Each is larger than the one before it."""
    measured = [measure(size) for size in rising]
    assert None not in measured
    kinds = {found[0] for found in measured if found is not None}
    assert len(kinds) == 1
    assert measured == sorted(measured)  # type: ignore[type-var]


@pytest.mark.parametrize("size", ["Regular", "One size", "", "Double"])
def test_a_size_without_a_measure_is_compared_with_nothing(size: str) -> None:
    """It is rather not named than named wrongly."""
    assert measure(size) is None


def test_a_bed_is_no_rug() -> None:
    """Both have an area, but "King 240 × 220" is a size of its own kind."""
    bed, rug = measure("King 240 × 220"), measure("200 × 300 cm")
    assert bed is not None
    assert rug is not None
    assert bed[0] != rug[0]


def test_larger_is_above_everything_that_is_spoken_of() -> None:
    """Of what was demanded first, else of what was shown."""
    shown = (product(1, 10.0, "A", "s"), product(2, 10.0, "B", "m"))
    larger = sizes_beyond(ThreadState(), shown, VOCABULARY, larger=True)
    assert larger is not None
    assert larger.filter == InFilter("size", ("L", "XL"))
    assert sizes_beyond(ThreadState(), shown, VOCABULARY, larger=False) is None
    demanded = say("size L").state
    smaller = sizes_beyond(demanded, shown, VOCABULARY, larger=False)
    assert smaller is not None
    assert smaller.filter == InFilter("size", ("M", "S"))


def test_a_sentence_about_size_replaces_the_size_or_asks() -> None:
    """The jackets of the thread were shown without a size."""
    state = say("size M").state.after_showing(SHOWN)
    bigger = say("a size up please", state).state
    assert [str(each.filter) for each in bigger.constraints if each.role == "size"] == ["size IN ((L), (XL))"]
    asked = say("something bigger", THREAD)
    assert (asked.kind, asked.state) == ("clarify", THREAD)
