"""A part that is opened when somebody first uses it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from search_proxy.first_use import loaded, opened_at_first_use

pytestmark = pytest.mark.anyio


class _Door:
    """Counts how often something is opened and closed; it opens when the gate is set."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.opened = self.closed = 0

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[str]:
        self.opened += 1
        yield f"part {self.opened}"
        self.closed += 1

    async def open(self) -> AbstractAsyncContextManager[str]:
        """Return what opens it."""
        await self.gate.wait()
        return self._open()


async def test_it_is_opened_once_for_all_who_ask_at_the_same_time_and_closed_at_the_end() -> None:
    """Who asks while it opens waits for it; who asks later has it at once."""
    door = _Door()
    async with asyncio.timeout(5):
        async with opened_at_first_use(door.open) as part:
            async with asyncio.TaskGroup() as group:
                asking = [group.create_task(part(), name=f"ask:{number}") for number in range(3)]
                door.gate.set()
            assert [each.result() for each in asking] == ["part 1"] * 3
            assert await part() == "part 1"
            assert (door.opened, door.closed) == (1, 0)
    assert (door.opened, door.closed) == (1, 1)


async def test_what_nobody_uses_is_never_opened() -> None:
    """Leaving has nothing to close."""
    door = _Door()
    async with opened_at_first_use(door.open):
        pass
    assert (door.opened, door.closed) == (0, 0)


async def test_who_gives_up_while_it_opens_leaves_it_to_the_next() -> None:
    """A deadline that passes in the middle breaks nothing."""
    door = _Door()
    async with asyncio.timeout(5), opened_at_first_use(door.open) as part:
        async with asyncio.TaskGroup() as group:
            impatient = group.create_task(part(), name="impatient")
            await asyncio.sleep(0)
            impatient.cancel()
        door.gate.set()
        assert await part() == "part 1"
    assert door.opened == 1


async def test_a_module_that_is_not_there_is_said_at_its_use() -> None:
    """As an import says it."""
    assert (await loaded("search_proxy.web.keys")).TAVILY_URL.startswith("https://")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        await loaded("search_proxy.no_such_module")
