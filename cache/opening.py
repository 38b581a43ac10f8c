"""Puts the parts of a cache together: the only file of this package that names concrete tiers.

Redis and boto3 cost 0.3 s and tens of megabytes to import, so their modules are loaded when the configuration
asks for them.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from cache.background_work import BackgroundWork, background_work
from cache.change_feed import ChangeFeed
from cache.config import CacheConfig
from cache.counters import CacheCounters
from cache.edge_cache import QUERY_KIND, EdgeCache, EdgeKey, EdgeValue
from cache.edge_values import EdgeValues
from cache.filter_files import FilterFiles
from cache.fuse_filter import FuseFilters
from cache.in_process_edge import InProcessEdge
from cache.keys import account_of
from cache.lookup import Tiers
from cache.query_cache import QueryCache
from cache.query_table import QueryTable, TableRow
from cache.single_flight import RemoteFlights, SingleFlight
from cache.sqlite_table import SqliteTable
from cache.tier_calls import TierCalls
from cache.upkeep import Upkeep

Clock = Callable[[], float]


@asynccontextmanager
async def open_cache(
    config: CacheConfig, *, clock: Clock = time.time, monotonic: Clock = time.monotonic
) -> AsyncIterator[QueryCache]:
    """Open the cache of one process, and close it with everything that runs in it.

    Nothing has to be connected yet: a tier that is down makes misses, never a failing start.
    """
    async with AsyncExitStack() as stack:
        table = open_table(config, clock=clock)
        stack.push_async_callback(table.close)
        redis = _open_redis(config)
        if redis is not None:
            stack.push_async_callback(redis.aclose)
        background = await stack.enter_async_context(
            background_work(limit=config.max_background, grace_seconds=config.drain_seconds)
        )
        edge = _open_edge(config, redis, clock=clock, monotonic=monotonic)
        stack.push_async_callback(edge.close)
        if redis is not None:
            warm_up = importlib.import_module("cache.redis_connection").warm_up
            background.start(warm_up(redis, edge.connect), name="redis-warm-up")
        flights = SingleFlight(
            background,
            _open_flights(config, redis, background),
            budget_seconds=config.flight_budget_seconds,
        )
        counters = CacheCounters()
        edge_calls: TierCalls[EdgeValue | None] = TierCalls(
            "edge",
            budget_seconds=config.edge_budget_seconds,
            background=background,
            counters=counters,
            monotonic=monotonic,
        )
        table_calls: TierCalls[TableRow | None] = TierCalls(
            "table",
            budget_seconds=config.table_budget_seconds,
            background=background,
            counters=counters,
            monotonic=monotonic,
        )
        filters = FuseFilters(
            FilterFiles(config.filter_folder),
            table,
            max_age_seconds=config.filter_max_age_seconds,
            clock=clock,
            monotonic=monotonic,
        )
        tiers = Tiers(
            edge=edge,
            filter=filters,
            table=table,
            edge_calls=edge_calls,
            table_calls=table_calls,
            background=background,
            counters=counters,
            times=config.edge_times,
            dropped_at_ms={},
        )
        feed = ChangeFeed(
            table,
            filters,
            on_foreign_change=_letting_go(tiers),
            on_drop=_dropping(tiers),
            clock=clock,
            monotonic=monotonic,
        )
        upkeep = Upkeep(
            feed=feed,
            filters=filters,
            table=table,
            poll_seconds=config.poll_seconds,
            upkeep_seconds=config.upkeep_seconds,
            rebuild_seconds=config.filter_rebuild_seconds,
            rebuild_writes=config.filter_rebuild_writes,
        )
        background.start(upkeep.follow_changes(), name="changes", until_closing=True)
        background.start(upkeep.maintain(), name="upkeep", until_closing=True)
        yield QueryCache(
            tiers=tiers,
            filters=filters,
            feed=feed,
            flights=flights,
            values=EdgeValues(edge, edge_calls, counters, flights),
            entry_seconds=config.entry_seconds,
            clock=clock,
        )


def open_table(config: CacheConfig, *, clock: Clock = time.time) -> QueryTable:
    """Return the configured table, not yet connected; close it with `close()`."""
    if config.table == "sqlite":
        return SqliteTable(config.sqlite_path, max_bytes=config.sqlite_max_bytes, clock=clock)
    table: QueryTable = importlib.import_module("cache.dynamodb_table").DynamoDBTable(
        dynamo_target(config), clock=clock
    )
    return table


def dynamo_target(config: CacheConfig) -> Any:
    """Return which DynamoDB table the configuration means."""
    name = importlib.import_module("cache.dynamodb_schema").table_name(config.environment)
    dynamodb = config.dynamodb
    return importlib.import_module("cache.dynamodb_calls").DynamoTarget(
        table_name=name,
        region=dynamodb.region,
        endpoint_url=dynamodb.endpoint_url,
        access_key_id=dynamodb.access_key_id,
        secret_access_key=dynamodb.secret_access_key,
        deadline_seconds=dynamodb.deadline_seconds,
    )


def _open_redis(config: CacheConfig) -> Any:
    if config.redis_url is None:
        return None
    return importlib.import_module("cache.redis_connection").open_redis(config.redis_url)


def _open_edge(config: CacheConfig, redis: Any, *, clock: Clock, monotonic: Clock) -> EdgeCache:
    if config.edge == "in_process":
        return InProcessEdge(max_bytes=config.edge_max_bytes, monotonic=monotonic)
    prefix = _redis_prefix(config)
    edge: EdgeCache = importlib.import_module("cache.redis_edge").RedisEdge(redis, prefix=prefix, clock=clock)
    return edge


def _open_flights(config: CacheConfig, redis: Any, background: BackgroundWork) -> RemoteFlights | None:
    if redis is None:
        return None
    flights: RemoteFlights = importlib.import_module("cache.redis_flights").RedisFlights(
        redis, background, prefix=_redis_prefix(config), lease_seconds=config.flight_lease_seconds
    )
    return flights


def _redis_prefix(config: CacheConfig) -> str:
    return f"aisle:{config.environment}:cache"


def _letting_go(tiers: Tiers) -> Callable[[str], Any]:
    async def let_go(key_text: str) -> None:
        # A shared edge cache was already told by the process that made the change.
        if tiers.edge.is_local:
            await tiers.edge.remove(EdgeKey(account_of(key_text), QUERY_KIND, key_text))

    return let_go


def _dropping(tiers: Tiers) -> Callable[[str, int], Any]:
    async def drop(account_id: str, dropped_at_ms: int) -> None:
        known = tiers.dropped_at_ms.get(account_id, -1)
        if dropped_at_ms > known:
            tiers.dropped_at_ms[account_id] = dropped_at_ms
            if tiers.edge.is_local:
                await tiers.edge.drop_account(account_id)

    return drop
