"""The real servers that this package's tests speak to, one of each for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.redis_server import RedisServer, redis_server


@pytest.fixture(scope="session")
def shared_redis() -> Iterator[RedisServer]:
    """Run one Redis server; tests keep apart by prefix and break nothing in it."""
    with redis_server() as server:
        yield server
