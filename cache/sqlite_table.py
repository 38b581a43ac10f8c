"""The table of cached queries in one SQLite file: the embedded default.

Reads and writes have a thread and a connection each, so that a writer who waits for another process's
lock holds up no lookup. Only the standard library's SQLite may open this file: a second SQLite in the same
process would drop its locks.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from cache.errors import TierBusy, TierFull, TierReadOnly, TierUnavailable
from cache.keys import QueryKey, index_of, scope_of
from cache.query_table import (
    CLOCK_SKEW_MS,
    DROP_RECORD_SECONDS,
    DROPS_SCOPE,
    TOMBSTONE_SECONDS,
    KeyChange,
    TableRow,
)
from cache.sqlite_schema import open_connection

T = TypeVar("T")

_PAGE_KEYS = 5000
"""A page takes a few milliseconds of the interpreter's lock, which the event loop can spare."""

_MAX_WAITING = 1024
"""Calls that wait for the reading or writing thread; more than that is an answer too late for anybody."""

_PUT = """
INSERT INTO cached_query (pk, scope, account, entry, written_at_ms, expires_at, pinned)
VALUES (:pk, :scope, :account, :entry, :written_at_ms, :expires_at, :pinned)
ON CONFLICT (pk) DO UPDATE SET entry = excluded.entry, written_at_ms = excluded.written_at_ms,
  expires_at = excluded.expires_at, pinned = excluded.pinned
WHERE excluded.pinned OR (NOT cached_query.pinned AND cached_query.written_at_ms
  NOT BETWEEN excluded.written_at_ms + 1 AND excluded.written_at_ms + :skew_ms)
"""


class SqliteTable:
    """Keeps cached answers in a WAL file that several processes of one machine may share."""

    name = "table"

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int,
        busy_seconds: float = 0.25,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._busy_seconds = busy_seconds
        self._clock = clock
        self._reading = _SqliteThread(self._open, "cache-sqlite-read")
        self._writing = _SqliteThread(self._open, "cache-sqlite-write")

    async def get(self, key: QueryKey) -> TableRow | None:
        """Return the row of a key.

        Raises:
            TierUnavailable: The file could not be read.
        """
        now = int(self._clock())

        def read(connection: sqlite3.Connection) -> TableRow | None:
            row = connection.execute(
                "SELECT CAST(entry AS BLOB), written_at_ms, expires_at, pinned FROM cached_query WHERE pk = ?"
                " AND entry IS NOT NULL AND (expires_at IS NULL OR expires_at > ?)",
                (key.text, now),
            ).fetchone()
            if row is None:
                return None
            return TableRow(entry=row[0], written_at_ms=row[1], expires_at=row[2], pinned=bool(row[3]))

        return await self._reading.run(read)

    async def put(self, key: QueryKey, row: TableRow) -> bool:
        """Store a row; return False where a pinned or a newer one stands.

        Raises:
            TierUnavailable: The file could not be written: locked, full or read-only.
        """
        values = {
            "pk": key.text,
            "scope": key.scope,
            "account": key.account_id,
            "entry": row.entry,
            "written_at_ms": row.written_at_ms,
            "expires_at": row.expires_at,
            "pinned": row.pinned,
            "skew_ms": CLOCK_SKEW_MS,
        }
        return await self._writing.run(lambda connection: connection.execute(_PUT, values).rowcount > 0)

    async def delete(self, key: QueryKey, *, written_at_ms: int) -> bool:
        """Replace a row by a tombstone; return whether there was one.

        Raises:
            TierUnavailable: The file could not be written.
        """
        now = int(self._clock())

        def bury(connection: sqlite3.Connection) -> bool:
            cursor = connection.execute(
                "UPDATE cached_query SET entry = NULL, pinned = 0, written_at_ms = ?, expires_at = ?"
                " WHERE pk = ? AND entry IS NOT NULL AND (expires_at IS NULL OR expires_at > ?)",
                (written_at_ms, now + TOMBSTONE_SECONDS, key.text, now),
            )
            return cursor.rowcount > 0

        return await self._writing.run(bury)

    async def drop_account(self, account_id: str, *, written_at_ms: int) -> int:
        """Delete every row of an account in one transaction, and tell it in `DROPS_SCOPE`.

        Raises:
            TierUnavailable: The file could not be written; nothing was deleted.
        """
        expires_at = int(self._clock()) + DROP_RECORD_SECONDS

        def drop(connection: sqlite3.Connection) -> int:
            dropped = connection.execute("DELETE FROM cached_query WHERE account = ?", (account_id,)).rowcount
            connection.execute(
                "INSERT OR REPLACE INTO cached_query (pk, scope, account, written_at_ms, expires_at, pinned)"
                " VALUES (?, ?, '', ?, ?, 0)",
                (scope_of(DROPS_SCOPE, account_id), DROPS_SCOPE, written_at_ms, expires_at),
            )
            return dropped

        return await self._writing.run(drop)

    async def changes(self, scope: str, since_ms: int) -> AsyncGenerator[Sequence[KeyChange], None]:
        """Yield pages of what was written or deleted in a scope at `since_ms` or later, oldest first.

        Raises:
            TierUnavailable: The file could not be read.
        """
        after: tuple[int, str] = (since_ms, "")
        while True:
            page = await self._reading.run(partial(_page, scope=scope, after=after))
            if page:
                after = (page[-1][1], page[-1][0])
                yield [KeyChange(index_of(pk) if scope == DROPS_SCOPE else pk, at) for pk, at in page]
            if len(page) < _PAGE_KEYS:
                return

    async def purge_expired(self) -> int:
        """Delete rows that nobody will see again; return how many.

        Raises:
            TierUnavailable: The file could not be written.
        """
        now = int(self._clock())

        def purge(connection: sqlite3.Connection) -> int:
            return connection.execute("DELETE FROM cached_query WHERE expires_at <= ?", (now,)).rowcount

        return await self._writing.run(purge)

    async def close(self) -> None:
        """Close both connections and end their threads."""
        await self._reading.close()
        await self._writing.close()

    def _open(self) -> sqlite3.Connection:
        return open_connection(self._path, max_bytes=self._max_bytes, busy_seconds=self._busy_seconds)


