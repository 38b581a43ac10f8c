"""Keeps conversations in one SQLite file; the embedded default.

Writes go to the writer thread and its group commits; reads of whole conversations and lists go to a
second connection in a thread of its own, which WAL lets run beside the writer.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from conversation import sqlite_statements as statements
from conversation.errors import StorageTimeout, StorageUnavailable
from conversation.policy import MAX_FILE_BYTES
from conversation.sqlite_file import open_reader, translate
from conversation.sqlite_writer import SqliteWriter
from conversation.storage import (
    BegunTurn,
    ClaimedAlarm,
    ConversationKey,
    ConversationSummary,
    StoredConversation,
)

Result = TypeVar("Result")


class SqliteStorage:
    """A `ConversationStorage` over one file; several processes of one machine may use the same file."""

    def __init__(
        self,
        path: Path,
        *,
        busy_seconds: float = 1.0,
        timeout_seconds: float = 2.0,
        max_bytes: int = MAX_FILE_BYTES,
    ) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._timeout_seconds = timeout_seconds
        self._writer = SqliteWriter(
            path, busy_seconds=busy_seconds, max_bytes=max_bytes, timeout_seconds=timeout_seconds
        )
        self._reader_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="conversation-reader")
        self._reader: sqlite3.Connection | None = None

    async def begin_turn(
        self,
        key: ConversationKey,
        token: str,
        *,
        now: float,
        lease_until: float,
        history: int,
        alarm_at: float,
    ) -> BegunTurn:
        """See `TurnStorage`."""
        return await self._writer.write(
            lambda file: statements.begin_turn(file, key, token, now, lease_until, history, alarm_at),
            durable=False,
        )

    async def commit_turn(
        self, key: ConversationKey, token: str, body: bytes, *, now: float, keep: int, alarm_at: float
    ) -> int:
        """See `TurnStorage`; returns after the group's commit is synced."""
        return await self._writer.write(
            lambda file: statements.commit_turn(file, key, token, body, now, keep, alarm_at)
        )

    async def renew_turn(self, key: ConversationKey, token: str, *, lease_until: float) -> bool:
        """See `TurnStorage`."""
        return await self._writer.write(
            lambda file: statements.renew_turn(file, key, token, lease_until), durable=False
        )

    async def release_turn(self, key: ConversationKey, token: str) -> None:
        """See `TurnStorage`."""
        await self._writer.write(lambda file: statements.release_turn(file, key, token), durable=False)

    async def claim_alarms(self, *, now: float, claim_until: float, limit: int) -> Sequence[ClaimedAlarm]:
        """See `AlarmStorage`."""
        return await self._writer.write(
            lambda file: statements.claim_alarms(file, now, claim_until, limit), durable=False
        )

    async def postpone_alarm(self, alarm: ClaimedAlarm, due_at: float, *, attempts: int) -> None:
        """See `AlarmStorage`."""
        await self._writer.write(
            lambda file: statements.postpone_alarm(file, alarm, due_at, attempts), durable=False
        )

    async def delete_if_idle(self, key: ConversationKey, *, idle_since: float) -> float | None:
        """See `AlarmStorage`."""
        return await self._writer.write(
            lambda file: statements.delete_if_idle(file, key, idle_since), scrub=True
        )

    async def read(self, key: ConversationKey) -> StoredConversation | None:
        """See `ConversationStorage`."""
        found = await self._read(partial(statements.read, key=key))
        return None if found is None else StoredConversation(summary=found[0], turns=found[1])

    async def list_conversations(
        self, account_id: str, *, limit: int, offset: int
    ) -> Sequence[ConversationSummary]:
        """See `ConversationStorage`."""
        return await self._read(lambda file: statements.list_conversations(file, account_id, limit, offset))

    async def delete(self, key: ConversationKey) -> bool:
        """See `ConversationStorage`; the deleted words leave the file and its log too."""
        return await self._writer.write(lambda file: statements.delete(file, key), scrub=True)

    async def shared_secret(self, proposed: bytes) -> bytes:
        """See `ConversationStorage`."""
        return await self._writer.write(lambda file: statements.shared_secret(file, proposed))

    async def aclose(self) -> None:
        """Finish the writes that were accepted and close both connections."""
        await self._writer.aclose()
        await asyncio.to_thread(self._reader_thread.shutdown)
        if self._reader is not None:
            self._reader.close()

    async def _read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await loop.run_in_executor(self._reader_thread, self._read_in_thread, work)
        except TimeoutError as error:
            raise StorageTimeout(
                f"the conversation file did not answer within {self._timeout_seconds} s"
            ) from error
        except RuntimeError as error:
            raise StorageUnavailable("the conversation storage is closed") from error

    def _read_in_thread(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        try:
            if self._reader is None:
                self._reader = open_reader(self._path, busy_seconds=self._busy_seconds)
            # One snapshot for all statements of a read: a trim between two of them must not show.
            self._reader.execute("BEGIN")
            result = work(self._reader)
            self._reader.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            reader, self._reader = self._reader, None
            if reader is not None:
                reader.close()
            raise translate(error, self._path) from error
        return result
