"""The collector looks at young objects when answers end, and not at every end."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from worker.young_objects import EVERY_SECONDS, MIDDLE_EVERY, YoungObjects


class _Knot:
    """Holds itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def by_hand() -> Iterator[None]:
    """Let nothing but the test collect."""
    gc.disable()
    yield
    gc.enable()


def _knot() -> weakref.ref[_Knot]:
    return weakref.ref(_Knot())


def test_a_look_collects_what_is_young() -> None:
    """A cycle that an answer has left is gone with the look at its end."""
    young, left = YoungObjects(lambda: 1.0), _knot()
    young.look()
    assert left() is None


def test_answers_that_end_together_have_one_look() -> None:
    """The next one comes when the time has passed."""
    now = 1.0
    young = YoungObjects(lambda: now)
    young.look()
    left = _knot()
    young.look()
    assert left() is not None
    now += EVERY_SECONDS
    young.look()
    assert left() is None


def test_what_survived_a_look_is_looked_at_again_after_many() -> None:
    """Cycles that were still held at their first look are not kept for ever."""
    now = 1.0
    young, held = YoungObjects(lambda: now), _Knot()
    young.look()
    left = weakref.ref(held)
    del held
    for _ in range(MIDDLE_EVERY - 2):
        now += EVERY_SECONDS
        young.look()
    assert left() is not None
    now += EVERY_SECONDS
    young.look()
    assert left() is None
