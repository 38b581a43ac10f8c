"""Loads and opens a part when it is first used, and keeps it until the process closes.

An HTTP client with its certificates takes some ten megabytes and a fifth of a second: a process in which
nobody fetches a page or asks a permission service does without.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

Part = TypeVar("Part")


async def loaded(module: str) -> Any:
    """Return a module, imported in a thread where it is not there yet: nobody waits for the disk."""
    return await asyncio.to_thread(importlib.import_module, module)


@asynccontextmanager
async def opened_at_first_use(
    open_part: Callable[[], Awaitable[AbstractAsyncContextManager[Part]]],
) -> AsyncIterator[Callable[[], Coroutine[Any, Any, Part]]]:
    """Yield what returns the part, opening it at the first call alone; leaving closes it, if it is open."""
    opening = asyncio.Lock()
    opened: list[Part] = []
    async with AsyncExitStack() as stack:

        async def part() -> Part:
            if not opened:
                async with opening:
                    if not opened:
                        opened.append(await stack.enter_async_context(await open_part()))
            return opened[0]

        yield part
