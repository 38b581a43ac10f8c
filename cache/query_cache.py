"""The cache as the worker sees it: look up, store, share one computation, let go.

It stores bytes and never looks into them. `lookup` and `store` never raise for a failing tier: they say what
happened. Administrative calls (`pin`, `delete`, `drop_account`) do raise, because their caller must know.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from cache.change_feed import ChangeFeed
from cache.decision import CacheDecision
from cache.edge_cache import EdgeTimes
from cache.edge_values import EdgeValues
from cache.entry import CacheEntry
from cache.errors import CacheError, EntryTooLarge, InvalidKey
from cache.fuse_filter import FuseFilters
from cache.keys import QueryKey, scope_of
from cache.lookup import IsAnswer, Refresh, TieredLookup, Tiers
from cache.query_table import TableRow
from cache.single_flight import Seat, SingleFlight
from cache.snapshot import CacheSnapshot, filter_snapshot, tier_snapshot, value_counts

_TABLE_WRITE_SECONDS = 3.0

UNCONFIRMED_TIMES = EdgeTimes(fresh_seconds=60.0, max_age_seconds=7200.0)
"""For an answer that the table could not take: a minute later the table is asked what it has instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreReport:
    """What became of an answer in each tier.

    `stored`, `kept` (a pinned or newer one stands), `too_large`, or the `Outcome` of a failure.
    """

    table: str
    edge: str


