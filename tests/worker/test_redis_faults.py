"""Redis stopped, restarted, slow, full, read-only, and with a clock that jumps, behind a whole server.

Every shopper gets hits, categories, a summary and the end of the stream; receipt and log line name the tier.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from cache.keys import QueryKey
from cache.redis_connection import open_redis
from tests.support.cache_process import cache_process
from tests.support.cached_shop import GENEROUS, OTHER, QUERY, CachedShop, cached_shop
from tests.support.clocks import FakeClock
from tests.support.fault_proxy import FaultProxy
from tests.support.redis_server import RedisServer, redis_server

pytestmark = pytest.mark.anyio

KEY = QueryKey.of("demo", "demo", QUERY)


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """Run a Redis of the test's own."""
    with redis_server() as running:
        yield running


@pytest.fixture
async def proxy(server: RedisServer) -> AsyncIterator[FaultProxy]:
    """Yield a proxy before it."""
    async with FaultProxy(server.port) as running:
        yield running


async def _opened(open_: CachedShop) -> None:
    """Ask once, so that the answer is stored in every tier."""
    first = await open_.ask()
    assert (first.source, first.reason) == ("llm", "not_stored")
    await open_.settle()
    assert open_.stored() == [("stored", "stored")]
    assert (await open_.ask()).tier == "edge"


def _url(port: int) -> str:
    return f"redis://127.0.0.1:{port}/0"


async def test_while_redis_is_away_the_table_answers_and_new_questions_are_planned(
    tmp_path: Path, server: RedisServer
) -> None:
    """Stopped: an error of the edge by name, twice; no question waits for it."""
    async with cached_shop(tmp_path, redis_url=server.url, **GENEROUS) as shop:
        await _opened(shop)
        server.stop()
        stored, new = await shop.ask(), await shop.ask(OTHER)
        await shop.settle()
    assert (stored.source, stored.tier, stored.reason) == ("cached", "table", "hit")
    assert stored.steps == ("edge=error(TierUnavailable)", "filter=added", "table=hit")
    assert (new.source, new.tier, new.steps[0]) == ("llm", None, "edge=error(TierUnavailable)")
    assert shop.stored()[-1] == ("stored", "error")
    assert {tier for tier, _ in shop.failures()} == {"edge"}


async def test_a_redis_that_comes_back_empty_is_filled_by_the_first_question(
    tmp_path: Path, server: RedisServer
) -> None:
    """Restarted: a miss of the edge, then a hit again."""
    async with cached_shop(tmp_path, redis_url=server.url, **GENEROUS) as shop:
        await _opened(shop)
        server.stop()
        server.start()
        first = await shop.ask()
        await shop.settle()
        second = await shop.ask()
    assert (first.tier, first.steps[0]) == ("table", "edge=miss")
    assert (second.tier, second.reason) == ("edge", "hit")


async def test_nobody_waits_for_a_redis_that_says_nothing(tmp_path: Path, proxy: FaultProxy) -> None:
    """Slow: whole answers, from the table and from the model, while it still says nothing."""
    budgets = {"cache_edge_budget_seconds": 0.02, "cache_table_budget_seconds": 5.0}
    async with cached_shop(tmp_path, redis_url=_url(proxy.port), **budgets) as shop:
        await shop.ask()
        await shop.settle()
        proxy.fall_silent()
        stored, new = await shop.ask(), await shop.ask(OTHER)
        proxy.speak()
        await shop.settle()
    assert (stored.source, stored.tier) == ("cached", "table")
    assert stored.steps == ("edge=timeout", "filter=added", "table=hit")
    assert (new.source, new.steps[0]) == ("llm", "edge=timeout")
    assert ("edge", "over 20 ms") in shop.failures()


