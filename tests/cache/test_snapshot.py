"""What metrics read: every number is what happened, every label is one of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from cache.decision import Outcome
from cache.edge_values import SUGGESTION_TIMES
from cache.keys import QueryKey
from cache.membership_filter import FilterVerdict
from tests.support.cache_process import cache_process, settled
from tests.support.clocks import FakeClock
from tests.support.fault_proxy import FaultProxy
from tests.support.redis_server import RedisServer

pytestmark = pytest.mark.anyio

KEY = QueryKey.of("acme", "shoes", "red running shoes")
OTHER = QueryKey.of("acme", "shoes", "blue running shoes")


async def test_each_lookup_counts_where_it_ended_and_in_every_tier_that_it_asked(tmp_path: Path) -> None:
    """Hits, stale hits, misses by reason, negatives. Source: docs/caching.md, counters."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock) as cache:
        await cache.store(KEY, b"plan", {"prompt": "v1"})
        await cache.lookup(KEY)
        await cache.lookup(KEY, expect={"prompt": "v2"})
        clock.advance(4000)
        await cache.lookup(KEY)
        await settled(cache)
        await cache.rebuild_filter("acme", "shoes")
        await cache.poll_changes()
        await cache.lookup(OTHER)
        seen = cache.snapshot()
    assert seen.lookups == {"hit": 1, "edge_outdated": 1, "stale": 1, "never_stored": 1}
    assert (seen.edge.hits, seen.edge.stale) == (1, 1)
    assert {outcome: count for outcome, count in seen.edge.misses.items() if count} == {
        Outcome.OUTDATED: 1,
        Outcome.MISS: 1,
    }
    assert (seen.table.hits, seen.table.misses[Outcome.OUTDATED], seen.table.reads) == (0, 1, 1)
    assert (seen.filter.negatives, seen.filter.maybes[FilterVerdict.ADDED]) == (1, 1)
    assert seen.stores == {"stored": 1}


async def test_the_filters_are_told_as_sums_without_a_name(tmp_path: Path) -> None:
    """Keys, bytes, age and keys since the build; no account and no index."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock) as cache:
        empty = cache.snapshot().filter
        for index in ("shoes", "hats"):
            for number in range(10):
                await cache.store(QueryKey.of("acme", index, f"q{number}"), b"plan")
            await cache.rebuild_filter("acme", index)
        clock.advance(60)
        await cache.store(KEY, b"plan")
        seen = cache.snapshot()
    assert (empty.scopes, empty.oldest_seconds, empty.false_positive_rate) == (0, None, None)
    assert (seen.filter.scopes, seen.filter.keys, seen.filter.added) == (2, 20, 21)
    assert seen.filter.oldest_seconds == 60
    assert seen.filter.bytes_used > 100
    assert seen.edge.bytes_used is not None
    assert seen.edge.bytes_used > 21 * 400
    assert "acme" not in repr(seen)
    assert "shoes" not in repr(seen)


async def test_a_key_that_the_filter_wrongly_let_through_is_counted(tmp_path: Path) -> None:
    """The deletion of a stored key is what a false positive looks like: present, and not there."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock) as cache:
        await cache.store(KEY, b"plan")
        clock.advance(120)
        await cache.rebuild_filter("acme", "shoes")
        await cache.rebuild_filter("acme", "shoes")
        await cache._tiers.table.delete(KEY, written_at_ms=int(clock() * 1000))
        await cache._lookup.remove_from_edge(KEY)
        assert (await cache.lookup(KEY)).reason == "not_stored"
        seen = cache.snapshot().filter
    assert (seen.false_positives, seen.maybes[FilterVerdict.PRESENT]) == (1, 1)
    assert seen.false_positive_rate == 1.0


async def test_a_tier_that_fails_shows_its_errors_and_its_breaker(
    tmp_path: Path, shared_redis: RedisServer
) -> None:
    """Five failures open the breaker of reads alone."""
    async with FaultProxy(shared_redis.port) as proxy:
        url = f"redis://127.0.0.1:{proxy.port}/0"
        async with cache_process(
            tmp_path, environment=f"snapshot-{tmp_path.name}", edge="redis", redis_url=url
        ) as cache:
            await proxy.stop()
            for number in range(6):
                await cache.lookup(QueryKey.of("acme", "shoes", f"q{number}"))
            seen = cache.snapshot()
            await proxy.start()
    assert (seen.edge.errors[Outcome.ERROR], seen.edge.misses[Outcome.OPEN]) == (5, 1)
    assert (seen.edge.reads_open, seen.edge.writes_open, seen.table.reads_open) == (True, False, False)
    assert seen.edge.bytes_used is None


async def test_other_values_are_counted_by_kind(tmp_path: Path) -> None:
    """Suggestions and documents beside answers."""
    async with cache_process(tmp_path) as cache:
        await cache.edge.get("acme", "suggestions", "tent-1")
        await cache.edge.put("acme", "suggestions", "tent-1", b"[]", SUGGESTION_TIMES)
        await cache.edge.get("acme", "suggestions", "tent-1")
        await cache.lookup(KEY)
        assert cache.snapshot().values == {"suggestions": {"hit": 1, "miss": 1}}
