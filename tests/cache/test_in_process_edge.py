"""What the in-process edge cache keeps beyond the contract: its budget of bytes."""

from __future__ import annotations

import pytest

from cache.edge_cache import EdgeKey, EdgeTimes
from cache.errors import EntryTooLarge
from cache.in_process_edge import InProcessEdge

pytestmark = pytest.mark.anyio

TIMES = EdgeTimes()


def _key(number: int) -> EdgeKey:
    return EdgeKey("acme", "query", f"q{number}")


async def test_it_never_holds_more_than_its_budget() -> None:
    """Bounded by bytes, overhead included."""
    edge = InProcessEdge(max_bytes=100_000)
    for number in range(1000):
        await edge.put(_key(number), bytes(number), TIMES)
        assert edge.used_bytes <= 100_000
    assert edge.used_bytes > 50_000


async def test_the_least_recently_used_value_goes_first() -> None:
    """A value that is asked for stays."""
    edge = InProcessEdge(max_bytes=15_000)
    for number in range(10):
        await edge.put(_key(number), bytes(1000), TIMES)
    assert await edge.get(_key(0)) is not None
    await edge.put(_key(10), bytes(2000), TIMES)
    assert await edge.get(_key(0)) is not None
    assert await edge.get(_key(1)) is None


async def test_replacing_and_removing_give_the_bytes_back() -> None:
    """The budget does not leak."""
    edge = InProcessEdge(max_bytes=100_000)
    for _ in range(100):
        await edge.put(_key(1), bytes(5000), TIMES)
    assert edge.used_bytes < 6000
    await edge.remove(_key(1))
    assert edge.used_bytes == 0
    await edge.put(_key(1), bytes(5000), TIMES)
    await edge.drop_account("acme")
    assert edge.used_bytes == 0


async def test_a_value_over_the_whole_budget_is_refused() -> None:
    """It would empty the cache and still not fit."""
    edge = InProcessEdge(max_bytes=10_000)
    await edge.put(_key(1), bytes(100), TIMES)
    with pytest.raises(EntryTooLarge):
        await edge.put(_key(2), bytes(10_000), TIMES)
    assert await edge.get(_key(1)) is not None


@pytest.mark.parametrize(("fresh", "max_age"), [(-1, 10), (20, 10), (0, 0)])
def test_times_that_contradict_each_other_are_refused(fresh: float, max_age: float) -> None:
    """Fresh longer than kept makes no sense."""
    with pytest.raises(ValueError, match="fresh_seconds must be between 0 and max_age_seconds"):
        EdgeTimes(fresh_seconds=fresh, max_age_seconds=max_age)
