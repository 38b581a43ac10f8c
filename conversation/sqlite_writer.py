"""Does every write of this process in one thread; writes that wait together share one commit.

A group is one `BEGIN IMMEDIATE` transaction with a savepoint per write, so that one write's failure is its
own. A caller gets its answer after the commit, never before. Leases are a group of their own, which is not
synced to the disk: a lease matters only while its process lives, and the next turn's commit syncs it anyway.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from conversation.errors import ConversationError, StorageTimeout, StorageUnavailable
from conversation.sqlite_file import open_writer, translate

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

GROUP = 64
"""Writes in one commit: at 32 conversations the queue is never longer, and a group stays under 5 ms."""

MAX_WAITING = 8192
"""Writes that may wait; beyond it the disk has stopped, and more memory would not help."""


@dataclass(slots=True, kw_only=True)
class _Write:
    work: Callable[[sqlite3.Connection], Any]
    durable: bool
    scrub: bool
    future: asyncio.Future[Any]
    outcome: Any = None
    error: ConversationError | None = None


class SqliteWriter:
    """The one writing thread of a file in this process; it opens the file when the first write comes.

    After a failure of the file itself the connection is closed and the next write opens it anew, so a
    file that was repaired or replaced is used without a restart.
    """

    def __init__(self, path: Path, *, busy_seconds: float, max_bytes: int, timeout_seconds: float) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._max_bytes = max_bytes
        self._timeout_seconds = timeout_seconds
        self._waiting: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._connection: sqlite3.Connection | None = None
        self._synced = True
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="conversation-writer", daemon=True)
        self._thread.start()

    async def write(
        self, work: Callable[[sqlite3.Connection], Result], *, durable: bool = True, scrub: bool = False
    ) -> Result:
        """Run `work` inside a transaction and return its result once that is committed.

        `scrub` empties the write-ahead log afterwards, so that what was deleted is in no file.

        Raises:
            ConversationError: What `work` raised; its own changes are undone.
            StorageUnavailable: The file could not be written; nothing of it was.
        """
        if self._closed:
            raise StorageUnavailable("the conversation storage is closed")
        if self._waiting.qsize() >= MAX_WAITING:
            raise StorageUnavailable(f"{MAX_WAITING} writes are waiting for the conversation file")
        write = _Write(work=work, durable=durable, scrub=scrub, future=self._loop.create_future())
        self._waiting.put(write)
        try:
            async with asyncio.timeout(self._timeout_seconds):
                result: Result = await write.future
        except TimeoutError as error:
            raise StorageTimeout(
                f"the conversation file did not answer within {self._timeout_seconds} s"
            ) from error
        return result

    async def aclose(self) -> None:
        """Finish the writes that were accepted, then close the file."""
        self._closed = True
        self._waiting.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        closing = False
        while not closing:
            group: list[_Write] = []
            write = self._waiting.get()
            while write is not None:
                group.append(write)
                if len(group) >= GROUP or self._waiting.empty():
                    break
                write = self._waiting.get()
            closing = write is None
            # Leases first and by themselves: their turns go on while the disk syncs the commits.
            for part in (
                [each for each in group if not each.durable],
                [each for each in group if each.durable],
            ):
                if part:
                    self._answer(part)
        self._disconnect()

    def _answer(self, group: list[_Write]) -> None:
        try:
            self._commit(group)
        except (sqlite3.Error, OSError) as error:
            self._fail(group, translate(error, self._path))
        except ConversationError as error:
            self._fail(group, error)
        except Exception:
            logger.exception("conversation_write_failed")
            self._fail(group, StorageUnavailable("the conversation file could not be written"))
        else:
            self._scrub(group)
        self._loop.call_soon_threadsafe(_settle, group)

    def _commit(self, group: list[_Write]) -> None:
        connection = self._connected()
        self._sync(connection, group[0].durable)
        connection.execute("BEGIN IMMEDIATE")
        for write in group:
            self._run_one(connection, write)
        connection.execute("COMMIT")

    def _run_one(self, connection: sqlite3.Connection, write: _Write) -> None:
        connection.execute("SAVEPOINT one_write")
        try:
            write.outcome = write.work(connection)
        except ConversationError as error:
            write.error = error
            connection.execute("ROLLBACK TO one_write")
        connection.execute("RELEASE one_write")

    def _scrub(self, group: list[_Write]) -> None:
        if self._connection is None or not any(write.scrub for write in group):
            return
        try:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            # The rows are gone and stay gone; the log keeps their bytes until it is next emptied.
            logger.warning("conversation_scrub_failed", extra={"reason": str(error)})

    def _fail(self, group: list[_Write], error: ConversationError) -> None:
        for write in group:
            write.error = error
        self._disconnect()

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_writer(
                self._path, busy_seconds=self._busy_seconds, max_bytes=self._max_bytes
            )
            self._synced = True
        return self._connection

    def _sync(self, connection: sqlite3.Connection, durable: bool) -> None:
        if durable != self._synced:
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._synced = durable

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _settle(group: list[_Write]) -> None:
    for write in group:
        if write.future.done():
            continue
        if write.error is not None:
            write.future.set_exception(write.error)
        else:
            write.future.set_result(write.outcome)