class QueryCache:
    """The three tiers of one process."""

    def __init__(
        self,
        *,
        tiers: Tiers,
        filters: FuseFilters,
        feed: ChangeFeed,
        flights: SingleFlight,
        values: EdgeValues,
        entry_seconds: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._tiers = tiers
        self._filters = filters
        self._feed = feed
        self._flights = flights
        self._entry_seconds = entry_seconds
        self._clock = clock
        self._lookup = TieredLookup(tiers)
        self.edge = values

    async def lookup(
        self,
        key: QueryKey,
        *,
        expect: Mapping[str, str] | None = None,
        refresh: Refresh | None = None,
        is_answer: IsAnswer | None = None,
    ) -> CacheDecision:
        """Return the stored answer, or why there is none.

        `expect` names tags that an entry must carry to be used (prompt version, model). `refresh` answers a
        stale entry's question anew, in the background, where the table has nothing better. An entry whose
        payload `is_answer` denies is damaged.
        """
        return await self._lookup.find(key, expect or {}, refresh, is_answer)

    async def store(
        self, key: QueryKey, payload: bytes, tags: Mapping[str, str] | None = None
    ) -> StoreReport:
        """Store an answer in table and edge cache; a pinned one is not replaced."""
        now_ms = int(self._clock() * 1000)
        entry = CacheEntry(key_text=key.text, payload=payload, created_at_ms=now_ms, tags=tags or {})
        try:
            blob = entry.encode()
        except EntryTooLarge:
            self._tiers.counters.count("store", "too_large")
            return StoreReport(table="too_large", edge="too_large")
        table = await self._write(key, blob, now_ms)
        if table == "kept":
            failure = await self._lookup.remove_from_edge(key)
        else:
            times = None if table == "stored" else UNCONFIRMED_TIMES
            failure = await self._lookup.put_at_edge(key, blob, times)
        self._tiers.counters.count("store", table)
        return StoreReport(table=table, edge=failure or ("kept" if table == "kept" else "stored"))

    async def pin(self, key: QueryKey, payload: bytes, tags: Mapping[str, str] | None = None) -> None:
        """Store an approved answer that stays until `delete`, whatever prompt or model is in use.

        Raises:
            EntryTooLarge: It is over what the table can hold.
            TierUnavailable: The table could not store it.
        """
        now_ms = int(self._clock() * 1000)
        entry = CacheEntry(
            key_text=key.text, payload=payload, created_at_ms=now_ms, tags=tags or {}, pinned=True
        )
        blob = entry.encode()
        self._filters.add(key, written_at_ms=now_ms)
        row = TableRow(entry=blob, written_at_ms=now_ms, expires_at=None, pinned=True)
        await self._tiers.table.put(key, row)
        await self._lookup.put_at_edge(key, blob)

    async def read(self, key: QueryKey) -> CacheEntry | None:
        """Return what the table has, for people: no budget, no promotion, whatever its tags.

        Raises:
            EntryDamaged: What it has cannot be read.
            TierUnavailable: The table could not answer.
        """
        row = await self._tiers.table.get(key)
        return CacheEntry.decode(row.entry, key) if row is not None else None

    async def delete(self, key: QueryKey) -> bool:
        """Delete an answer, pinned or not; return whether the table had one. Others let go within 5 s.

        Raises:
            TierUnavailable: A tier could not delete it.
        """
        existed = await self._tiers.table.delete(key, written_at_ms=int(self._clock() * 1000))
        failure = await self._lookup.remove_from_edge(key)
        self._tiers.background.start(self._remove_again(key), name="remove-again", until_closing=True)
        if failure is not None:
            raise CacheError(
                f"deleted from the table, but the edge cache answered {str(failure)!r}; delete again"
            )
        return existed

    async def drop_account(self, account_id: str) -> int:
        """Let go of every answer of an account, at once in this process; return how many the table had.

        Raises:
            InvalidKey: The account has no name.
            CacheError: A tier could not; this process serves none of them all the same. Call it again.
        """
        if not account_id:
            raise InvalidKey("account of a cache key is empty")
        now_ms = int(self._clock() * 1000)
        self._tiers.dropped_at_ms[account_id] = now_ms
        failures: list[CacheError] = []
        dropped = 0
        try:
            await self._tiers.edge.drop_account(account_id)
        except CacheError as error:
            failures.append(error)
        try:
            dropped = await self._tiers.table.drop_account(account_id, written_at_ms=now_ms)
        except CacheError as error:
            failures.append(error)
        await self._filters.drop_account(account_id)
        if failures:
            raise failures[0]
        return dropped

    @asynccontextmanager
    async def single_flight(
        self,
        key: QueryKey,
        *,
        expect: Mapping[str, str] | None = None,
        is_answer: IsAnswer | None = None,
    ) -> AsyncIterator[Seat]:
        """Take a seat in the computation of an answer: lead it, follow it, or find it done.

        A leader publishes each event, stores the answer, then calls `finish`; one that leaves without it
        abandons its followers, who look up and join again.
        """

        async def recheck() -> CacheEntry | None:
            return await self._lookup.find_at_edge(key, expect or {}, is_answer)

        # Processes that run different prompts do not answer for each other.
        flight = f"{key.text}\n{sorted((expect or {}).items())!r}"
        async with self._flights.join(flight, recheck) as seat:
            yield seat

    async def rebuild_filter(self, account_id: str, index: str) -> int:
        """Build the negative filter of an account's index from the table; return its keys.

        Raises:
            FilterBusy: Another process builds it right now.
            TierUnavailable: The table could not be read.
        """
        return await self._filters.rebuild(account_id, index)

    async def load_filter(self, account_id: str, index: str) -> None:
        """Load the filter of an account's index now; done by itself with the first lookup.

        Raises:
            OSError: Its file cannot be looked for.
        """
        await self._filters.refresh(scope_of(account_id, index))

    async def count_keys(self, account_id: str, index: str) -> int:
        """Return how many keys the table has for an index, deleted ones of the last day included.

        Raises:
            TierUnavailable: The table could not answer.
        """
        async with aclosing(self._tiers.table.changes(scope_of(account_id, index), 0)) as pages:
            return sum([len(page) async for page in pages])

    async def poll_changes(self) -> None:
        """Learn now what other processes have written; done every two seconds by itself.

        Raises:
            TierUnavailable: The table could not answer.
        """
        await self._feed.poll()

    async def settle(self) -> None:
        """Return when the reads, promotions and refreshes that are under way have ended."""
        await self._tiers.edge_calls.settle()
        await self._tiers.background.settle()

    def snapshot(self) -> CacheSnapshot:
        """Return what the cache counts of itself, for metrics."""
        tiers, counts = self._tiers, self._tiers.counters.by_tier()
        edge, table = tiers.edge_calls, tiers.table_calls
        return CacheSnapshot(
            lookups=counts.get("lookup", {}),
            edge=tier_snapshot("edge", tiers.counters, edge.reads, edge.writes, tiers.edge.used_bytes),
            filter=filter_snapshot(tiers.counters, self._filters.describe()),
            table=tier_snapshot("table", tiers.counters, table.reads, table.writes),
            values=value_counts(tiers.counters),
            stores=counts.get("store", {}),
            flights=len(self._flights),
            background=len(tiers.background),
        )

    def stats(self) -> dict[str, Any]:
        """Return counters, filters by account and index, and the open breakers, for operators."""
        tiers = self._tiers
        breakers = {
            "edge_reads": tiers.edge_calls.reads,
            "edge_writes": tiers.edge_calls.writes,
            "table_reads": tiers.table_calls.reads,
            "table_writes": tiers.table_calls.writes,
        }
        return {
            "counts": tiers.counters.by_tier(),
            "filter_false_positive_rate": tiers.counters.false_positive_rate(),
            "filters": self._filters.describe(),
            "open": [name for name, breaker in breakers.items() if breaker.is_open],
            "background": len(tiers.background),
            "flights": len(self._flights),
        }

    async def _remove_again(self, key: QueryKey) -> None:
        # A read that was under way during the deletion may have put its find back at the edge.
        await asyncio.sleep(_TABLE_WRITE_SECONDS)
        await self._lookup.remove_from_edge(key)

    async def _write(self, key: QueryKey, blob: bytes, now_ms: int) -> str:
        # Known to the filter before it is in the table: no lookup may deny it once it is there.
        self._filters.add(key, written_at_ms=now_ms)
        self._feed.note_own(key.text, now_ms)
        row = TableRow(
            entry=blob, written_at_ms=now_ms, expires_at=now_ms // 1000 + self._entry_seconds, pinned=False
        )
        answer = await self._tiers.table_calls.write(
            lambda: self._tiers.table.put(key, row), deadline_seconds=_TABLE_WRITE_SECONDS
        )
        if answer.failure is not None:
            return str(answer.failure)
        return "stored" if answer.value else "kept"
