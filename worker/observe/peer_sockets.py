"""Unix sockets between the processes of one server, in a folder that is their user's alone.

A socket's path may have 107 bytes; a longer one is reached through the folder's own descriptor.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_LONGEST_PATH = 100
_LAST_WORDS_SECONDS = 0.5
_LONGEST_LINE = 1024 * 1024
_MAX_CALLS = 64
"""Calls under way at once; a tail with a follower is one for each process."""


@asynccontextmanager
async def listening_at(
    path: Path, serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
) -> AsyncIterator[None]:
    """Serve connections to `path` while the block lasts; on leaving, cut those that are open."""
    _remove(path)
    under_way: set[asyncio.Task[None]] = set()
    async with asyncio.TaskGroup() as group:

        async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await serve(reader, writer)
            finally:
                with suppress(OSError):
                    writer.close()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if len(under_way) >= _MAX_CALLS:
                writer.close()
                return
            task = group.create_task(one(reader, writer), name="peer-connection")
            under_way.add(task)
            task.add_done_callback(under_way.discard)

        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with _reachable(path) as address:
            listener.bind(address)
        os.chmod(path, 0o600)
        server = await asyncio.start_unix_server(accept, sock=listener)
        try:
            yield
        finally:
            server.close()
            _remove(path)
            if under_way:
                await asyncio.wait(under_way, timeout=_LAST_WORDS_SECONDS)
            for task in under_way:
                task.cancel()


@asynccontextmanager
async def dialled(path: Path, timeout_seconds: float) -> AsyncIterator[Streams]:
    """Connect to `path`, and hang up on leaving.

    Raises:
        OSError: Nobody listens there.
        TimeoutError: Nobody accepted in time.
    """
    with _reachable(path) as address:
        async with asyncio.timeout(timeout_seconds):
            reader, writer = await asyncio.open_unix_connection(address, limit=_LONGEST_LINE)
    try:
        yield reader, writer
    finally:
        writer.close()


@contextmanager
def _reachable(path: Path) -> Iterator[str]:
    if len(os.fsencode(path)) <= _LONGEST_PATH:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
