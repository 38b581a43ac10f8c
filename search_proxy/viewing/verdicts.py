"""Remembers for a short while what a permission service said of one document to one set of groups.

A verdict belongs to account, index and its generation, groups and document; asking with any other of these
finds nothing. It ends by a clock that only goes forward, so setting a machine's time back prolongs nothing.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable

from search_proxy.viewing.gate import View

MAX_VERDICTS = 200_000
"""About 50 MB of keys at most; the least recently used go first."""

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

    def known(self, view: View, service: str, ids: Iterable[str]) -> dict[str, bool]:
        """Return what is still known of these documents."""
        found: dict[str, bool] = {}
        if view.generation is None:
            return found
        moment = self._now()
        for identifier in ids:
            key = _key(view, service, identifier)
            verdict = self._known.get(key)
            if verdict is None:
                continue
            if verdict[0] <= moment:
                del self._known[key]
                continue
            self._known.move_to_end(key)
            found[identifier] = verdict[1]
        return found

    def keep(
        self, view: View, service: str, ids: Iterable[str], allowed: Collection[str], seconds: float
    ) -> None:
        """Remember for `seconds` which of `ids` are among the allowed; nothing without a generation."""
        if view.generation is None or seconds <= 0:
            return
        until = self._now() + seconds
        for identifier in ids:
            key = _key(view, service, identifier)
            self._known[key] = (until, identifier in allowed)
            self._known.move_to_end(key)
        while len(self._known) > self._max_verdicts:
            self._known.popitem(last=False)


def _key(view: View, service: str, identifier: str) -> _Key:
    return (view.account_id, view.index, view.generation or "", service, view.groups, identifier)
