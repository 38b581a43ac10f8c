"""The token budget: per account, per day of UTC, in bounded memory."""

from __future__ import annotations

from worker.llm.token_budget import TokenBudget
from worker.planning.plan import TokenUsage

USAGE = TokenUsage(input=60, output=30, thoughts=10, cached=50)


def test_input_output_and_thoughts_are_spent() -> None:
    """Cached tokens are part of the input already."""
    budget = TokenBudget(lambda: 0.0, tokens_per_day=150)
    budget.spend("acme", USAGE)
    assert (budget.spent_today("acme"), budget.allows("acme")) == (100, True)
    budget.spend("acme", USAGE)
    assert (budget.spent_today("acme"), budget.allows("acme")) == (200, False)
    assert budget.allows("other")


def test_a_new_day_starts_at_midnight_utc() -> None:
    """Not a day after the first call."""
    now = [86_399.0]
    budget = TokenBudget(lambda: now[0], tokens_per_day=100)
    budget.spend("acme", USAGE)
    assert not budget.allows("acme")
    now[0] = 86_400.0
    assert (budget.spent_today("acme"), budget.allows("acme")) == (0, True)


def test_without_a_limit_everything_is_allowed_and_still_counted() -> None:
    """A shop that sets no limit sees what it spends."""
    budget = TokenBudget(lambda: 0.0)
    for _ in range(100):
        budget.spend("acme", USAGE)
    assert (budget.allows("acme"), budget.spent_today("acme")) == (True, 10_000)


def test_the_account_unused_for_longest_is_forgotten() -> None:
    """Memory does not grow with every account that was ever seen."""
    budget = TokenBudget(lambda: 0.0)
    for number in range(10_000):
        budget.spend(f"account-{number}", USAGE)
    budget.spend("account-0", USAGE)
    budget.spend("one-more", USAGE)
    assert budget.spent_today("account-0") == 200
    assert budget.spent_today("account-1") == 0
