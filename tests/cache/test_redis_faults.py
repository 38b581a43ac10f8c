"""Redis stopped, restarted, slow, full, read-only, cut: the table answers, and the log names the tier."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from cache.errors import CacheError
from cache.keys import QueryKey
from cache.query_cache import QueryCache, StoreReport
from cache.redis_connection import open_redis
from tests.support.cache_process import cache_process, settled
from tests.support.clocks import FakeClock
from tests.support.fault_proxy import FaultProxy
from tests.support.redis_server import RedisServer, redis_server

pytestmark = pytest.mark.anyio

KEY = QueryKey.of("acme", "shoes", "red running shoes")


@pytest.fixture
async def redis(shared_redis: RedisServer) -> AsyncIterator[Redis]:
    """Yield a client that goes past the proxy."""
    client = open_redis(shared_redis.url)
    yield client
    await client.aclose()


@pytest.fixture
async def proxy(shared_redis: RedisServer) -> AsyncIterator[FaultProxy]:
    """Yield a proxy before the shared Redis."""
    async with FaultProxy(shared_redis.port) as running:
        yield running


@pytest.fixture
async def cache(tmp_path: Path, proxy: FaultProxy) -> AsyncIterator[QueryCache]:
    """Yield a cache whose edge is Redis behind the proxy."""
    async with _behind(proxy, tmp_path) as opened:
        yield opened


def _behind(proxy: FaultProxy, folder: Path, **config: Any) -> Any:
    url = f"redis://127.0.0.1:{proxy.port}/0"
    return cache_process(folder, environment=f"faults-{folder.name}", edge="redis", redis_url=url, **config)


async def _steps(cache: QueryCache, key: QueryKey = KEY) -> list[str]:
    return [str(step) for step in (await cache.lookup(key)).steps]


def _failed_tiers(caplog: pytest.LogCaptureFixture) -> set[str]:
    return {record.__dict__["tier"] for record in caplog.records if record.msg == "cache_tier_failed"}


async def test_while_redis_is_away_the_table_answers(
    cache: QueryCache, proxy: FaultProxy, caplog: pytest.LogCaptureFixture
) -> None:
    """Stopped: a miss of the edge, named in log and counters."""
    await cache.store(KEY, b"plan")
    await proxy.stop()
    with caplog.at_level(logging.WARNING):
        assert await _steps(cache) == ["edge=error(TierUnavailable)", "filter=added", "table=hit"]
        await settled(cache)
        assert await cache.store(KEY, b"plan") == StoreReport(table="stored", edge="error")
    assert _failed_tiers(caplog) == {"edge"}
    assert cache.stats()["counts"]["edge"]["failed_error"] == 3


async def test_a_restarted_redis_is_used_again_at_once(tmp_path: Path) -> None:
    """A connection that died in the pool costs no miss beyond what the restart has lost."""
    with redis_server() as server:
        async with cache_process(tmp_path, edge="redis", redis_url=server.url) as cache:
            await cache.store(KEY, b"plan")
            assert await _steps(cache) == ["edge=hit"]
            server.stop()
            server.start()
            assert await _steps(cache) == ["edge=miss", "filter=added", "table=hit"]
            await settled(cache)
            assert await _steps(cache) == ["edge=hit"]


async def test_a_slow_redis_costs_its_budget_and_no_more(tmp_path: Path, proxy: FaultProxy) -> None:
    """The lookup returns while Redis still says nothing."""
    async with _behind(proxy, tmp_path, edge_budget_seconds=0.02) as cache:
        await cache.store(KEY, b"plan")
        proxy.fall_silent()
        assert await _steps(cache) == ["edge=timeout", "filter=added", "table=hit"]
        proxy.speak()
        await settled(cache)


async def test_after_five_failures_redis_is_left_alone_until_the_pause_is_over(
    tmp_path: Path, proxy: FaultProxy
) -> None:
    """The breaker: no budget is spent on a tier that is known to be down; one trial per pause."""
    clock = FakeClock()
    async with _behind(proxy, tmp_path, clock=clock) as cache:
        await cache.store(KEY, b"plan")
        await proxy.stop()
        for number in range(5):
            assert (await _steps(cache, QueryKey.of("acme", "shoes", f"q{number}")))[
                0
            ] == "edge=error(TierUnavailable)"
        await proxy.start()
        asked = proxy.requests
        assert (await _steps(cache))[0] == "edge=open"
        assert "edge_reads" in cache.stats()["open"]
        await settled(cache)
        clock.advance(5.1)
        assert (await _steps(cache))[0] == "edge=hit"
        assert "edge_reads" not in cache.stats()["open"]
        assert proxy.requests > asked


async def test_an_answer_that_is_cut_in_the_middle_is_a_miss(cache: QueryCache, proxy: FaultProxy) -> None:
    """Half a value is never served."""
    await cache.store(KEY, b"plan" * 5000)
    proxy.break_connections()
    proxy.cut_after_bytes = 10_000
    decision = await cache.lookup(KEY)
    assert (decision.tier, str(decision.steps[0])) == ("table", "edge=error(TierUnavailable)")
    assert decision.entry is not None
    assert decision.entry.payload == b"plan" * 5000


async def test_a_full_redis_still_answers_and_the_table_takes_the_writes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Full: what it has is served; what it cannot take is told."""
    other = QueryKey.of("acme", "shoes", "blue shoes")
    with redis_server() as server:
        client = open_redis(server.url)
        async with cache_process(tmp_path, edge="redis", redis_url=server.url) as cache:
            await cache.store(KEY, b"plan")
            await client.config_set("maxmemory", "1")
            assert await cache.store(other, b"plan") == StoreReport(table="stored", edge="error")
            assert await _steps(cache) == ["edge=hit"]
            assert await _steps(cache, other) == ["edge=miss", "filter=added", "table=hit"]
            await settled(cache)
        await client.aclose()
    assert "maxmemory" in caplog.text or any(
        "maxmemory" in str(r.__dict__.get("error")) for r in caplog.records
    )


