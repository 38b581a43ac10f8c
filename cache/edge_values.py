"""Small values with times of their own in the same edge cache: chat suggestions, fetched documents.

A value that cannot be read is absent, one that cannot be stored is forgotten: the caller computes it again.
`compute_once` lets one of many equal callers do that, in whatever process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from cache.counters import CacheCounters
from cache.decision import Outcome
from cache.edge_cache import QUERY_KIND, EdgeCache, EdgeKey, EdgeTimes, EdgeValue
from cache.errors import FlightAbandoned, InvalidKey
from cache.lookup import EDGE_WRITE_SECONDS
from cache.single_flight import Seat, SingleFlight
from cache.tier_calls import TierCalls

SUGGESTION_TIMES = EdgeTimes(fresh_seconds=30 * 86_400, max_age_seconds=30 * 86_400)
"""Source: flow document, chat suggestions."""

DOCUMENT_TIMES = EdgeTimes(fresh_seconds=300, max_age_seconds=300)
"""An index that changes makes other keys, so this bounds only what an engine does not tell of."""

_MAX_FLIGHTS = 3
"""Leaders that go away before a caller computes for itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """A value that was just made; one that `is_kept` False serves those who ask now and nobody later."""

    value: bytes
    is_kept: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundValue:
    """A value, and where it came from: stored before, from an equal caller, or made by this one."""

    value: bytes
    source: Literal["edge", "flight", "computed"]
    is_kept: bool = True


Compute = Callable[[], Awaitable[Computed | None]]
"""Makes a value; None where it cannot be made, which ends the flight for all who wait for it."""


class EdgeValues:
    """Reads and writes values by account, kind and text."""

    def __init__(
        self,
        edge: EdgeCache,
        calls: TierCalls[EdgeValue | None],
        counters: CacheCounters,
        flights: SingleFlight,
    ) -> None:
        self._edge = edge
        self._calls = calls
        self._counters = counters
        self._flights = flights

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

    async def compute_once(
        self, account_id: str, kind: str, text: str, compute: Compute, times: EdgeTimes
    ) -> FoundValue | None:
        """Return a value that `get` did not find; of many equal callers a single one computes it.

        What `compute` raises is raised to its caller alone; the others then take their turn.
        """
        for _ in range(_MAX_FLIGHTS):
            # No key of an answer starts like this: it would have its account's name and a delimiter.
            async with self._flights.join(f"value\n{_key(account_id, kind, text)!r}", _nothing) as seat:
                if seat.leads:
                    return await self._lead(seat, (account_id, kind, text), compute, times)
                try:
                    return await _follow(seat)
                except FlightAbandoned:
                    continue
        return _made(await compute())

    async def _lead(
        self, seat: Seat, where: tuple[str, str, str], compute: Compute, times: EdgeTimes
    ) -> FoundValue | None:
        # Another flight may have landed between this caller's lookup and its turn.
        stored = await self.get(*where)
        if stored is not None:
            seat.publish(_KEPT + stored)
            await seat.finish()
            return FoundValue(value=stored, source="edge")
        made = _made(await compute())
        if made is not None:
            seat.publish((_KEPT if made.is_kept else _NOT_KEPT) + made.value)
            if made.is_kept:
                await self.put(*where, made.value, times)
        await seat.finish()
        return made


_KEPT, _NOT_KEPT = b"K", b"N"


async def _nothing() -> None:
    return None


def _made(computed: Computed | None) -> FoundValue | None:
    if computed is None:
        return None
    return FoundValue(value=computed.value, source="computed", is_kept=computed.is_kept)


async def _follow(seat: Seat) -> FoundValue | None:
    async with aclosing(seat.events()) as events:
        async for event in events:
            return FoundValue(value=event[1:], source="flight", is_kept=event[:1] == _KEPT)
    return None


def _key(account_id: str, kind: str, text: str) -> EdgeKey:
    if not account_id or not kind or kind == QUERY_KIND:
        raise InvalidKey(f"edge value needs an account and a kind other than 'query', got {kind!r}")
    if len(text) > 256:
        text = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=32).hexdigest()
    return EdgeKey(account_id, kind, text)
