"""Opens the conversation file: one SQLite database in WAL mode that several processes share.

Switching to WAL ignores the busy timeout, so two processes that start together would fail; the first
opening of a file therefore happens under an advisory lock on a file beside it. Only the standard
library's SQLite may touch the file: a second copy of SQLite in the process would drop its locks.
"""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conversation.errors import (
    StorageDamaged,
    StorageFull,
    StorageLocked,
    StorageUnavailable,
)

SCHEMA_VERSION = 1

PAGE_BYTES = 4096

_SCHEMA = """
CREATE TABLE IF NOT EXISTS shared (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS conversation (
    row INTEGER PRIMARY KEY,
    account_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    created_at REAL NOT NULL,
    used_at REAL NOT NULL,
    updated_at REAL,
    last_number INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    token TEXT,
    lease_until REAL,
    committed_token TEXT,
    UNIQUE (account_id, conversation_id)
);
CREATE INDEX IF NOT EXISTS conversation_by_update ON conversation (account_id, updated_at);
CREATE TABLE IF NOT EXISTS turn (
    conversation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    created_at REAL NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (conversation, number)
);
CREATE TABLE IF NOT EXISTS alarm (
    conversation INTEGER PRIMARY KEY,
    due_at REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS alarm_by_time ON alarm (due_at);
"""


def open_writer(path: Path, *, busy_seconds: float, max_bytes: int) -> sqlite3.Connection:
    """Open the file for writing, creating it and its tables where they are missing.

    Raises:
        OSError: The folder cannot be used.
        sqlite3.Error: The file cannot be used; `translate` says what it means.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _opening_lock(path):
        connection = _connect(path, busy_seconds)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA journal_size_limit = 67108864")
            connection.execute(f"PRAGMA max_page_count = {max(1, max_bytes // PAGE_BYTES)}")
            # A deleted conversation leaves no words behind in free pages.
            connection.execute("PRAGMA secure_delete = ON")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise StorageUnavailable(
                    f"{path.name} has schema {version}, this program knows {SCHEMA_VERSION}:"
                    " use the newer program"
                )
            if version < SCHEMA_VERSION:
                connection.executescript(_SCHEMA)
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        except BaseException:
            connection.close()
            raise
    return connection


def open_reader(path: Path, *, busy_seconds: float) -> sqlite3.Connection:
    """Open a file that `open_writer` has prepared, for reading only."""
    connection = _connect(path, busy_seconds)
    connection.execute("PRAGMA query_only = ON")
    return connection


def translate(error: sqlite3.Error | OSError, path: Path) -> StorageUnavailable:
    """Return what a failure of the file means to a conversation."""
    detail = f"conversation file {path.name!r}: {error}"
    if isinstance(error, OSError):
        return StorageUnavailable(detail)
    code = getattr(error, "sqlite_errorcode", 0) or 0
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return StorageFull(detail)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StorageLocked(detail)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StorageDamaged(detail)
        case sqlite3.SQLITE_IOERR if code == sqlite3.SQLITE_IOERR_WRITE:
            # What a file size limit or a quota looks like from here.
            return StorageFull(detail)
        case _:
            return StorageUnavailable(detail)


def _connect(path: Path, busy_seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
    path.chmod(0o600)
    return connection


@contextmanager
def _opening_lock(path: Path) -> Iterator[None]:
    with path.with_name(f"{path.name}.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