async def test_a_read_only_redis_still_answers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A replica after a fail-over: reads go on, writes are told."""
    with redis_server() as server:
        client = open_redis(server.url)
        async with cache_process(tmp_path, edge="redis", redis_url=server.url) as cache:
            await cache.store(KEY, b"plan")
            await client.replicaof("127.0.0.1", "1")
            assert await cache.store(KEY, b"plan") == StoreReport(table="stored", edge="error")
            assert await _steps(cache) == ["edge=hit"]
        await client.aclose()
    assert any("read-only" in str(record.__dict__.get("error")) for record in caplog.records)


async def test_a_value_that_somebody_else_has_written_is_a_miss_and_is_removed(
    cache: QueryCache, redis: Redis, tmp_path: Path
) -> None:
    """Foreign and altered bytes: nothing wrong is served as cached."""
    await cache.store(KEY, b"plan")
    prefix = f"aisle:faults-{tmp_path.name}:cache:{{acme}}"
    names = [name async for name in redis.scan_iter(match=f"{prefix}:query:*")]
    assert len(names) == 1
    value = await redis.get(names[0])
    assert isinstance(value, bytes)
    for broken in (b"", b"rubbish", value[:-1], value[:60] + b"?" + value[61:], value[:8] + b"rubbish" * 20):
        await redis.set(names[0], broken)
        assert (await _steps(cache))[0] == "edge=miss"
        await settled(cache)
        await cache.store(KEY, b"plan")
    assert (await _steps(cache))[0] == "edge=hit"


async def test_a_value_copied_to_another_accounts_key_is_not_served(
    cache: QueryCache, redis: Redis, tmp_path: Path
) -> None:
    """The checksum covers account, kind and key. Source: security."""
    rival = QueryKey.of("rival", "shoes", "red running shoes")
    await cache.store(KEY, b"secret plan")
    await cache.store(rival, b"own plan")
    prefix = f"aisle:faults-{tmp_path.name}:cache"
    mine = [name async for name in redis.scan_iter(match=f"{prefix}:{{acme}}:query:*")]
    theirs = [name async for name in redis.scan_iter(match=f"{prefix}:{{rival}}:query:*")]
    stolen, own = await redis.get(mine[0]), await redis.get(theirs[0])
    assert isinstance(stolen, bytes)
    assert isinstance(own, bytes)
    await redis.set(theirs[0], own[:8] + stolen[8:])
    decision = await cache.lookup(rival)
    assert decision.entry is not None
    assert (decision.tier, decision.entry.payload) == ("table", b"own plan")


async def test_an_evicted_generation_makes_misses_and_never_revivals(
    cache: QueryCache, redis: Redis, tmp_path: Path
) -> None:
    """A dropped account does not come back because Redis was short of memory."""
    await cache.store(KEY, b"plan")
    await cache.drop_account("acme")
    await redis.delete(f"aisle:faults-{tmp_path.name}:cache:{{acme}}:generation")
    assert (await _steps(cache))[0] == "edge=miss"


async def test_dropping_an_account_while_redis_is_away_says_so_and_serves_nothing(
    cache: QueryCache, proxy: FaultProxy
) -> None:
    """Its caller must know; this process refuses the old answers all the same."""
    await cache.store(KEY, b"plan")
    await proxy.stop()
    with pytest.raises(CacheError):
        await cache.drop_account("acme")
    await proxy.start()
    decision = await cache.lookup(KEY)
    assert not decision.is_hit
    assert decision.reason == "edge_dropped"


async def test_when_redis_fails_each_process_leads_its_own_flight(
    cache: QueryCache, proxy: FaultProxy
) -> None:
    """No shopper waits for a lease that nobody can give."""
    await proxy.stop()
    async with cache.single_flight(KEY) as seat:
        assert seat.leads
        seat.publish(b"init")
        await seat.finish()


async def test_a_leader_whose_redis_fails_on_the_way_still_finishes(
    tmp_path: Path, proxy: FaultProxy
) -> None:
    """Followers elsewhere are lost, the leader's own shopper is not."""
    async with _behind(proxy, tmp_path) as cache, cache.single_flight(KEY) as seat:
        seat.publish(b"one")
        await proxy.stop()
        seat.publish(b"two")
        await seat.finish()
        assert [event async for event in seat.events()] == [b"one", b"two"]


async def test_a_silent_redis_holds_up_no_leader(tmp_path: Path, proxy: FaultProxy) -> None:
    """Claiming, telling and finishing return while Redis still says nothing."""
    proxy.fall_silent()
    quick = {"edge_budget_seconds": 0.02, "flight_budget_seconds": 0.02}
    async with _behind(proxy, tmp_path, **quick) as cache, cache.single_flight(KEY) as seat:
        assert seat.leads
        seat.publish(b"one")
        await seat.finish()
        assert [event async for event in seat.events()] == [b"one"]
        proxy.speak()


async def test_processes_with_different_prompts_do_not_answer_for_each_other(cache: QueryCache) -> None:
    """During a deployment the old prompt's flight is not the new prompt's."""
    async with (
        cache.single_flight(KEY, expect={"prompt": "v1"}) as old,
        cache.single_flight(KEY, expect={"prompt": "v2"}) as new,
    ):
        assert old.leads
        assert new.leads
