"""Work that outlives its caller is bounded, fails alone, and ends with the cache."""

from __future__ import annotations

import asyncio
import logging

import pytest

from cache.background_work import background_work

pytestmark = pytest.mark.anyio


async def test_a_failure_is_logged_and_ends_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    """One bad read does not take the others with it."""
    done = asyncio.Event()

    async def fail() -> None:
        raise RuntimeError("broken")

    async def go_on() -> None:
        await asyncio.sleep(0)
        done.set()

    with caplog.at_level(logging.ERROR):
        async with asyncio.timeout(5), background_work(limit=10, grace_seconds=1) as work:
            work.start(fail(), name="bad")
            work.start(go_on(), name="good")
            await work.settle()
    assert done.is_set()
    assert [record.__dict__["work"] for record in caplog.records] == ["bad"]


async def test_beyond_its_bound_work_is_refused() -> None:
    """A slow tier does not collect tasks without end."""
    gate = asyncio.Event()

    async def wait() -> None:
        await gate.wait()

    async with asyncio.timeout(5), background_work(limit=2, grace_seconds=1) as work:
        assert [work.start(wait(), name="slow") for _ in range(3)] == [True, True, False]
        gate.set()


async def test_closing_waits_for_what_ends_and_cancels_what_does_not() -> None:
    """Loops go at once, a promotion that is under way gets its moment, the rest is cancelled."""
    ended: list[str] = []

    async def finish() -> None:
        await asyncio.sleep(0)
        ended.append("finished")

    async def never(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    async with asyncio.timeout(5), background_work(limit=10, grace_seconds=0.05) as work:
        work.start(never("loop"), name="loop", until_closing=True)
        work.start(never("stuck"), name="stuck")
        work.start(finish(), name="finish")
        await asyncio.sleep(0)
    assert sorted(ended) == ["finished", "loop", "stuck"]
    assert ended[-1] == "stuck"
