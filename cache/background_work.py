"""Work that outlives the lookup that started it: slow reads, promotions, refreshes, upkeep.

One task group per open cache. Its bound keeps a slow tier from collecting tasks without end; on closing, what
runs gets a moment to finish and is then cancelled.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

logger = logging.getLogger(__name__)


class BackgroundWork:
    """A bounded set of tasks whose failures are logged and end nothing else."""

    def __init__(self, group: asyncio.TaskGroup, *, limit: int) -> None:
        self._group = group
        self._limit = limit
        self._tasks: set[asyncio.Task[None]] = set()
        self._endless: set[asyncio.Task[None]] = set()
        self._is_closing = False

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, None], *, name: str, until_closing: bool = False) -> bool:
        """Start `work`; return False, and do not, where the bound is reached or the cache is closing.

        Work that is `until_closing` has no end of its own: closing cancels it without waiting.
        """
        if self._is_closing or len(self._tasks) >= self._limit:
            work.close()
            return False
        task = self._group.create_task(_logged(work, name), name=f"cache:{name}")
        self._tasks.add(task)
        if until_closing:
            self._endless.add(task)
            task.add_done_callback(self._endless.discard)
        task.add_done_callback(self._tasks.discard)
        # A task that is cancelled before its first step never reaches the work that it was given.
        task.add_done_callback(lambda _: work.close())
        return True

    async def settle(self) -> None:
        """Return when nothing runs but what is `until_closing`."""
        while ending := self._tasks - self._endless:
            await asyncio.wait(ending)

    async def drain(self, grace_seconds: float) -> None:
        """Take no more work, wait for what runs, and cancel what is left after the grace."""
        self._is_closing = True
        for task in list(self._endless):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_seconds)
        for task in list(self._tasks):
            task.cancel()


@asynccontextmanager
async def background_work(*, limit: int, grace_seconds: float) -> AsyncIterator[BackgroundWork]:
    """Hold the group that background work runs in."""
    async with asyncio.TaskGroup() as group:
        work = BackgroundWork(group, limit=limit)
        try:
            yield work
        finally:
            await work.drain(grace_seconds)


async def _logged(work: Coroutine[Any, Any, None], name: str) -> None:
    try:
        await work
    except Exception:
        logger.exception("cache_background_failed", extra={"work": name})
