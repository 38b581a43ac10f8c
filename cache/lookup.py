"""Asks the tiers in order of cost: edge cache, negative filter, table. Step 3 of a request.

A tier that fails, is slow or holds something unusable is a miss of that tier, never an error. What the table
has goes to the edge cache. A stale edge value is served while one caller per lease reads the table again and,
where that has nothing, asks the model. Source: flow document, step 3; design, decision 14.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from cache.background_work import BackgroundWork
from cache.counters import CacheCounters
from cache.decision import CacheDecision, Outcome, TierStep, reason_of_miss
from cache.edge_cache import QUERY_KIND, REFRESH_LEASE_SECONDS, EdgeCache, EdgeKey, EdgeTimes, EdgeValue
from cache.entry import CacheEntry
from cache.errors import EntryDamaged, TierUnavailable
from cache.keys import QueryKey
from cache.membership_filter import FilterVerdict, MembershipFilter
from cache.query_table import QueryTable, TableRow
from cache.refresh_leases import RefreshLeases
from cache.tier_calls import Answer, TierCalls

logger = logging.getLogger(__name__)

Refresh = Callable[[], Awaitable[None]]
"""Answers the question anew and stores the answer; run in the background, by one caller per lease."""

IsAnswer = Callable[[bytes], bool]
"""Says whether a payload is an answer that this program can read; the cache itself never looks into one."""

BeginGet = Callable[[EdgeKey, Callable[[EdgeValue | None], None], Callable[[], None]], bool]
"""What an edge cache has besides where it can be asked without a task."""

EDGE_WRITE_SECONDS = 1.0
_REFRESH_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiers:
    """The parts that a lookup asks."""

    edge: EdgeCache
    filter: MembershipFilter
    table: QueryTable
    edge_calls: TierCalls[EdgeValue | None]
    table_calls: TierCalls[TableRow | None]
    background: BackgroundWork
    counters: CacheCounters
    times: EdgeTimes
    dropped_at_ms: dict[str, int]
    """When each account's entries were dropped; older ones are misses, wherever they turn up."""


def edge_key(key: QueryKey) -> EdgeKey:
    """Return where the edge cache keeps the answer to a question."""
    return EdgeKey(key.account_id, QUERY_KIND, key.text)


