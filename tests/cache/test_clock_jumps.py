"""A wall clock that jumps makes nothing fresh again, loses nothing for good, and serves nothing expired."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cache.config import CacheConfig
from cache.keys import QueryKey
from cache.opening import open_cache
from tests.support.clocks import FakeClock
from tests.support.redis_server import RedisServer

pytestmark = pytest.mark.anyio

KEY = QueryKey.of("acme", "shoes", "red running shoes")
GENEROUS: dict[str, Any] = {"edge_budget_seconds": 5.0, "table_budget_seconds": 5.0}


async def test_the_in_process_edge_does_not_look_at_the_wall_clock(tmp_path: Path) -> None:
    """Its ages are monotonic."""
    wall, monotonic = FakeClock(), FakeClock(100.0)
    config = CacheConfig(data_dir=tmp_path, **GENEROUS)
    async with open_cache(config, clock=wall, monotonic=monotonic) as cache:
        await cache.store(KEY, b"plan")
        wall.advance(-86_400)
        monotonic.advance(4000)
        assert (await cache.lookup(KEY)).reason == "stale"
        wall.advance(10 * 86_400)
        assert (await cache.lookup(KEY)).reason == "stale"


async def test_a_shared_value_from_the_future_is_stale_and_one_from_the_past_is_gone(
    tmp_path: Path, shared_redis: RedisServer
) -> None:
    """Back: served, but refreshed. Ahead: a miss of the edge, and the table answers."""
    wall = FakeClock()
    config = CacheConfig(
        data_dir=tmp_path,
        environment=f"jumps-{tmp_path.name}",
        edge="redis",
        redis_url=shared_redis.url,
        **GENEROUS,
    )
    async with open_cache(config, clock=wall) as cache:
        await cache.store(KEY, b"plan")
        wall.advance(-3600)
        assert (await cache.lookup(KEY)).reason == "stale"
        await cache.settle()
        wall.advance(3600 + 8000)
        decision = await cache.lookup(KEY)
        assert [str(step) for step in decision.steps] == ["edge=miss", "filter=added", "table=hit"]


async def test_a_store_after_the_clock_went_back_is_kept(tmp_path: Path) -> None:
    """A row from the wrong future does not lock its key."""
    wall = FakeClock()
    async with open_cache(CacheConfig(data_dir=tmp_path, **GENEROUS), clock=wall) as cache:
        wall.advance(86_400)
        await cache.store(KEY, b"from the future")
        wall.advance(-86_400)
        assert (await cache.store(KEY, b"now")).table == "stored"
        decision = await cache.lookup(KEY)
        assert decision.entry is not None
        assert decision.entry.payload == b"now"
