"""Accounts in one SQLite file, for every process of one machine.

A write takes the file's write lock first (`BEGIN IMMEDIATE`), so that the version check and the write are one
step for all processes. Calls run in a thread; one connection, one at a time: changes are rare and reads are
a few pages.
"""

from __future__ import annotations

import asyncio
import fcntl
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from search_proxy.accounts.account import Account
from search_proxy.accounts.errors import AccountConflict, AccountRefused, StoreUnavailable
from search_proxy.accounts.history import AuditEntry, PromptVersion
from search_proxy.accounts.store import MAX_ACCOUNT_BYTES, account_from, readable_accounts

_ResultT = TypeVar("_ResultT")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS accounts (
    account_id TEXT PRIMARY KEY, version INTEGER NOT NULL, change INTEGER NOT NULL UNIQUE, body TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS prompt_versions (
    account_id TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (account_id, name, version)
);
CREATE TABLE IF NOT EXISTS audit (
    account_id TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (account_id, version)
);
"""


class SqliteAccountStore:
    """Keeps accounts in a file; `open` it in the lifespan and `close` it at the end."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    @classmethod
    async def open(cls, path: Path) -> SqliteAccountStore:
        """Open the file, creating it where it does not exist.

        Raises:
            StoreUnavailable: It cannot be opened.
        """
        try:
            return cls(await asyncio.to_thread(_connect, path))
        except (OSError, sqlite3.Error) as error:
            raise StoreUnavailable(f"the accounts file {str(path)!r} cannot be opened: {error}") from error

    async def close(self) -> None:
        """Close the file."""
        await asyncio.to_thread(self._connection.close)

    async def changed_since(self, cursor: int) -> tuple[Sequence[Account], int]:
        """Return the accounts written since `cursor` and the next cursor."""

        def read(connection: sqlite3.Connection) -> tuple[Sequence[Account], int]:
            rows = connection.execute(
                "SELECT body, change FROM accounts WHERE change > ? ORDER BY change", (cursor,)
            ).fetchall()
            return readable_accounts(body for body, _ in rows), rows[-1][1] if rows else cursor

        return await self._run(read)

    async def read(self, account_id: str) -> Account | None:
        """Return the newest state of an account."""

        def read(connection: sqlite3.Connection) -> Account | None:
            row = connection.execute(
                "SELECT body FROM accounts WHERE account_id = ?", (account_id,)
            ).fetchone()
            return account_from(row[0]) if row else None

        return await self._run(read)

    async def write(self, account: Account, entry: AuditEntry, prompt: PromptVersion | None = None) -> None:
        """Write an account, its audit entry and a new prompt version, all of it or nothing."""
        body = account.model_dump_json()
        if len(body.encode()) > MAX_ACCOUNT_BYTES:
            raise AccountRefused(f"the account would have {len(body)} bytes; at most {MAX_ACCOUNT_BYTES} fit")

        def write(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                row = connection.execute(
                    "SELECT version FROM accounts WHERE account_id = ?", (account.account_id,)
                ).fetchone()
                if (row[0] if row else 0) != account.version - 1:
                    raise AccountConflict(account.account_id)
                connection.execute(
                    "INSERT INTO accounts"
                    " VALUES (?, ?, (SELECT coalesce(max(change), 0) + 1 FROM accounts), ?)"
                    " ON CONFLICT (account_id) DO UPDATE SET"
                    " version = excluded.version, change = excluded.change, body = excluded.body",
                    (account.account_id, account.version, body),
                )
                connection.execute(
                    "INSERT INTO audit VALUES (?, ?, ?)",
                    (entry.account_id, entry.version, entry.model_dump_json()),
                )
                if prompt is not None:
                    connection.execute(
                        "INSERT INTO prompt_versions VALUES (?, ?, ?, ?)",
                        (prompt.account_id, prompt.index, prompt.version, prompt.model_dump_json()),
                    )

        await self._run(write)

    async def prompt_versions(self, account_id: str, index: str) -> Sequence[PromptVersion]:
        """Return the versions of an index's prompt, the newest first, at most 200."""

        def read(connection: sqlite3.Connection) -> Sequence[PromptVersion]:
            rows = connection.execute(
                "SELECT body FROM prompt_versions WHERE account_id = ? AND name = ?"
                " ORDER BY version DESC LIMIT 200",
                (account_id, index),
            )
            return [PromptVersion.model_validate_json(body) for (body,) in rows]

        return await self._run(read)

    async def prompt_version(self, account_id: str, index: str, version: int) -> PromptVersion | None:
        """Return one version, or None."""

        def read(connection: sqlite3.Connection) -> PromptVersion | None:
            row = connection.execute(
                "SELECT body FROM prompt_versions WHERE account_id = ? AND name = ? AND version = ?",
                (account_id, index, version),
            ).fetchone()
            return PromptVersion.model_validate_json(row[0]) if row else None

        return await self._run(read)

    async def audit(self, account_id: str, limit: int) -> Sequence[AuditEntry]:
        """Return the newest audit entries, the newest first."""

        def read(connection: sqlite3.Connection) -> Sequence[AuditEntry]:
            rows = connection.execute(
                "SELECT body FROM audit WHERE account_id = ? ORDER BY version DESC LIMIT ?",
                (account_id, limit),
            )
            return [AuditEntry.model_validate_json(body) for (body,) in rows]

        return await self._run(read)

    async def _run(self, work: Callable[[sqlite3.Connection], _ResultT]) -> _ResultT:
        def locked() -> _ResultT:
            with self._lock:
                return work(self._connection)

        try:
            return await asyncio.to_thread(locked)
        except sqlite3.Error as error:
            raise StoreUnavailable(f"the accounts file cannot be used: {error}") from error


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Switching to WAL ignores the busy timeout, so two processes that start together take turns here.
    with path.with_suffix(path.suffix + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path.touch(mode=0o600)
        connection = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(_SCHEMA)
    return connection
