"""Opens an SQLite file that several processes of one machine write to."""

from __future__ import annotations

import fcntl
import sqlite3
from pathlib import Path
from typing import Literal


def open_sqlite(
    path: Path, schema: str, *, isolation_level: Literal["DEFERRED"] | None
) -> sqlite3.Connection:
    """Return a connection in WAL mode with durable commits and the schema; the file is made if need be.

    `isolation_level` None leaves transactions to the caller.

    Raises:
        OSError: The folder or the lock file cannot be made.
        sqlite3.Error: SQLite refuses the file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Switching to WAL ignores the busy timeout, so two processes must not do it at once.
    with path.with_name(f"{path.name}.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        connection = sqlite3.connect(
            path, timeout=5, isolation_level=isolation_level, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.executescript(schema)
        except BaseException:
            connection.close()
            raise
    return connection
