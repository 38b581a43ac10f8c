"""Which finished requests a filter lets through, and what a filter may not say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.worker.tail.completions import completion
from worker.tail.tail_filter import TailRefused, read_tail_filter


@pytest.mark.parametrize(
    ("part", "passing", "failing"),
    [
        (("status", "error"), {"outcome": "error"}, {"outcome": "ok"}),
        (("source", "cached"), {"source": "cached"}, {"source": "llm"}),
        (("source", "degraded"), {"source": "catalog", "degraded": "timeout"}, {"source": "catalog"}),
        (("account", "shop"), {"account": "shop"}, {"account": "shop2"}),
        (("index", "main"), {"index": "main"}, {"index": "Main"}),
        (("prompt-version", "3"), {"prompt_version": 3}, {"prompt_version": 13}),
        (("slower-than", "99.5"), {"timings": {"E2E": 99.6}}, {"timings": {"E2E": 99.5}}),
        (("slower-than", "0"), {"timings": {"E2E": 0.1}}, {"timings": {}}),
        (("filter-dropped", "true"), {"filters_dropped": 1}, {"filters_dropped": 0}),
    ],
)
def test_each_part_lets_through_what_it_names_and_nothing_else(
    part: tuple[str, str], passing: dict[str, Any], failing: dict[str, Any]
) -> None:
    """Source: the command's options."""
    wanted = read_tail_filter([part])
    assert wanted.wants(completion(**passing).as_line())
    assert not wanted.wants(completion(**failing).as_line())


def test_values_of_one_part_are_alternatives_and_parts_must_all_hold() -> None:
    """Two statuses, one source."""
    wanted = read_tail_filter([("status", "ok"), ("status", "error"), ("source", "llm")])
    assert wanted.wants(completion(outcome="error").as_line())
    assert not wanted.wants(completion(outcome="canceled").as_line())
    assert not wanted.wants(completion(source="cached").as_line())


def test_a_share_of_the_requests_is_the_same_share_for_everybody() -> None:
    """By run, so that two watchers see the same requests; and about as many as were asked for."""
    lines = [completion(run_id=f"run{number}").as_line() for number in range(2000)]
    kept = [[line for line in lines if read_tail_filter([("sampling-rate", rate)]).wants(line)]
            for rate in ("0.1", "0.1", "0.5")]  # fmt: skip
    assert kept[0] == kept[1]
    assert 140 < len(kept[0]) < 260
    assert all(line in kept[2] for line in kept[0])


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("stat", "ok"), "'stat' is not a filter; there are status, source"),
        (("status", "fine"), "status 'fine' is unknown; it is one of ok, error, canceled, degraded"),
        (("source", "gpt"), "source 'gpt' is unknown"),
        (("slower-than", "fast"), "slower-than 'fast' is no number of milliseconds, 0 or more"),
        (("slower-than", "-1"), "is no number of milliseconds"),
        (("slower-than", "nan"), "is no number of milliseconds"),
        (("sampling-rate", "0"), "sampling-rate '0' is no number above 0 and at most 1"),
        (("sampling-rate", "1.5"), "is no number above 0 and at most 1"),
        (("filter-dropped", "yes"), "filter-dropped 'yes' is neither true nor false"),
        (("account", " "), "account must have 1 to 200 characters"),
        (("search", "x" * 201), "search must have 1 to 200 characters"),
    ],
)
def test_a_filter_that_cannot_be_read_is_refused_with_what_would_do(
    pair: tuple[str, str], message: str
) -> None:
    """Never taken for something else, and never ignored."""
    with pytest.raises(TailRefused, match=message):
        read_tail_filter([pair])


def test_a_filter_survives_its_way_through_a_url() -> None:
    """The command writes what the server reads."""
    pairs = [
        ("status", "error"), ("status", "ok"), ("source", "degraded"), ("account", "a"), ("index", "i"),
        ("prompt-version", "7"), ("slower-than", "12.5"), ("search", "Red Mug"), ("filter-dropped", "true"),
        ("sampling-rate", "0.25"),
    ]  # fmt: skip
    wanted = read_tail_filter(pairs)
    assert read_tail_filter(wanted.parameters()) == wanted


@pytest.mark.parametrize(
    "part", [("status", "ok"), ("source", "llm"), ("account", "shop"), ("index", "main")]
)
def test_a_line_with_something_else_under_a_name_is_not_wanted(part: tuple[str, str]) -> None:
    """A file may hold lines of other programs, with a list or an object where ours have a word."""
    names = ("outcome", "source", "account", "index", "timings")
    assert not read_tail_filter([part]).wants({name: [1] for name in names})
