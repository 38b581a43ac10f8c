"""A failing tier is left alone, and tried again once per pause."""

from __future__ import annotations

from cache.circuit_breaker import CircuitBreaker
from tests.support.clocks import FakeClock


def _open(clock: FakeClock) -> CircuitBreaker:
    breaker = CircuitBreaker(failures=3, pause_seconds=5, monotonic=clock)
    for _ in range(3):
        breaker.failed()
    return breaker


def test_it_opens_after_failures_in_a_row() -> None:
    """A success in between starts the count again."""
    breaker = CircuitBreaker(failures=3, pause_seconds=5, monotonic=FakeClock())
    for _ in range(2):
        breaker.failed()
    breaker.succeeded()
    for _ in range(2):
        breaker.failed()
    assert breaker.allows()
    breaker.failed()
    assert not breaker.allows()


def test_one_call_per_pause_tries_an_open_breaker() -> None:
    """The others do not pay for the trial."""
    clock = FakeClock()
    breaker = _open(clock)
    clock.advance(5)
    assert [breaker.allows() for _ in range(3)] == [True, False, False]
    breaker.failed()
    clock.advance(4)
    assert not breaker.allows()
    clock.advance(1)
    assert breaker.allows()


def test_a_trial_that_succeeds_closes_it() -> None:
    """Everybody may call again."""
    clock = FakeClock()
    breaker = _open(clock)
    clock.advance(5)
    assert breaker.allows()
    breaker.succeeded()
    assert [breaker.allows() for _ in range(3)] == [True, True, True]
    assert not breaker.is_open
