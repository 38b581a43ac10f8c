"""The circuit breaker: a failing model is left alone, and asked again with one probe at a time."""

from __future__ import annotations

import pytest

from worker.llm.breaker import CircuitBreaker


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def fail(breaker: CircuitBreaker, times: int, kind: str = "unavailable") -> None:
    """Let that many calls fail."""
    for _ in range(times):
        assert breaker.allow()
        breaker.failed(kind)


def test_it_opens_after_failures_in_a_row() -> None:
    """The fifth opens it; a success in between starts the count again."""
    breaker = CircuitBreaker(Clock())
    fail(breaker, 4)
    breaker.succeeded()
    fail(breaker, 4)
    assert breaker.state == "closed"
    fail(breaker, 1)
    assert (breaker.state, breaker.allow()) == ("open", False)


@pytest.mark.parametrize("kind", ["invalid_key", "not_found"])
def test_a_hopeless_failure_opens_it_at_once(kind: str) -> None:
    """The next call would meet the same answer."""
    breaker = CircuitBreaker(Clock())
    fail(breaker, 1, kind)
    assert breaker.state == "open"


@pytest.mark.parametrize("kind", ["blocked", "invalid_request"])
def test_a_request_that_was_refused_is_not_the_models_fault(kind: str) -> None:
    """A shopper's odd query must not switch the model off for the others."""
    breaker = CircuitBreaker(Clock())
    fail(breaker, 50, kind)
    assert breaker.state == "closed"


def test_half_open_lets_one_probe_through() -> None:
    """The second caller waits for the first one's result."""
    clock = Clock()
    breaker = CircuitBreaker(clock)
    fail(breaker, 5)
    clock.now = 4.9
    assert not breaker.allow()
    clock.now = 5.0
    assert (breaker.state, breaker.allow(), breaker.allow()) == ("half_open", True, False)
    breaker.succeeded()
    assert (breaker.state, breaker.allow(), breaker.allow()) == ("closed", True, True)


def test_a_failed_probe_waits_twice_as_long_up_to_a_minute() -> None:
    """A model that stays down is asked less and less often, but never forgotten."""
    clock = Clock()
    breaker = CircuitBreaker(clock)
    fail(breaker, 5)
    waits = []
    for _ in range(6):
        waited = 0
        while not breaker.allow():
            clock.now += 1
            waited += 1
        breaker.failed("timeout")
        waits.append(waited)
    assert waits == [5, 10, 20, 40, 60, 60]


def test_a_released_probe_makes_room_for_the_next() -> None:
    """A shopper who left has told nothing about the model."""
    clock = Clock()
    breaker = CircuitBreaker(clock)
    fail(breaker, 5)
    clock.now = 5
    assert breaker.allow()
    breaker.released()
    assert breaker.allow()


def test_a_late_failure_keeps_an_open_breaker_open() -> None:
    """Calls that were under way when it opened do not let it close."""
    breaker = CircuitBreaker(Clock())
    assert all(breaker.allow() for _ in range(8))
    for _ in range(8):
        breaker.failed("unavailable")
    assert breaker.state == "open"
