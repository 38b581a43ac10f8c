"""Stages measured on an injected clock."""

from __future__ import annotations

from worker.timing import Stage, Timings


class Clock:
    """A clock that only moves when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Return the time, in seconds."""
        return self.now


def test_overlapping_searches_count_from_first_start_to_last_end() -> None:
    """Two searches that overlap are one span. Source: house style, logs and time."""
    clock = Clock()
    timings = Timings(clock)
    with timings.measure(Stage.CATEGORY_SEARCH_TOTAL):
        clock.now += 1
        with timings.measure(Stage.CATEGORY_SEARCH_TOTAL):
            clock.now += 2
    assert timings.milliseconds() == {"E2E": 3000.0, "CATEGORY_SEARCH_TOTAL": 3000.0}


def test_a_stage_that_did_not_run_is_absent() -> None:
    """Nothing but E2E is reported when nothing was measured."""
    assert list(Timings(Clock()).milliseconds()) == ["E2E"]


def test_a_mark_is_the_time_since_the_beginning_and_is_set_once() -> None:
    """The first mark of a stage counts."""
    clock = Clock()
    timings = Timings(clock)
    clock.now += 0.25
    timings.mark(Stage.TIME_TO_FIRST_HITS)
    clock.now += 1
    timings.mark(Stage.TIME_TO_FIRST_HITS)
    assert timings.milliseconds()["TIME_TO_FIRST_HITS"] == 250.0


def test_a_stage_is_measured_also_when_its_block_fails() -> None:
    """A failing call's time is known."""
    clock = Clock()
    timings = Timings(clock)
    try:
        with timings.measure(Stage.LLM_FIRST_CALL):
            clock.now += 2
            raise ValueError("gone")
    except ValueError:
        pass
    timings.rename(Stage.LLM_FIRST_CALL, Stage.CATALOG_PLAN)
    assert timings.milliseconds() == {"E2E": 2000.0, "CATALOG_PLAN": 2000.0}


def test_a_stage_that_failed_keeps_the_time_until_the_other_took_over() -> None:
    """A model that was waited for is slow; the rules after it are not."""
    clock = Clock()
    timings = Timings(clock)
    with timings.measure(Stage.LLM_FIRST_CALL):
        clock.now += 2.5
        timings.hand_over()
        clock.now += 0.02
    timings.rename(Stage.LLM_FIRST_CALL, Stage.CATALOG_PLAN)
    measured = timings.milliseconds()
    assert (measured["LLM_FIRST_CALL"], measured["CATALOG_PLAN"]) == (2500.0, 20.0)


def test_a_stage_that_was_never_begun_is_absent() -> None:
    """A breaker that is open hands over at once."""
    clock = Clock()
    timings = Timings(clock)
    with timings.measure(Stage.LLM_FIRST_CALL):
        timings.hand_over()
        clock.now += 0.02
    timings.rename(Stage.LLM_FIRST_CALL, Stage.CATALOG_PLAN)
    assert "LLM_FIRST_CALL" not in timings.milliseconds()
