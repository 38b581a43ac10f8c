"""Small values: one of many equal callers computes, and each of the others gets what it made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from cache.edge_cache import EdgeTimes
from cache.edge_values import Computed, FoundValue
from cache.errors import InvalidKey
from cache.query_cache import QueryCache
from tests.support.cache_process import cache_process
from tests.support.redis_server import RedisServer

pytestmark = pytest.mark.anyio

TIMES = EdgeTimes(fresh_seconds=60, max_age_seconds=60)


class _Model:
    """Answers when a test lets it, with what the test has put there."""

    def __init__(self, answer: Computed | None) -> None:
        self.answer = answer
        self.asked = 0
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self) -> Computed | None:
        self.asked += 1
        self.is_asked.set()
        await self.may_answer.wait()
        if self.error is not None:
            raise self.error
        return self.answer


@pytest.fixture(params=["one process", "two processes over redis"])
async def caches(
    request: pytest.FixtureRequest, tmp_path: Path, shared_redis: RedisServer
) -> AsyncIterator[tuple[QueryCache, QueryCache]]:
    """Yield one cache twice, or two that share a Redis."""
    async with AsyncExitStack() as stack:
        if request.param == "one process":
            cache = await stack.enter_async_context(cache_process(tmp_path))
            yield cache, cache
            return
        opened = [
            await stack.enter_async_context(
                cache_process(
                    tmp_path / side,
                    environment=f"values-{tmp_path.name}",
                    redis_url=shared_redis.url,
                    edge="redis",
                )
            )
            for side in ("one", "two")
        ]
        yield opened[0], opened[1]


async def _compute(cache: QueryCache, model: _Model, text: str = "tent-1") -> FoundValue | None:
    return await cache.edge.compute_once("acme", "suggestions", text, model, TIMES)


async def _all_at_once(caches: tuple[QueryCache, QueryCache], model: _Model) -> list[FoundValue | None]:
    """Ask twenty times; the first has the lead before the others come, and answers when they are there."""
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        asking = [group.create_task(_compute(caches[0], model), name="leader")]
        await model.is_asked.wait()
        asking += [
            group.create_task(_compute(caches[number % 2], model), name=f"follower:{number}")
            for number in range(19)
        ]
        await asyncio.sleep(0)  # In the leader's process they follow from their first step on.
        model.may_answer.set()
    return [task.result() for task in asking]


async def test_of_many_equal_callers_one_computes(caches: tuple[QueryCache, QueryCache]) -> None:
    """In one process or two; whoever comes later finds it stored. Source: design, cache."""
    model = _Model(Computed(value=b"questions"))
    found = await _all_at_once(caches, model)
    assert model.asked == 1
    assert found[0] == FoundValue(value=b"questions", source="computed")
    assert all(one is not None and one.value == b"questions" for one in found)
    assert {one.source for one in found[1:] if one is not None} <= {"flight", "edge"}
    assert await caches[1].edge.get("acme", "suggestions", "tent-1") == b"questions"


async def test_a_value_that_is_not_kept_serves_those_who_wait_and_nobody_later(tmp_path: Path) -> None:
    """Half an answer is better than none for a minute, not for a month."""
    model = _Model(Computed(value=b"too few", is_kept=False))
    async with cache_process(tmp_path) as cache:
        found = await _all_at_once((cache, cache), model)
        assert [one and (one.value, one.is_kept) for one in found] == [(b"too few", False)] * 20
        assert model.asked == 1
        assert await cache.edge.get("acme", "suggestions", "tent-1") is None


async def test_what_cannot_be_made_is_not_tried_by_everybody_who_waited(tmp_path: Path) -> None:
    """A model that is down is asked once, not once per waiting shopper."""
    model = _Model(None)
    async with cache_process(tmp_path) as cache:
        assert await _all_at_once((cache, cache), model) == [None] * 20
    assert model.asked == 1


async def test_a_caller_that_leaves_hands_the_work_to_the_next(tmp_path: Path) -> None:
    """Cancelled or broken, it is alone with it."""
    model = _Model(Computed(value=b"questions"))
    async with cache_process(tmp_path) as cache, asyncio.timeout(10), asyncio.TaskGroup() as group:
        leading = group.create_task(_compute(cache, model), name="leader")
        await model.is_asked.wait()
        following = group.create_task(_compute(cache, model), name="follower")
        await asyncio.sleep(0)
        model.may_answer.set()
        leading.cancel()
        assert await following == FoundValue(value=b"questions", source="computed")
    assert (leading.cancelled(), model.asked) == (True, 2)


async def test_an_error_is_its_own_callers_alone(tmp_path: Path) -> None:
    """The others take their turn instead of inheriting it."""
    model = _Model(None)
    model.error = RuntimeError("a defect")
    model.may_answer.set()
    async with cache_process(tmp_path) as cache:
        with pytest.raises(RuntimeError):
            await _compute(cache, model)
        model.error, model.answer = None, Computed(value=b"questions")
        assert await _compute(cache, model) == FoundValue(value=b"questions", source="computed")


async def test_values_of_accounts_and_kinds_are_apart_in_the_air_too(tmp_path: Path) -> None:
    """A flight is one account's, one kind's, one text's."""
    waiting = _Model(Computed(value=b"theirs"))
    own = _Model(Computed(value=b"own"))
    own.may_answer.set()
    async with cache_process(tmp_path) as cache, asyncio.timeout(10), asyncio.TaskGroup() as group:
        group.create_task(_compute(cache, waiting, "a\nb"), name="waiting")
        await waiting.is_asked.wait()
        for account, kind, text in (
            ("rival", "suggestions", "a\nb"),
            ("acme", "document", "a\nb"),
            ("acme", "suggestions", "a"),
            ("acme", "suggestions\na", "b"),
        ):
            found = await cache.edge.compute_once(account, kind, text, own, TIMES)
            assert found == FoundValue(value=b"own", source="computed")
        waiting.may_answer.set()
    assert (waiting.asked, own.asked) == (1, 4)


async def test_the_kind_of_answers_is_not_for_values(tmp_path: Path) -> None:
    """What is stored as an answer goes through the checks of answers."""
    async with cache_process(tmp_path) as cache:
        with pytest.raises(InvalidKey, match="other than 'query'"):
            await cache.edge.get("acme", "query", "red shoes")
