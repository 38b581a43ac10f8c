"""What every edge cache keeps, in process and in a real Redis."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator

import pytest

from cache.edge_cache import MAX_VALUE_BYTES, EdgeCache, EdgeKey, EdgeTimes
from cache.errors import EntryTooLarge
from cache.in_process_edge import InProcessEdge
from cache.redis_connection import open_redis
from cache.redis_edge import RedisEdge
from tests.support.clocks import FakeClock
from tests.support.redis_server import RedisServer, redis_server

pytestmark = pytest.mark.anyio

KEY = EdgeKey("acme", "query", "acme#shoes#red shoes")
TIMES = EdgeTimes()


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    """Run one Redis for the module."""
    with redis_server() as running:
        yield running


@pytest.fixture
def clock() -> FakeClock:
    """Return a clock that the test moves."""
    return FakeClock()


@pytest.fixture(params=["in_process", "redis"])
async def edge(request: pytest.FixtureRequest, clock: FakeClock) -> AsyncIterator[EdgeCache]:
    """Yield each implementation."""
    if request.param == "in_process":
        yield InProcessEdge(max_bytes=8_000_000, monotonic=clock)
        return
    client = open_redis(request.getfixturevalue("server").url)
    try:
        edge = RedisEdge(client, prefix=f"test:{uuid.uuid4().hex}", clock=clock)
        yield edge
        await edge.close()
    finally:
        await client.aclose()


async def test_a_value_is_fresh_for_an_hour_then_stale_for_another_then_gone(
    edge: EdgeCache, clock: FakeClock
) -> None:
    """Source: flow document, step 3: staleness at 1 h, max-age 2 h."""
    await edge.put(KEY, b"answer", TIMES)
    seen = []
    for _ in range(3):
        clock.advance(3590)
        found = await edge.get(KEY)
        seen.append(None if found is None else (found.value, found.is_stale))
        clock.advance(20)
    assert seen == [(b"answer", False), (b"answer", True), None]


async def test_a_put_makes_a_stale_value_fresh(edge: EdgeCache, clock: FakeClock) -> None:
    """A refresh starts the hour again."""
    await edge.put(KEY, b"old", TIMES)
    clock.advance(4000)
    await edge.put(KEY, b"new", TIMES)
    found = await edge.get(KEY)
    assert found is not None
    assert (found.value, found.is_stale) == (b"new", False)


async def test_every_value_has_its_own_times(edge: EdgeCache, clock: FakeClock) -> None:
    """Suggestions live thirty days beside answers that live two hours."""
    suggestion = EdgeKey("acme", "suggestions", "p1")
    await edge.put(suggestion, b"s", EdgeTimes(fresh_seconds=30 * 86_400, max_age_seconds=30 * 86_400))
    await edge.put(KEY, b"a", TIMES)
    clock.advance(29 * 86_400)
    found = await edge.get(suggestion)
    assert found is not None
    assert not found.is_stale
    assert await edge.get(KEY) is None


async def test_one_caller_per_lease_may_refresh(edge: EdgeCache) -> None:
    """The others leave the source alone for a minute."""
    assert [await edge.claim_refresh(KEY) for _ in range(5)] == [True, False, False, False, False]
    assert await edge.claim_refresh(EdgeKey("acme", "query", "another"))


async def test_kinds_and_accounts_never_meet(edge: EdgeCache) -> None:
    """The same text is another value for another account, and for another kind."""
    await edge.put(KEY, b"mine", TIMES)
    assert await edge.get(KEY._replace(account_id="rival")) is None
    assert await edge.get(KEY._replace(kind="suggestions")) is None
    assert await edge.get(EdgeKey("acme:query", "x", KEY.text)) is None


async def test_a_dropped_account_is_gone_at_once_and_nobody_else(edge: EdgeCache) -> None:
    """One call, however many values; what is put afterwards stays."""
    keys = [EdgeKey("acme", "query", f"q{number}") for number in range(50)]
    rival = EdgeKey("rival", "query", "q1")
    for key in [*keys, rival]:
        await edge.put(key, b"x", TIMES)
    await edge.drop_account("acme")
    assert [await edge.get(key) for key in keys] == [None] * 50
    assert await edge.get(rival) is not None
    await edge.put(keys[0], b"again", TIMES)
    found = await edge.get(keys[0])
    assert found is not None
    assert found.value == b"again"


async def test_a_removed_value_is_absent_and_removing_twice_is_nothing(edge: EdgeCache) -> None:
    """Removal is idempotent."""
    await edge.put(KEY, b"x", TIMES)
    await edge.remove(KEY)
    await edge.remove(KEY)
    assert await edge.get(KEY) is None


async def test_a_value_over_the_limit_is_refused(edge: EdgeCache) -> None:
    """One value must not push everything else out."""
    with pytest.raises(EntryTooLarge):
        await edge.put(KEY, bytes(MAX_VALUE_BYTES + 1), TIMES)


async def test_any_text_can_be_a_key(edge: EdgeCache) -> None:
    """Braces, colons and blanks of a merchant's names do not break the naming."""
    odd = EdgeKey("a{b}:c %", "kind:with}braces", "x\0y 😀")
    await edge.put(odd, b"v", TIMES)
    found = await edge.get(odd)
    assert found is not None
    assert found.value == b"v"
