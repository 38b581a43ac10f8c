"""A cache of one process under test: the real parts, a clock of the test's, and no waiting for the loops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from cache.config import CacheConfig
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
    if clock is None:
        async with open_cache(settings) as cache:
            yield cache
    else:
        async with open_cache(settings, clock=clock, monotonic=clock) as cache:
            yield cache


async def settled(cache: QueryCache) -> None:
    """Return when what the cache does in the background has ended, its two loops aside."""
    async with asyncio.timeout(5):
        await cache.settle()
