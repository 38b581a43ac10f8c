"""What a person sees of a request, and of many."""

from __future__ import annotations

import pytest

from tests.worker.tail.completions import completion
from worker.tail.pretty import Pretty
from worker.tail.tail_summary import TailSummary, percentile


def test_stages_are_bars_on_the_requests_own_time_line() -> None:
    """A stage that starts at a fifth and lasts three fifths is drawn there; the order is that of starting."""
    drawn = Pretty(width=83).request(completion().as_line()).splitlines()
    assert len(drawn) == 3
    first, plan = drawn[1], drawn[2]
    assert first.startswith("    first hits")
    assert plan.startswith("    model: plan")
    bar = plan[plan.index("▕") + 1 : plan.index("▏", plan.index("█"))]
    assert len(bar) == 50
    assert bar == " " * 10 + "█" * 30 + " " * 10
    assert plan.endswith("60.0 ms")


def test_colours_are_there_only_when_asked_for() -> None:
    """A file or a pipe gets plain text."""
    line = completion(outcome="error").as_line()
    assert "\x1b[31m" in Pretty(colored=True).request(line)
    assert "\x1b" not in Pretty().request(line)


def test_a_hostile_query_cannot_steer_the_terminal() -> None:
    """Control characters and line breaks of a shopper are shown as question marks."""
    line = completion(query="\x1b[2Jgone\nfake ok line\x07", index="i\x1b]0;x").as_line()
    drawn = Pretty().request(line)
    assert "\x1b" not in drawn
    assert "\x07" not in drawn
    assert "?[2Jgone?fake ok line?" in drawn


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"timings": "no", "starts": []},
        {"timings": {"E2E": None}, "starts": {"X": 1}},
        {"timings": {"E2E": 5, "X": True}, "starts": {"X": "a"}},
        {"timings": {"E2E": 0}, "starts": {"X": 0}},
    ],
)
def test_a_line_of_another_shape_is_shown_as_far_as_it_goes(line: dict[str, object]) -> None:
    """Logs are old, cut or from elsewhere."""
    assert Pretty().request(line).count("\n") == 1


def test_the_summary_counts_sources_and_gives_percentiles_of_every_stage() -> None:
    """p50 and p95 by nearest rank, and what was left out."""
    summary = TailSummary()
    for number in range(1, 101):
        source = "llm" if number % 4 else "cached"
        summary.add(completion(source=source, timings={"E2E": float(number)}).as_line())
    summary.skipped = 100
    text = summary.text()
    assert "100 requests; 100 more were left out under load (50% shown)" in text
    assert "by source: llm 75, cached 25" in text
    assert text.splitlines()[-1].split() == ["whole", "request", "50.0", "95.0", "100"]
    assert percentile([7.0], 0.95) == 7.0
