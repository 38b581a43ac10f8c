"""A budget is the tier's time: what a busy process spends elsewhere does not count."""

from __future__ import annotations

import asyncio
import time

import pytest

from cache.patience import wait_for_answer

pytestmark = pytest.mark.anyio


async def test_an_answer_that_came_while_the_loop_was_busy_is_waited_for() -> None:
    """The timer of the budget is due before the answer is seen, and fires with it, late."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()
    loop.call_soon(time.sleep, 0.2)
    loop.call_later(0.1, answer.set_result, "there")
    await wait_for_answer(answer, 0.05)
    assert answer.done()


async def test_an_answer_that_does_not_come_is_not_waited_for() -> None:
    """The future is left to whoever else waits for it."""
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with asyncio.timeout(5):
        await wait_for_answer(answer, 0.01)
    assert not answer.done()


async def test_a_loop_that_never_comes_round_in_time_ends_the_wait_at_the_ceiling() -> None:
    """However busy this process is, a shopper is not kept for ever."""
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def be_busy() -> None:
        while True:
            time.sleep(0.05)  # noqa: ASYNC251 - a busy loop is what this is about
            await asyncio.sleep(0)

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        busy = group.create_task(be_busy(), name="busy")
        await wait_for_answer(answer, 0.01)
        busy.cancel()
    assert not answer.done()


async def test_an_answer_that_is_there_is_not_waited_for() -> None:
    """Nor is it read: its reader does that."""
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    answer.set_result("there")
    await wait_for_answer(answer, 60.0)
    assert answer.result() == "there"
