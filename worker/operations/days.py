"""Tokens by day, account and model, kept over restarts in one small SQLite file.

Added up in memory and written every few seconds by a thread; a process that is killed loses those seconds.
A disk that fails loses nothing until the process ends: the sums wait.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from worker.observe.completion import Completion
from worker.sqlite_file import open_sqlite

logger = logging.getLogger(__name__)

KEPT_DAYS = 90
WRITE_SECONDS = 5.0
_MAX_WAITING = 10_000
_KINDS = ("input", "output", "thoughts", "cached")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS spent (
    day TEXT NOT NULL, account TEXT NOT NULL, model TEXT NOT NULL, requests INTEGER NOT NULL,
    input INTEGER NOT NULL, output INTEGER NOT NULL, thoughts INTEGER NOT NULL, cached INTEGER NOT NULL,
    PRIMARY KEY (account, day, model)
) WITHOUT ROWID
"""
_ADD = """
INSERT INTO spent VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    requests = requests + excluded.requests, input = input + excluded.input,
    output = output + excluded.output, thoughts = thoughts + excluded.thoughts,
    cached = cached + excluded.cached
"""


class Days:
    """The tokens of the last days."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: dict[tuple[str, str, str], list[int]] = {}
        self._failed = False

    def observe(self, completion: Completion) -> None:
        """Add what a completion has used."""
        if completion.model is None or not completion.tokens:
            return
        day = datetime.fromtimestamp(completion.at, UTC).date().isoformat()
        key = (day, completion.account, completion.model)
        spent = self._waiting.get(key)
        if spent is None:
            if len(self._waiting) >= _MAX_WAITING:
                return
            spent = self._waiting[key] = [0] * (1 + len(_KINDS))
        spent[0] += 1
        for place, kind in enumerate(_KINDS, 1):
            spent[place] += completion.tokens.get(kind, 0)

    async def of(self, account: str) -> list[dict[str, Any]]:
        """Return an account's days, newest first: `{"day", "model", "requests", "tokens"}` a model."""
        await self.write()
        rows = await asyncio.to_thread(self._read, account)
        return [
            {"day": day, "model": model, "requests": requests}
            | {"tokens": dict(zip(_KINDS, tokens, strict=True))}
            for day, model, requests, *tokens in rows
        ]

    async def write(self) -> None:
        """Write what waits; where that fails it goes on waiting."""
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        try:
            await asyncio.to_thread(self._add, waiting)
            self._failed = False
        except (OSError, sqlite3.Error) as error:
            if not self._failed:
                logger.warning("days_not_written", extra={"error": str(error)})
            self._failed = True
            self._put_back(waiting)

    def _put_back(self, waiting: Mapping[tuple[str, str, str], list[int]]) -> None:
        for key, spent in waiting.items():
            since = self._waiting.get(key, [0] * len(spent))
            self._waiting[key] = [a + b for a, b in zip(since, spent, strict=True)]

    def _opened(self) -> sqlite3.Connection:
        return open_sqlite(self._path, _SCHEMA, isolation_level="DEFERRED")

    def _add(self, waiting: Mapping[tuple[str, str, str], list[int]]) -> None:
        with closing(self._opened()) as connection, connection:
            connection.executemany(_ADD, [(*key, *spent) for key, spent in waiting.items()])
            connection.execute("DELETE FROM spent WHERE day < date('now', ?)", (f"-{KEPT_DAYS} days",))

    def _read(self, account: str) -> list[tuple[Any, ...]]:
        try:
            with closing(self._opened()) as connection:
                return connection.execute(
                    "SELECT day, model, requests, input, output, thoughts, cached FROM spent"
                    " WHERE account = ? ORDER BY day DESC, model",
                    (account,),
                ).fetchall()
        except (OSError, sqlite3.Error) as error:
            logger.warning("days_not_read", extra={"error": str(error)})
            return []


@asynccontextmanager
async def open_days(path: Path) -> AsyncIterator[Days]:
    """Open the days of a data folder, written every few seconds and once more in the end."""
    days = Days(path)
    stopped = asyncio.Event()

    async def write_on() -> None:
        while not stopped.is_set():
            try:
                async with asyncio.timeout(WRITE_SECONDS):
                    await stopped.wait()
            except TimeoutError:
                await days.write()

    async with asyncio.TaskGroup() as group:
        group.create_task(write_on(), name="write-days")
        try:
            yield days
        finally:
            stopped.set()
    await days.write()
