"""One computation per question, heard live by everybody who asked, in this process and in others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import pytest

from cache.errors import FlightAbandoned
from cache.flight_log import MAX_EVENTS, FlightLog
from cache.keys import QueryKey
from cache.query_cache import QueryCache
from tests.support.cache_process import cache_process, settled
from tests.support.flight_process import flight_process
from tests.support.redis_server import RedisServer

pytestmark = pytest.mark.anyio

KEY = QueryKey.of("acme", "shoes", "red running shoes")


@pytest.fixture(params=["one process", "two processes over redis"])
async def caches(
    request: pytest.FixtureRequest, tmp_path: Path, shared_redis: RedisServer
) -> AsyncIterator[tuple[QueryCache, QueryCache]]:
    """Yield the cache of a leader and that of a follower: the same one, or two that share a Redis."""
    async with AsyncExitStack() as stack:
        if request.param == "one process":
            cache = await stack.enter_async_context(cache_process(tmp_path))
            yield cache, cache
            return
        name = f"flight-{tmp_path.name}"
        opened = [
            await stack.enter_async_context(
                cache_process(tmp_path / side, environment=name, redis_url=shared_redis.url, edge="redis")
            )
            for side in ("leader", "follower")
        ]
        yield opened[0], opened[1]


async def _heard(cache: QueryCache, into: list[bytes], first: asyncio.Event) -> None:
    async with cache.single_flight(KEY) as seat:
        assert not seat.leads
        async with aclosing(seat.events()) as events:
            async for event in events:
                into.append(event)
                first.set()


async def test_followers_hear_the_leader_live_and_from_the_start(
    caches: tuple[QueryCache, QueryCache],
) -> None:
    """An event is heard before the next one is said; whoever comes late hears all."""
    leader, follower = caches
    early: list[bytes] = []
    late: list[bytes] = []
    heard_early, heard_late = asyncio.Event(), asyncio.Event()
    async with asyncio.timeout(10), leader.single_flight(KEY) as seat, asyncio.TaskGroup() as group:
        assert seat.leads
        group.create_task(_heard(follower, early, heard_early), name="early")
        seat.publish(b"init")
        await heard_early.wait()
        assert early == [b"init"]
        group.create_task(_heard(follower, late, heard_late), name="late")
        await heard_late.wait()
        seat.publish(b"delta")
        await leader.store(KEY, b"plan")
        await seat.finish()
    assert early == late == [b"init", b"delta"]


async def test_a_leader_that_leaves_without_finishing_abandons_its_followers(
    caches: tuple[QueryCache, QueryCache],
) -> None:
    """They are told, after what was said, and can ask again."""
    leader, follower = caches
    heard: list[bytes] = []
    first = asyncio.Event()

    async def follow() -> None:
        with pytest.raises(FlightAbandoned):
            await _heard(follower, heard, first)

    async with asyncio.timeout(10), asyncio.TaskGroup() as group, leader.single_flight(KEY) as seat:
        group.create_task(follow(), name="follower")
        seat.publish(b"init")
        await first.wait()
    assert heard == [b"init"]
    await settled(follower)
    async with asyncio.timeout(10), follower.single_flight(KEY) as seat:
        assert seat.leads


async def test_a_leader_that_is_cancelled_abandons_its_followers(
    caches: tuple[QueryCache, QueryCache],
) -> None:
    """A shopper who leaves does not leave the others waiting."""
    leader, follower = caches
    first = asyncio.Event()
    heard: list[bytes] = []

    took_off = asyncio.Event()

    async def lead() -> None:
        async with leader.single_flight(KEY) as seat:
            took_off.set()
            seat.publish(b"init")
            await asyncio.Event().wait()

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        leading = group.create_task(lead(), name="leader")

        async def cancel() -> None:
            await first.wait()
            leading.cancel()

        await took_off.wait()
        group.create_task(cancel(), name="cancel")
        with pytest.raises(FlightAbandoned):
            await _heard(follower, heard, first)
    assert heard == [b"init"]


async def test_whoever_comes_after_the_flight_finds_its_answer(caches: tuple[QueryCache, QueryCache]) -> None:
    """A caller who missed the cache just before the leader stored does not compute again."""
    leader, follower = caches
    async with asyncio.timeout(10):
        assert not (await follower.lookup(KEY)).is_hit
        async with leader.single_flight(KEY) as seat:
            await leader.store(KEY, b"plan")
            await seat.finish()
        async with follower.single_flight(KEY) as seat:
            assert not seat.leads
            assert seat.found is not None
            assert seat.found.payload == b"plan"
        assert follower.stats()["flights"] == 0


async def test_an_answer_that_outgrows_the_log_goes_on_for_the_leader_alone(tmp_path: Path) -> None:
    """Followers are told instead of being fed without bound."""
    async with cache_process(tmp_path) as cache, asyncio.timeout(10), cache.single_flight(KEY) as seat:
        for _ in range(MAX_EVENTS + 1):
            seat.publish(b"x")
        with pytest.raises(FlightAbandoned):
            async for _ in seat.events():
                pass
        seat.publish(b"still going")


async def test_an_empty_flight_ends(tmp_path: Path) -> None:
    """Nothing said is an answer too."""
    log = FlightLog()
    log.finish()
    async with asyncio.timeout(5):
        assert [event async for event in log.events()] == []


async def test_a_leading_process_that_is_killed_is_noticed(tmp_path: Path, shared_redis: RedisServer) -> None:
    """Its lease runs out, its followers are told, and one of them leads."""
    name = f"killed-{tmp_path.name}"
    process = await flight_process("hold", tmp_path, name, shared_redis.url)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(30):
            assert (await process.stdout.readline()).strip() == b"leading"
            process.kill()
            await process.wait()
            async with cache_process(tmp_path, environment=name, redis_url=shared_redis.url) as cache:
                with pytest.raises(FlightAbandoned):
                    await _heard(cache, [], asyncio.Event())
                await settled(cache)
                async with cache.single_flight(KEY) as seat:
                    assert seat.leads
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_a_thousand_equal_questions_in_two_processes_make_one_model_call(
    tmp_path: Path, shared_redis: RedisServer
) -> None:
    """Five hundred callers in each; every one gets the whole answer, live or from the cache."""
    name = f"thousand-{tmp_path.name}"
    processes = [await flight_process("ask", tmp_path, name, shared_redis.url) for _ in range(2)]
    try:
        async with asyncio.timeout(60):
            for process in processes:
                assert process.stdout is not None
                assert (await process.stdout.readline()).strip() == b"ready"
            for process in processes:
                assert process.stdin is not None
                process.stdin.write(b"go\n")
                await process.stdin.drain()
            reports = [json.loads((await process.communicate())[0]) for process in processes]
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
                await process.wait()
    assert sum(report["computed"] for report in reports) == 1
    assert [report["answered"] for report in reports] == [500, 500]
