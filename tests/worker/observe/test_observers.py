"""The fan-out: every listener hears, none harms another, and there are few."""

from __future__ import annotations

import logging

import pytest

from worker.observe.completion import Completion
from worker.observe.observers import MAX_OBSERVERS, Observers


def a_completion() -> Completion:
    """Return the plainest completion."""
    return Completion(
        event="search_completed",
        source="search",
        outcome="ok",
        account="acme",
        index="shop",
        request_id="r",
        timings={"E2E": 1.0},
    )


def test_a_listener_that_raises_is_counted_and_the_others_hear(caplog: pytest.LogCaptureFixture) -> None:
    """A failure stays its own, and ten thousand of them write ten lines."""
    heard: list[Completion] = []

    def broken(_: Completion) -> None:
        raise ZeroDivisionError

    observers = Observers()
    observers.add("broken", broken)
    observers.add("heard", heard.append)
    caplog.set_level(logging.ERROR)
    for _ in range(10_000):
        observers.observe(a_completion())
    assert len(heard) == 10_000
    assert observers.failures == {"broken": 10_000}
    assert len(caplog.records) == 10


def test_a_removed_listener_hears_nothing_more() -> None:
    """And removing what is not there is nothing."""
    heard: list[Completion] = []
    observers = Observers()
    observers.add("heard", heard.append)
    observers.remove("heard")
    observers.remove("never")
    observers.observe(a_completion())
    assert heard == []


def test_names_are_one_listeners_own_and_listeners_are_few() -> None:
    """Both mistakes are refused by name."""
    observers = Observers()
    for place in range(MAX_OBSERVERS):
        observers.add(f"n{place}", lambda _: None)
    with pytest.raises(ValueError, match="'n0' already"):
        observers.add("n0", lambda _: None)
    with pytest.raises(ValueError, match="'more' is one too many"):
        observers.add("more", lambda _: None)


def test_a_line_leaves_out_what_does_not_apply() -> None:
    """None is absent; the line is an object of its own."""
    line = a_completion().as_line()
    assert line["event"] == "search_completed"
    assert "run_id" not in line
    assert line["timings"] == {"E2E": 1.0}
