"""What the cache costs: edge hits, the negative filter, and how long table reads hold the event loop.

Real servers on the loopback: Redis, and DynamoDB's protocol by dynoxide (moto where that is not installed).
A tier that has no server here is left out of the table.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import uvloop

from bench.cache_filter import filter_rows
from bench.cache_table import table_rows
from bench.table import Row, percentile, print_table
from cache.config import CacheConfig
from cache.edge_cache import EdgeKey, EdgeTimes
from cache.entry import CacheEntry
from cache.keys import QueryKey
from cache.opening import open_cache
from cache.query_cache import QueryCache
from cache.redis_connection import open_redis
from cache.redis_edge import RedisEdge
from tests.support.redis_server import RedisServer, redis_server

_ENTRY_BYTES = 12_000
_CALLS = 2_000
_WARM_UP = 300
_ROUNDS = 5


def main() -> None:
    """Measure and print one table."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(redis_server())
        rows = uvloop.run(_lookup_rows(folder, server))
        rows += filter_rows(folder)
        rows += table_rows(folder)
    print_table("cache", rows)


async def _lookup_rows(folder: Path, server: RedisServer) -> list[Row]:
    key = QueryKey.of("acme", "shoes", "waterproof trail running shoes for wide feet")
    rows: list[Row] = []
    entry = CacheEntry(key_text=key.text, payload=bytes(_ENTRY_BYTES), created_at_ms=1, tags={"prompt": "v1"})
    blob = entry.encode()
    rows.append(await _row("key of a query", _sync(lambda: QueryKey.of("acme", "shoes", key.query))))
    rows.append(await _row("entry decoded and checked, 12 KB", _sync(lambda: CacheEntry.decode(blob, key))))
    config = CacheConfig(data_dir=folder / "lookup", edge_budget_seconds=1.0, table_budget_seconds=1.0)
    async with open_cache(config) as cache:
        await cache.store(key, bytes(_ENTRY_BYTES), {"prompt": "v1"})
        rows.append(await _row("lookup: edge hit in process, decoded, 12 KB", lambda: cache.lookup(key)))
        rows.append(await _absent_row(cache))
    shared = replace(config, edge="redis", redis_url=server.url, environment="bench")
    async with open_cache(shared) as cache:
        await cache.store(key, bytes(_ENTRY_BYTES), {"prompt": "v1"})
        rows.append(
            await _row("lookup: edge hit in loopback Redis, decoded, 12 KB", lambda: cache.lookup(key))
        )
    client = open_redis(server.url)
    edge = RedisEdge(client, prefix="bench")
    await edge.put(EdgeKey("acme", "query", key.text), blob, EdgeTimes())
    where = EdgeKey("acme", "query", key.text)
    rows.append(await _row("edge get from loopback Redis, 12 KB", lambda: edge.get(where)))
    await edge.close()
    await client.aclose()
    return rows


async def _absent_row(cache: QueryCache) -> Row:
    await cache.rebuild_filter("acme", "shoes")
    absent = QueryKey.of("acme", "shoes", "nobody has asked this")
    await cache.lookup(absent)
    await cache.poll_changes()
    assert (await cache.lookup(absent)).reason == "never_stored"
    return await _row("lookup: never stored, ended by the filter", lambda: cache.lookup(absent))


def _sync(work: Callable[[], object]) -> Callable[[], Awaitable[object]]:
    async def call() -> object:
        return work()

    return call


async def _row(name: str, call: Callable[[], Awaitable[object]]) -> Row:
    for _ in range(_WARM_UP):
        await call()
    medians, p99s = [], []
    for _ in range(_ROUNDS):
        taken = []
        for _ in range(_CALLS):
            started = time.perf_counter()
            await call()
            taken.append((time.perf_counter() - started) * 1e6)
        medians.append(statistics.median(taken))
        p99s.append(percentile(taken, 99))
    return Row(name, f"{statistics.median(medians):.1f}", f"{statistics.median(p99s):.1f}", "us")


if __name__ == "__main__":
    main()
