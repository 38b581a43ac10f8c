"""Remembers the last requests of this process, so that a look can say what went wrong with them."""

from __future__ import annotations

from collections import deque

from worker.observe.completion import Completion
from worker.observe.observers import Observers

MOST = 1000
_OBSERVER = "recent"


class RecentRequests:
    """The last completions, oldest first, bounded in number."""

    def __init__(self, observers: Observers) -> None:
        self._last: deque[Completion] = deque(maxlen=MOST)
        observers.add(_OBSERVER, self._last.append)

    def of(self, account_id: str, index: str | None = None) -> list[Completion]:
        """Return an account's last requests, all indexes' or one's."""
        return [
            each
            for each in self._last
            if each.account == account_id and each.purpose == "request" and index in (None, each.index)
        ]
