"""Opens the connections to Redis, and says in our words what Redis says when it refuses.

One bounded pool per process: its callers wait for a connection where redis-py's stock pool would raise.
One immediate retry covers a connection that died in the pool; everything slower is the caller's budget.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    BusyLoadingError,
    ConnectionError,  # noqa: A004
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    TimeoutError,  # noqa: A004
)

from cache.errors import TierBusy, TierFull, TierReadOnly, TierUnavailable

logger = logging.getLogger(__name__)

POOL_CONNECTIONS = 16
"""Eight already reach the server's rate from one event loop; the rest is room for writes and slow reads."""

WARM_CONNECTIONS = 4

SOCKET_SECONDS = 1.0
"""A read that takes longer is of no use to anybody, the next caller included."""


def open_redis(url: str, *, connections: int = POOL_CONNECTIONS) -> Redis:
    """Return a client that connects on first use; close it with `aclose()`."""
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=SOCKET_SECONDS,
        socket_timeout=SOCKET_SECONDS,
        socket_connect_timeout=SOCKET_SECONDS,
        retry=Retry(NoBackoff(), 1),
        protocol=3,
    )
    return Redis.from_pool(pool)


async def warm_up(client: Redis, connect: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Open some connections now, that of `connect` too: the first costs more than any caller's budget."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(connect(), name="redis-warm-up:edge")
            for number in range(WARM_CONNECTIONS):
                group.create_task(_ping(client), name=f"redis-warm-up:{number}")
    except* TierUnavailable as errors:
        logger.warning("cache_redis_not_warm", extra={"error": str(errors.exceptions[0])})


async def _ping(client: Redis) -> None:
    with redis_errors("redis"):
        await client.ping()


@contextmanager
def redis_errors(tier: str) -> Iterator[None]:
    """Raise this package's errors in place of redis-py's."""
    try:
        yield
    except ReadOnlyError as error:
        raise TierReadOnly(tier, "redis is a read-only replica") from error
    except OutOfMemoryError as error:
        raise TierFull(tier, "redis has reached its maxmemory") from error
    except BusyLoadingError as error:
        raise TierBusy(tier, "redis is loading its data") from error
    except TimeoutError as error:
        raise TierUnavailable(tier, "redis did not answer in time") from error
    except (ConnectionError, OSError) as error:
        raise TierUnavailable(tier, f"redis is not reachable: {error}") from error
    except RedisError as error:
        raise TierUnavailable(tier, f"redis refused: {error}") from error
