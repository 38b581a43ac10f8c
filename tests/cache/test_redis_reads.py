"""Many questions on one connection: each gets its own answer, and a connection that breaks is replaced."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from redis.exceptions import (
    ConnectionError,  # noqa: A004
    InvalidResponse,
    ResponseError,
    TimeoutError,  # noqa: A004
)

from cache import redis_reads
from cache.redis_connection import open_redis
from cache.redis_reads import RedisReads
from tests.support.fault_proxy import FaultProxy
from tests.support.redis_server import RedisServer, redis_server

pytestmark = pytest.mark.anyio


@pytest.fixture
async def proxy(shared_redis: RedisServer) -> AsyncIterator[FaultProxy]:
    """Yield a proxy before the shared Redis."""
    async with FaultProxy(shared_redis.port) as running:
        yield running


@pytest.fixture
async def reads(proxy: FaultProxy) -> AsyncIterator[RedisReads]:
    """Yield a reader behind the proxy."""
    client = open_redis(f"redis://127.0.0.1:{proxy.port}/3")
    made = RedisReads(client)
    yield made
    made.close()
    await client.aclose()


@pytest.fixture
async def direct(shared_redis: RedisServer) -> AsyncIterator[Redis]:
    """Yield a client that goes past the proxy, in the same database."""
    client = open_redis(f"redis://127.0.0.1:{shared_redis.port}/3")
    yield client
    await client.aclose()


async def test_everybody_gets_the_answer_to_their_own_question(reads: RedisReads, direct: Redis) -> None:
    """Five hundred at once on one connection, some of whom stop waiting."""
    for number in range(500):
        await direct.set(f"reads:{number}", b"%d" % number)
    await reads.connect()
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        asking = [
            group.create_task(reads.mget(f"reads:{number}", "reads:none"), name=f"ask:{number}")
            for number in range(500)
        ]
        await asyncio.sleep(0)
        for task in asking[::7]:
            task.cancel()
    for number, task in enumerate(asking):
        if number % 7:
            assert task.result() == [b"%d" % number, None]


async def test_a_connection_that_died_is_replaced_by_the_next_question(
    reads: RedisReads, direct: Redis, proxy: FaultProxy
) -> None:
    """Nobody notices a connection that broke while nobody asked, or while somebody did."""
    await direct.set("reads:replaced", b"value")
    async with asyncio.timeout(5):
        assert await reads.mget("reads:replaced") == [b"value"]
        proxy.break_connections()
        assert await reads.mget("reads:replaced") == [b"value"]
        proxy.fall_silent()
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(reads.mget("reads:replaced"), name="waiting")
            await asyncio.sleep(0)  # Its question is written now.
            proxy.break_connections()
            proxy.speak()
        assert waiting.result() == [b"value"]


async def test_a_server_that_is_gone_is_an_error_at_once(reads: RedisReads, proxy: FaultProxy) -> None:
    """As redis-py says it; the next question after its return is answered."""
    async with asyncio.timeout(5):
        await proxy.stop()
        with pytest.raises(ConnectionError):
            await reads.mget("reads:none")
        await proxy.start()
        assert await reads.mget("reads:none") == [None]


async def test_a_server_that_says_nothing_is_given_up(reads: RedisReads, proxy: FaultProxy) -> None:
    """All who wait are told after a second, and the connection is not used again."""
    async with asyncio.timeout(10):
        await reads.connect()
        proxy.fall_silent()
        with pytest.raises(TimeoutError, match="did not answer in time"):
            await reads.mget("reads:none")
        proxy.speak()
        assert await reads.mget("reads:none") == [None]


async def test_bytes_that_are_no_answer_break_the_connection_and_not_the_next_question(
    reads: RedisReads, proxy: FaultProxy
) -> None:
    """Whoever else listens on that port is not believed."""
    async with asyncio.timeout(5):
        await reads.connect()
        proxy.canned = b"HTTP/1.1 400 Bad Request\r\n\r\n"
        with pytest.raises(InvalidResponse):
            await reads.mget("reads:none")
        proxy.canned = None
        assert await reads.mget("reads:none") == [None]


async def test_a_refusal_is_told_to_the_one_who_asked(reads: RedisReads, proxy: FaultProxy) -> None:
    """The connection stays in use: Redis has answered."""
    async with asyncio.timeout(5):
        line = await reads.connect()
        proxy.canned = b"-NOPERM this user has no permissions\r\n"
        with pytest.raises(ResponseError, match="NOPERM"):
            await reads.mget("reads:none")
        proxy.canned = None
        assert await reads.connect() is line


async def test_the_password_in_the_address_is_used(shared_redis: RedisServer) -> None:
    """redis-py opens the connection, so everything that it can say in an address holds here."""
    with redis_server() as server:
        owner = open_redis(server.url)
        await owner.config_set("requirepass", "secret words")
        await owner.aclose()
        for password, is_right in (("secret%20words", True), ("wrong", False)):
            client = open_redis(f"redis://:{password}@127.0.0.1:{server.port}/0")
            reads = RedisReads(client)
            async with asyncio.timeout(5):
                if is_right:
                    assert await reads.mget("none") == [None]
                else:
                    with pytest.raises(ConnectionError, match="invalid username-password"):
                        await reads.mget("none")
            reads.close()
            await client.aclose()


async def test_questions_that_wait_are_bounded(reads: RedisReads, proxy: FaultProxy) -> None:
    """One more than the bound is refused at once instead of being kept."""
    async with asyncio.timeout(10):
        line = await reads.connect()
        proxy.fall_silent()
        waiting = [line.ask(b"") for _ in range(redis_reads.MAX_WAITING)]
        with pytest.raises(TimeoutError, match="wait already"):
            await reads.mget("reads:none")
        reads.close()
        assert all(isinstance(answer.exception(), ConnectionError) for answer in waiting)


async def test_all_who_wait_for_a_connection_share_its_failure(reads: RedisReads, proxy: FaultProxy) -> None:
    """A server that accepts and says nothing is tried once for all of them, not once for each."""
    proxy.fall_silent()
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        asking = [group.create_task(_failure(reads), name=f"ask:{number}") for number in range(50)]
    assert all(isinstance(task.result(), ConnectionError) for task in asking)
    assert proxy.requests < 5
    proxy.speak()
    assert await reads.mget("reads:none") == [None]


async def _failure(reads: RedisReads) -> Exception | None:
    try:
        await reads.mget("reads:none")
    except ConnectionError as error:
        return error
    return None


async def test_a_question_without_a_task_is_answered_in_its_turn_or_said_to_be_lost(
    reads: RedisReads, direct: Redis
) -> None:
    """Nothing is asked before there is a connection; who is asked when it closes hears of it."""
    await direct.set("reads:asked", b"value")
    landed: list[object] = []
    lost: list[str] = []
    assert not reads.ask("reads:asked", landed=landed.append, lost=lambda: lost.append("early"))
    async with asyncio.timeout(5):
        await reads.connect()
        assert reads.ask("reads:asked", "reads:none", landed=landed.append, lost=lambda: lost.append("first"))
        assert landed == []
        assert await reads.mget("reads:asked") == [b"value"]
    assert (landed, lost) == ([[b"value", None]], [])
    assert reads.ask("reads:asked", landed=landed.append, lost=lambda: lost.append("second"))
    reads.close()
    assert (len(landed), lost) == (1, ["second"])
    assert not reads.ask("reads:asked", landed=landed.append, lost=lambda: lost.append("late"))