def _page(connection: sqlite3.Connection, *, scope: str, after: tuple[int, str]) -> list[tuple[str, int]]:
    return connection.execute(
        "SELECT pk, written_at_ms FROM cached_query WHERE scope = ? AND (written_at_ms, pk) > (?, ?)"
        " ORDER BY written_at_ms, pk LIMIT ?",
        (scope, *after, _PAGE_KEYS),
    ).fetchall()


class _SqliteThread:
    """One connection and the only thread that touches it; opened by the first call, again after a failure."""

    def __init__(self, open_: Callable[[], sqlite3.Connection], name: str) -> None:
        self._open = open_
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._connection: sqlite3.Connection | None = None
        self._waiting = 0

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._waiting >= _MAX_WAITING:
            raise TierBusy(SqliteTable.name, f"{self._waiting} calls wait already")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._run, work)
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._pool, self._disconnect)
        self._pool.shutdown(wait=False)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            if self._connection is None:
                self._connection = self._open()
            with self._connection:
                return work(self._connection)
        except sqlite3.Error as error:
            refused = _translated(error)
            if type(refused) is TierUnavailable:
                self._disconnect()
            raise refused from error
        except OSError as error:
            raise TierUnavailable(SqliteTable.name, f"the file cannot be opened: {error}") from error

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _translated(error: sqlite3.Error) -> TierUnavailable:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return TierBusy(SqliteTable.name, "the file is locked by another process")
    if code == sqlite3.SQLITE_FULL:
        return TierFull(SqliteTable.name, "the disk or the file's size limit is full")
    if code == sqlite3.SQLITE_READONLY:
        return TierReadOnly(SqliteTable.name, "the file is read-only")
    return TierUnavailable(SqliteTable.name, f"sqlite failed: {error}")
