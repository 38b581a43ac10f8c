"""How many model tokens an account may still spend today.

Counted in this process; with several, each grants the whole budget. A day is a day of UTC.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from worker.planning.plan import TokenUsage

_SECONDS_PER_DAY = 86_400
_MAX_ACCOUNTS = 10_000
"""Accounts remembered; the one unused for longest is forgotten first."""


class TokenBudget:
    """Grants `tokens_per_day` to every account; None is no limit. `clock` is seconds since the epoch."""

    def __init__(self, clock: Callable[[], float], tokens_per_day: int | None = None) -> None:
        self._clock = clock
        self._tokens_per_day = tokens_per_day
        self._spent: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def allows(self, account_id: str, own_limit: int | None = None) -> bool:
        """Return whether the account has tokens left today, of its own limit and of everybody's."""
        spent = self.spent_today(account_id)
        return all(limit is None or spent < limit for limit in (self._tokens_per_day, own_limit))

    def spent_today(self, account_id: str) -> int:
        """Return how many tokens the account has spent today."""
        day, spent = self._spent.get(account_id, (0, 0))
        return spent if day == self._today() else 0

    def highest_today(self) -> int:
        """Return what the account that spent most has spent today."""
        today = self._today()
        return max((spent for day, spent in self._spent.values() if day == today), default=0)

    def spend(self, account_id: str, usage: TokenUsage) -> None:
        """Count a call's tokens, whether it went well or not."""
        tokens = usage.input + usage.output + usage.thoughts
        self._spent[account_id] = (self._today(), self.spent_today(account_id) + tokens)
        self._spent.move_to_end(account_id)
        if len(self._spent) > _MAX_ACCOUNTS:
            self._spent.popitem(last=False)

    def _today(self) -> int:
        return int(self._clock() // _SECONDS_PER_DAY)
