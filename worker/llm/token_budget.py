"""How many model tokens an account may still spend today.

Counted in this process, or by all worker processes of a server together. A day is a day of UTC.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from worker.planning.plan import TokenUsage

_SECONDS_PER_DAY = 86_400
_MAX_ACCOUNTS = 10_000
"""Accounts remembered; the one unused for longest is forgotten first."""


class Spending(Protocol):
    """Remembers tokens by account and day; yesterday may be forgotten."""

    def of(self, account_id: str, day: int) -> int:
        """Return what the account has spent on that day."""
        ...

    def add(self, account_id: str, day: int, tokens: int) -> None:
        """Add to what the account has spent on that day."""
        ...

    def highest(self, day: int) -> int:
        """Return the most that an account has spent on that day."""
        ...


class OwnSpending:
    """The spending of one process."""

    def __init__(self) -> None:
        self._spent: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def of(self, account_id: str, day: int) -> int:
        """Return what the account has spent on that day."""
        known, spent = self._spent.get(account_id, (0, 0))
        return spent if known == day else 0

    def add(self, account_id: str, day: int, tokens: int) -> None:
        """Add to what the account has spent on that day."""
        self._spent[account_id] = (day, self.of(account_id, day) + tokens)
        self._spent.move_to_end(account_id)
        if len(self._spent) > _MAX_ACCOUNTS:
            self._spent.popitem(last=False)

    def highest(self, day: int) -> int:
        """Return the most that an account has spent on that day."""
        return max((spent for known, spent in self._spent.values() if known == day), default=0)


class TokenBudget:
    """Grants `tokens_per_day` to every account; None is no limit. `clock` is seconds since the epoch."""

    def __init__(
        self,
        clock: Callable[[], float],
        tokens_per_day: int | None = None,
        spending: Spending | None = None,
    ) -> None:
        self._clock = clock
        self.tokens_per_day = tokens_per_day
        self._spending = spending or OwnSpending()

    def allows(self, account_id: str, own_limit: int | None = None) -> bool:
        """Return whether the account has tokens left today, of its own limit and of everybody's."""
        spent = self.spent_today(account_id)
        return all(limit is None or spent < limit for limit in (self.tokens_per_day, own_limit))

    def spent_today(self, account_id: str) -> int:
        """Return how many tokens the account has spent today."""
        return self._spending.of(account_id, self._today())

    def highest_today(self) -> int:
        """Return what the account that spent most has spent today."""
        return self._spending.highest(self._today())

    def spend(self, account_id: str, usage: TokenUsage) -> None:
        """Count a call's tokens, whether it went well or not."""
        tokens = usage.input + usage.output + usage.thoughts
        self._spending.add(account_id, self._today(), tokens)

    def _today(self) -> int:
        return int(self._clock() // _SECONDS_PER_DAY)
