"""The guide explains every word that a log line can show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cache.decision import Outcome
from cache.eligibility import Ineligible
from cache.membership_filter import FilterVerdict

REPO = Path(__file__).resolve().parents[2]
GUIDE = (REPO / "docs" / "caching.md").read_text()
_UNUSABLE = (Outcome.DROPPED, Outcome.OUTDATED, Outcome.DAMAGED)
_FAILED = (Outcome.TIMEOUT, Outcome.ERROR, Outcome.OPEN, Outcome.BUSY)
REASONS = [
    *(f"{tier}_{outcome}" for tier in ("edge", "table") for outcome in _UNUSABLE),
    *(f"table_{outcome}" for outcome in _FAILED),
    *("hit", "stale", "never_stored", "not_stored"),
    *Ineligible,
    *FilterVerdict,
]


@pytest.mark.parametrize("word", REASONS)
def test_every_reason_of_a_miss_has_its_line(word: str) -> None:
    """An operator finds the word of the log line in a table of the guide."""
    assert re.search(rf"^\|[^|]*`{word}`", GUIDE, re.MULTILINE)


def test_every_event_that_the_package_logs_is_named() -> None:
    """No line of the log is a riddle."""
    sources = "".join(path.read_text() for path in (REPO / "cache").glob("*.py"))
    events = set(re.findall(r'logger\.\w+\(\s*"(\w+)"', sources))
    assert events
    assert {event for event in events if f"`{event}`" not in GUIDE} == set()
