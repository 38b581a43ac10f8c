"""Two server processes with one Redis: everybody who asks the same at once shares one plan."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.redis_server import RedisServer, redis_server
from tests.support.shared_question import ask_everywhere

pytestmark = pytest.mark.anyio

CALLERS = 200
"""A thousand take half a minute of two cores: `python -m bench.cache_flight`."""


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    """Run a Redis server for this test alone."""
    with redis_server() as server:
        yield server


async def test_equal_questions_in_two_processes_make_one_model_call_and_all_hear_it_live(
    tmp_path: Path, own_redis: RedisServer
) -> None:
    """Followers anywhere get the first category before the leader's second. Source: design, cache."""
    async with asyncio.timeout(110):
        answer = await ask_everywhere(tmp_path, own_redis.url, callers=CALLERS)
    assert answer.model_calls == 1, [line for line in answer.log_lines if "cache_" in line]
    assert answer.whole == CALLERS
    assert answer.heard_live == CALLERS
    assert answer.sources == {"cached": CALLERS - 1, "llm": 1}
