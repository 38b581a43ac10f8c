"""Remembers for a short while what a permission service said of one document to one set of groups.

A verdict belongs to account, index and its generation, groups and document; asking with any other of these
finds nothing. Its age is told by a clock that nobody sets, and one from the future counts for nothing.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable

from search_proxy.viewing.gate import View

MAX_VERDICTS = 100_000
"""About 30 MB at most; the least recently used go first."""

_Key = tuple[str, str, str, str, frozenset[str], str]


class Verdicts:
    """Verdicts by view, service and document."""

    def __init__(
        self, *, max_verdicts: int = MAX_VERDICTS, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_verdicts = max_verdicts
        self._now = now
        self._known: OrderedDict[_Key, tuple[float, bool]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def known(self, view: View, service: str, ids: Iterable[str], seconds: float) -> dict[str, bool]:
        """Return what was said of these documents no longer than `seconds` ago."""
        found: dict[str, bool] = {}
        if view.generation is None or seconds <= 0:
            return found
        moment = self._now()
        for identifier in ids:
            key = _key(view, service, identifier)
            verdict = self._known.get(key)
            if verdict is None:
                continue
            if not 0 <= moment - verdict[0] < seconds:
                del self._known[key]
                continue
            self._known.move_to_end(key)
            found[identifier] = verdict[1]
        return found

    def keep(self, view: View, service: str, ids: Iterable[str], allowed: Collection[str]) -> None:
        """Remember which of `ids` are among the allowed; nothing without a generation."""
        if view.generation is None:
            return
        moment = self._now()
        for identifier in ids:
            key = _key(view, service, identifier)
            self._known[key] = (moment, identifier in allowed)
            self._known.move_to_end(key)
        while len(self._known) > self._max_verdicts:
            self._known.popitem(last=False)


def _key(view: View, service: str, identifier: str) -> _Key:
    return (view.account_id, view.index, view.generation or "", service, view.groups, identifier)