async def test_after_five_failures_nothing_waits_for_redis_at_all(
    tmp_path: Path, server: RedisServer
) -> None:
    """The breaker's word stands in receipt and log line."""
    async with cached_shop(tmp_path, redis_url=server.url, **GENEROUS) as shop:
        await _opened(shop)
        server.stop()
        steps = [(await shop.ask()).steps[0] for _ in range(6)]
        await shop.settle()
    assert steps == ["edge=error(TierUnavailable)"] * 5 + ["edge=open"]


async def test_a_full_redis_serves_what_it_has_and_the_table_keeps_the_rest(
    tmp_path: Path, server: RedisServer
) -> None:
    """Full, without eviction: neither the lead of a flight nor an answer can be written."""
    client = open_redis(server.url)
    async with cached_shop(tmp_path, redis_url=server.url, **GENEROUS) as shop:
        await _opened(shop)
        await client.config_set("maxmemory-policy", "noeviction")
        await client.config_set("maxmemory", "1")
        stored, new = await shop.ask(), await shop.ask(OTHER)
        await shop.settle()
        again = await shop.ask(OTHER)
    await client.aclose()
    assert (stored.tier, stored.reason) == ("edge", "hit")
    assert new.source == "llm"
    assert shop.stored()[-1] == ("stored", "error")
    assert (again.tier, again.steps[0]) == ("table", "edge=miss")
    assert ("edge", "edge: redis has reached its maxmemory") in shop.failures()


async def test_a_read_only_redis_serves_what_it_has(tmp_path: Path, server: RedisServer) -> None:
    """A replica after a fail-over: reads go on, writes are told by name."""
    client = open_redis(server.url)
    async with cached_shop(tmp_path, redis_url=server.url, **GENEROUS) as shop:
        await _opened(shop)
        await client.replicaof("127.0.0.1", "1")
        stored, new = await shop.ask(), await shop.ask(OTHER)
        await shop.settle()
    await client.aclose()
    assert (stored.tier, stored.reason) == ("edge", "hit")
    assert (new.source, shop.stored()[-1]) == ("llm", ("stored", "error"))
    assert ("edge", "edge: redis is a read-only replica") in shop.failures()


async def test_a_value_that_is_cut_or_foreign_is_never_served(tmp_path: Path, server: RedisServer) -> None:
    """Somebody else's bytes under our name: a miss of the edge, and the true answer from the table."""
    client = open_redis(server.url)
    async with cached_shop(tmp_path, redis_url=server.url, **GENEROUS) as shop:
        await _opened(shop)
        (name,) = [name async for name in client.scan_iter(match="aisle:dev:cache:{demo}:query:*")]
        value = await client.get(name)
        assert isinstance(value, bytes)
        for broken in (value[:-20], value[:40] + b"!" + value[41:], value[:8] + b"{}"):
            await client.set(name, broken)
            heard = await shop.ask()
            await shop.settle()
            assert (heard.tier, heard.steps[0]) == ("table", "edge=miss")
    await client.aclose()


@pytest.mark.parametrize(
    ("off_by", "steps"),
    [
        (86_400.0, ("edge=stale",)),
        (-3 * 3600.0, ("edge=miss", "filter=added", "table=hit")),
    ],
)
async def test_an_answer_of_a_machine_whose_clock_is_wrong(
    tmp_path: Path, server: RedisServer, off_by: float, steps: tuple[str, ...]
) -> None:
    """From tomorrow: served, and refreshed. From three hours ago: too old for the edge, the table has it."""
    wrong = FakeClock()
    shared: dict[str, Any] = {"environment": "dev", "edge": "redis", "redis_url": server.url}
    async with cached_shop(tmp_path, redis_url=server.url, **GENEROUS) as shop:
        await _opened(shop)
        entry = await shop.shop.services.cache.read(KEY)
        assert entry is not None
        wrong.now = entry.created_at_ms / 1000 + off_by
        async with cache_process(tmp_path / "other", wrong, **shared) as other:
            await other.store(KEY, entry.payload, entry.tags)
        heard = await shop.ask()
        await shop.settle()
    assert heard.from_cache
    assert heard.steps == steps
    assert heard.reason == ("stale" if off_by > 0 else "hit")
