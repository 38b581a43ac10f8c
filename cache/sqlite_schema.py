"""Opens the SQLite file of cached queries and lays out its one table.

Switching a new file to WAL ignores SQLite's busy timeout, so two processes that start together would
meet "database is locked": the switch and the schema are made under a file lock.
"""

from __future__ import annotations

import fcntl
import sqlite3
from pathlib import Path

_PAGE_BYTES = 4096

_SCHEMA = """
CREATE TABLE IF NOT EXISTS cached_query (
  pk TEXT NOT NULL UNIQUE,
  scope TEXT NOT NULL,
  account TEXT NOT NULL,
  entry BLOB,
  written_at_ms INTEGER NOT NULL,
  expires_at INTEGER,
  pinned INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS cached_query_by_scope ON cached_query (scope, written_at_ms, pk);
CREATE INDEX IF NOT EXISTS cached_query_by_account ON cached_query (account);
CREATE INDEX IF NOT EXISTS cached_query_by_expiry ON cached_query (expires_at) WHERE expires_at IS NOT NULL;
"""


def open_connection(path: Path, *, max_bytes: int, busy_seconds: float) -> sqlite3.Connection:
    """Return a connection to a file that is there, in WAL mode, with the schema.

    Raises:
        sqlite3.Error: SQLite refuses the file.
        OSError: The folder or the lock file cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        connection = sqlite3.connect(path, timeout=busy_seconds)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA max_page_count = {max(16, max_bytes // _PAGE_BYTES)}")
            connection.executescript(_SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
    return connection