class TieredLookup:
    """Looks questions up."""

    def __init__(self, tiers: Tiers) -> None:
        self._tiers = tiers
        self._leases = RefreshLeases()
        self._begin: BeginGet | None = getattr(tiers.edge, "begin", None)

    async def find(
        self,
        key: QueryKey,
        expect: Mapping[str, str],
        refresh: Refresh | None = None,
        is_answer: IsAnswer | None = None,
    ) -> CacheDecision:
        """Return the answer, or why there is none."""
        started = time.perf_counter()
        steps: list[TierStep] = []
        tier: str | None = None
        entry = await self._from_edge(key, expect, steps, is_answer)
        if entry is not None:
            tier = "edge"
            self._tiers.filter.note_use(key)
            if steps[-1].outcome == Outcome.STALE and self._leases.claim(key.text, REFRESH_LEASE_SECONDS):
                self._tiers.background.start(self._refresh(key, expect, refresh, is_answer), name="refresh")
        elif self._may_be_in_table(key, steps):
            entry = await self._from_table(key, expect, steps, is_answer)
            tier = "table" if entry is not None else None
        decided = tuple(steps)
        reason = steps[-1].outcome if entry is not None else reason_of_miss(decided)
        self._tiers.counters.count("lookup", reason)
        return CacheDecision(
            key_text=key.text,
            entry=entry,
            tier=tier,
            reason=reason,
            steps=decided,
            ms=(time.perf_counter() - started) * 1000,
        )

    async def find_at_edge(
        self, key: QueryKey, expect: Mapping[str, str], is_answer: IsAnswer | None = None
    ) -> CacheEntry | None:
        """Return what the edge cache has, fresh or stale; no lookup of its own, so it is not counted."""
        return await self._from_edge(key, expect, None, is_answer)

    async def put_at_edge(self, key: QueryKey, blob: bytes, times: EdgeTimes | None = None) -> Outcome | None:
        """Store an entry in the edge cache; return what went wrong, if anything did."""
        tiers = self._tiers

        async def put() -> None:
            await tiers.edge.put(edge_key(key), blob, times or tiers.times)

        return (await tiers.edge_calls.write(put, deadline_seconds=EDGE_WRITE_SECONDS)).failure

    async def remove_from_edge(self, key: QueryKey) -> Outcome | None:
        """Remove an entry from the edge cache; return what went wrong, if anything did."""
        tiers = self._tiers

        async def remove() -> None:
            await tiers.edge.remove(edge_key(key))

        return (await tiers.edge_calls.write(remove, deadline_seconds=EDGE_WRITE_SECONDS)).failure

    async def _from_edge(
        self,
        key: QueryKey,
        expect: Mapping[str, str],
        steps: list[TierStep] | None,
        is_answer: IsAnswer | None,
    ) -> CacheEntry | None:
        started = time.perf_counter()
        tiers = self._tiers
        where = edge_key(key)
        if tiers.edge.is_local:
            answer: Answer[EdgeValue | None] = Answer(value=await tiers.edge.get(where))
        else:
            begin = None if self._begin is None else partial(self._begin, where)
            answer = await tiers.edge_calls.read(key.text, lambda: tiers.edge.get(where), begin=begin)
        entry: CacheEntry | None = None
        outcome, detail = answer.failure or Outcome.MISS, answer.detail
        if answer.value is not None:
            entry, outcome, detail = self._judge(answer.value.value, key, expect, is_answer)
            if entry is not None and answer.value.is_stale:
                outcome = Outcome.STALE
        if outcome is Outcome.DAMAGED:
            logger.warning("cache_entry_damaged", extra={"tier": "edge", "key": key.text, "error": detail})
            await self.remove_from_edge(key)
            detail = ""
        if steps is not None:
            self._note(steps, "edge", outcome, started, detail)
        return entry

    def _may_be_in_table(self, key: QueryKey, steps: list[TierStep]) -> bool:
        started = time.perf_counter()
        verdict = self._tiers.filter.verdict(key)
        self._note(steps, "filter", verdict, started)
        return verdict is not FilterVerdict.ABSENT

    async def _from_table(
        self,
        key: QueryKey,
        expect: Mapping[str, str],
        steps: list[TierStep],
        is_answer: IsAnswer | None,
    ) -> CacheEntry | None:
        started = time.perf_counter()
        tiers = self._tiers

        async def promote(row: TableRow | None) -> None:
            if row is not None and self._judge(row.entry, key, expect, is_answer)[0] is not None:
                await self.put_at_edge(key, row.entry)

        answer = await tiers.table_calls.read(key.text, lambda: tiers.table.get(key), promote)
        entry: CacheEntry | None = None
        outcome, detail = answer.failure or Outcome.MISS, answer.detail
        if answer.value is not None:
            entry, outcome, detail = self._judge(answer.value.entry, key, expect, is_answer)
        elif answer.failure is None and steps[-1].outcome == FilterVerdict.PRESENT:
            tiers.counters.count("filter", "false_positive")
        if outcome is Outcome.DAMAGED:
            logger.warning("cache_entry_damaged", extra={"tier": "table", "key": key.text, "error": detail})
            detail = ""
        self._note(steps, "table", outcome, started, detail)
        return entry

    async def _refresh(
        self,
        key: QueryKey,
        expect: Mapping[str, str],
        refresh: Refresh | None,
        is_answer: IsAnswer | None,
    ) -> None:
        tiers = self._tiers
        try:
            async with asyncio.timeout(_REFRESH_SECONDS):
                if not await tiers.edge.claim_refresh(edge_key(key)):
                    return
                row = await tiers.table.get(key)
                if row is not None and self._judge(row.entry, key, expect, is_answer)[0] is not None:
                    await self.put_at_edge(key, row.entry)
                elif refresh is not None:
                    await refresh()
        except (TierUnavailable, TimeoutError) as error:
            logger.warning("cache_refresh_failed", extra={"key": key.text, "error": str(error)})

    def _judge(
        self, blob: bytes, key: QueryKey, expect: Mapping[str, str], is_answer: IsAnswer | None
    ) -> tuple[CacheEntry | None, Outcome, str]:
        try:
            entry = CacheEntry.decode(blob, key)
        except EntryDamaged as error:
            return None, Outcome.DAMAGED, str(error)
        if entry.created_at_ms <= self._tiers.dropped_at_ms.get(key.account_id, -1):
            return None, Outcome.DROPPED, ""
        differs = entry.tag_that_differs(expect)
        if differs is not None:
            return None, Outcome.OUTDATED, differs
        if is_answer is not None and not is_answer(entry.payload):
            return None, Outcome.DAMAGED, "its payload is no answer that this version reads"
        return entry, Outcome.HIT, ""

    def _note(self, steps: list[TierStep], tier: str, outcome: str, started: float, detail: str = "") -> None:
        self._tiers.counters.count(tier, outcome)
        elapsed_ms = (time.perf_counter() - started) * 1000
        steps.append(TierStep(tier=tier, outcome=outcome, ms=elapsed_ms, detail=detail))
