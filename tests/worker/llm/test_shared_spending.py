"""What accounts spend is counted by all workers together."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from worker.llm.shared_spending import SharedSpending
from worker.llm.token_budget import TokenBudget
from worker.planning.plan import TokenUsage

USAGE = TokenUsage(input=60, output=30, thoughts=10)


def test_two_workers_have_one_budget_and_a_new_day_a_new_one(tmp_path: Path) -> None:
    """Also when the clock jumps back and forth: a day's tokens are that day's."""
    now = [86_400.0 * 5]
    path = tmp_path / "spending"
    with closing(SharedSpending(path)) as one, closing(SharedSpending(path)) as other:
        first = TokenBudget(lambda: now[0], 150, one)
        second = TokenBudget(lambda: now[0], 150, other)
        first.spend("acme", USAGE)
        assert second.allows("acme")
        second.spend("acme", USAGE)
        assert (first.spent_today("acme"), first.allows("acme"), second.allows("acme")) == (200, False, False)
        assert (first.highest_today(), first.allows("other")) == (200, True)
        now[0] += 86_400
        assert (second.spent_today("acme"), second.highest_today(), second.allows("acme")) == (0, 0, True)
        now[0] -= 86_400 * 3
        assert first.allows("acme")
        first.spend("acme", USAGE)
        assert second.spent_today("acme") == 100


def test_accounts_beyond_the_file_are_allowed_and_yesterdays_make_room(tmp_path: Path) -> None:
    """Memory stays what it is."""
    with closing(SharedSpending(tmp_path / "spending")) as spending:
        for number in range(20_000):
            spending.add(f"account-{number}", 1, 5)
        size = (tmp_path / "spending").stat().st_size
        spending.add("late", 2, 7)
        assert spending.of("late", 2) == 7
        assert (tmp_path / "spending").stat().st_size == size
