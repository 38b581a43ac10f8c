"""Small values with times of their own in the same edge cache: chat suggestions, fetched documents.

A value that cannot be read is absent, one that cannot be stored is forgotten: the caller computes it again.
"""

from __future__ import annotations

import hashlib

from cache.counters import CacheCounters
from cache.decision import Outcome
from cache.edge_cache import QUERY_KIND, EdgeCache, EdgeKey, EdgeTimes, EdgeValue
from cache.errors import InvalidKey
from cache.lookup import EDGE_WRITE_SECONDS
from cache.tier_calls import TierCalls

SUGGESTION_TIMES = EdgeTimes(fresh_seconds=30 * 86_400, max_age_seconds=30 * 86_400)
"""Source: flow document, chat suggestions."""


class EdgeValues:
    """Reads and writes values by account, kind and text."""

    def __init__(self, edge: EdgeCache, calls: TierCalls[EdgeValue | None], counters: CacheCounters) -> None:
        self._edge = edge
        self._calls = calls
        self._counters = counters

    async def get(self, account_id: str, kind: str, text: str) -> bytes | None:
        """Return a value that is not past its max age, fresh or stale."""
        key = _key(account_id, kind, text)
        if self._edge.is_local:
            found = await self._edge.get(key)
            outcome: str = Outcome.MISS if found is None else Outcome.HIT
        else:
            answer = await self._calls.read(key, lambda: self._edge.get(key))
            found = answer.value
            outcome = answer.failure or (Outcome.MISS if found is None else Outcome.HIT)
        self._counters.count(kind, outcome)
        return found.value if found is not None else None

    async def put(self, account_id: str, kind: str, text: str, value: bytes, times: EdgeTimes) -> bool:
        """Store a value; return whether it was stored."""
        key = _key(account_id, kind, text)

        async def put() -> None:
            await self._edge.put(key, value, times)

        answer = await self._calls.write(put, deadline_seconds=EDGE_WRITE_SECONDS)
        return answer.failure is None


def _key(account_id: str, kind: str, text: str) -> EdgeKey:
    if not account_id or not kind or kind == QUERY_KIND:
        raise InvalidKey(f"edge value needs an account and a kind other than 'query', got {kind!r}")
    if len(text) > 256:
        text = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=32).hexdigest()
    return EdgeKey(account_id, kind, text)
