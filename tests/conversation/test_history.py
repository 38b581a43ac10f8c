"""Past turns are decoded when they are looked at, the last one at once."""

from __future__ import annotations

import pytest

from conversation.errors import StorageDamaged
from conversation.history import History
from conversation.interaction import Interaction, encode_interaction
from conversation.storage import StoredTurn


def stored(number: int, body: bytes | None = None) -> StoredTurn:
    """Return a turn as storage gives it."""
    whole = encode_interaction(Interaction(query=f"question {number}")) if body is None else body
    return StoredTurn(number=number, created_at=float(number), body=whole)


def test_turns_are_a_sequence_like_any_other() -> None:
    """Oldest first, by index and by slice, each decoded once."""
    history = History(tuple(stored(number) for number in range(1, 6)))
    assert len(history) == 5
    assert [each.query for each in history] == [f"question {number}" for number in range(1, 6)]
    assert history[-1].number == 5
    assert [each.number for each in history[1:3]] == [2, 3]
    assert history == tuple(history)
    assert history[0] is history[0]
    assert not History()


def test_a_last_turn_that_cannot_be_read_is_refused_at_once() -> None:
    """Nothing may build on it."""
    with pytest.raises(StorageDamaged, match="turn 2"):
        History((stored(1), stored(2, b"{")))


def test_an_older_turn_that_cannot_be_read_costs_only_whoever_looks() -> None:
    """The last one is good."""
    history = History((stored(1, b"no JSON"), stored(2)))
    assert history[-1].query == "question 2"
    with pytest.raises(StorageDamaged, match="turn 1"):
        tuple(history)
