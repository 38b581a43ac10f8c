"""A cache of one process under test: the real parts, a clock of the test's, and no waiting for the loops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from cache.config import CacheConfig
from cache.errors import CacheError
from cache.opening import open_cache
from cache.query_cache import QueryCache
from tests.support.clocks import FakeClock

GENEROUS_SECONDS = 5.0
"""The tiers' budgets where a test is not about them: a busy machine must not turn hits into misses."""


@asynccontextmanager
async def cache_process(
    folder: Path, clock: FakeClock | None = None, **config: Any
) -> AsyncIterator[QueryCache]:
    """Open a cache over `folder`; its own loops sleep, and a test polls when it wants to."""
    settings = replace(
        CacheConfig(
            data_dir=folder,
            edge_budget_seconds=GENEROUS_SECONDS,
            table_budget_seconds=GENEROUS_SECONDS,
            flight_budget_seconds=GENEROUS_SECONDS,
            poll_seconds=3600,
            upkeep_seconds=3600,
            drain_seconds=1.0,
        ),
        **config,
    )
    opened = open_cache(settings) if clock is None else open_cache(settings, clock=clock, monotonic=clock)
    async with opened as cache:
        await _first_poll(cache)
        yield cache


async def _first_poll(cache: QueryCache) -> None:
    # The loop polls once as it starts, and a test must not run beside that. Polls take turns: ours is next.
    await asyncio.sleep(0)
    with suppress(CacheError):
        await cache.poll_changes()


async def settled(cache: QueryCache) -> None:
    """Return when what the cache does in the background has ended, its two loops aside."""
    async with asyncio.timeout(5):
        await cache.settle()
