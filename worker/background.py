"""Work that outlives a response: kept in one group, its failures logged, drained on shutdown."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

logger = logging.getLogger(__name__)


class Background:
    """Keeps work going after the response has ended."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._tasks: set[asyncio.Task[None]] = set()

    def __call__(self, work: Coroutine[Any, Any, None], *, name: str) -> None:
        """Start `work`; its failure is logged, never raised."""
        task = self._group.create_task(_guarded(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settle(self) -> None:
        """Return when nothing is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def drain(self, timeout_seconds: float) -> None:
        """Wait for what is under way, at most `timeout_seconds`; then cancel the rest."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=timeout_seconds)
            for task in late:
                logger.warning("background_work_cut_off", extra={"work": task.get_name()})
                task.cancel()


async def _guarded(work: Coroutine[Any, Any, None], name: str) -> None:
    try:
        await work
    except Exception:
        logger.exception("background_work_failed", extra={"work": name})


@asynccontextmanager
async def open_background(drain_seconds: float) -> AsyncIterator[Background]:
    """Open a group for background work; on leaving, drain it within the bound."""
    async with asyncio.TaskGroup() as group:
        background = Background(group)
        try:
            yield background
        finally:
            await background.drain(drain_seconds)
