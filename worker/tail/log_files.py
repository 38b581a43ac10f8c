"""Reads log lines from files and from standard input, to their end or as they grow."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

Take = Callable[[bytes], None]

LONGEST_LINE = 4 * 1024 * 1024
"""A longer one is no log line; it is handed on cut, and fails there."""
_LOOK_SECONDS = 0.2
_LINES_AT_ONCE = 500


async def read_file(path: Path, take: Take, *, follow: bool) -> None:
    """Hand the file's lines to `take`; with `follow` go on as it grows, is cut short or replaced.

    Raises:
        OSError: It cannot be opened or read.
    """
    while True:
        with path.open("rb") as file:
            await _read(file, take, follow=follow, path=path)
        if not follow:
            return


async def _read(file: BinaryIO, take: Take, *, follow: bool, path: Path) -> None:
    """Hand over lines until the end; following, until another file has taken the place of this one."""
    rest = b""
    since_pause = 0
    while True:
        piece = file.readline(LONGEST_LINE)
        rest += piece
        if rest.endswith(b"\n") or len(rest) >= LONGEST_LINE or (rest and not piece and not follow):
            take(rest)
            rest = b""
            since_pause += 1
            if since_pause >= _LINES_AT_ONCE:
                since_pause = 0
                await asyncio.sleep(0)
        elif not piece:
            if not follow:
                return
            await asyncio.sleep(_LOOK_SECONDS)
            if _was_replaced(file, path):
                return


def _was_replaced(file: BinaryIO, path: Path) -> bool:
    """Return whether the path names another file by now, or this one has lost what was read of it."""
    ours = os.fstat(file.fileno())
    try:
        now = path.stat()
    except FileNotFoundError:
        return False
    return (now.st_dev, now.st_ino) != (ours.st_dev, ours.st_ino) or now.st_size < file.tell()


async def read_input(take: Take) -> None:
    """Hand the lines of standard input to `take` as they come, to its end."""
    raw = sys.stdin.buffer
    mode = os.fstat(raw.fileno()).st_mode
    waits = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and raw.isatty())
    if not waits:
        await _read(raw, take, follow=False, path=Path("-"))
        return
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), raw)
    try:
        while line := await _one_line(reader):
            take(line)
    finally:
        transport.close()


async def _one_line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readline()
    except ValueError:
        # The reader has dropped a line that is too long.
        return b"(a line that is too long)\n"
