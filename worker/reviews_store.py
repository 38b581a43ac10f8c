"""Review summaries and the jobs that store them, in one SQLite file for every process of one machine.

A job is written with its work before anybody is told of it, and done in one transaction, so that a process
that dies between the two leaves a job that the next one finishes. Calls run in a thread, one at a time.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import orjson

from worker.errors import UpstreamFailed
from worker.reviews_jobs import Job, JobItem, Review, ReviewWork
from worker.sqlite_file import open_sqlite

logger = logging.getLogger(__name__)

MAX_JOBS_PER_ACCOUNT = 1_000
"""Finished jobs kept for whoever asks; the oldest go first."""

_ResultT = TypeVar("_ResultT")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS review (
    account_id TEXT NOT NULL, index_name TEXT NOT NULL, document_id TEXT NOT NULL,
    summary TEXT NOT NULL, updated_at REAL NOT NULL,
    PRIMARY KEY (account_id, index_name, document_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS job (
    number INTEGER PRIMARY KEY, job_id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL,
    index_name TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, created_at REAL NOT NULL,
    finished_at REAL, work TEXT NOT NULL, items TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX IF NOT EXISTS job_by_account ON job (account_id, index_name, number);
"""
_JOB = "job_id, account_id, index_name, kind, status, created_at, finished_at, work, items"


class ReviewStore:
    """Keeps reviews and jobs in a file, which is made when it is first written to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever stored."""
        return not self._path.exists()

    async def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            await asyncio.to_thread(self._connection.close)

    async def add_job(self, job: Job) -> None:
        """Write a job that is to be done, and forget the account's oldest."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                f"INSERT INTO job ({_JOB}) VALUES (?, ?, ?, ?, 'queued', ?, NULL, ?, '[]')",
                (
                    job.id,
                    job.account_id,
                    job.index,
                    job.kind,
                    job.created_at,
                    orjson.dumps(job.work.to_json()).decode(),
                ),
            )
            connection.execute(
                "DELETE FROM job WHERE account_id = ? AND status != 'queued' AND number <="
                " (SELECT max(number) FROM job WHERE account_id = ?) - ?",
                (job.account_id, job.account_id, MAX_JOBS_PER_ACCOUNT),
            )

        await self._write(write)

    async def finish_job(self, job: Job, items: Sequence[JobItem], finished_at: float) -> None:
        """Do the job's work for the items that are good, and write its end, all of it or nothing."""
        good = {item.id for item in items if item.status == 200}
        place = (job.account_id, job.index)

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT INTO review VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " summary = excluded.summary, updated_at = excluded.updated_at",
                [(*place, each.id, each.summary, finished_at) for each in job.work.stored if each.id in good],
            )
            connection.executemany(
                "DELETE FROM review WHERE account_id = ? AND index_name = ? AND document_id = ?",
                [(*place, identifier) for identifier in job.work.deleted if identifier in good],
            )
            rows = orjson.dumps([[item.id, item.status, item.message] for item in items]).decode()
            status = "done" if good or not items else "failed"
            connection.execute(
                "UPDATE job SET status = ?, finished_at = ?, items = ?, work = '{}' WHERE job_id = ?",
                (status, finished_at, rows, job.id),
            )

        await self._write(write)

    async def jobs(
        self,
        *,
        account_id: str | None = None,
        index: str | None = None,
        queued: bool = False,
        limit: int = 100,
    ) -> list[Job]:
        """Return jobs, newest first."""
        where = ["1 = 1", *(["status = 'queued'"] if queued else [])]
        values: list[Any] = []
        for column, value in (("account_id", account_id), ("index_name", index)):
            if value is not None:
                where.append(f"{column} = ?")
                values.append(value)

        def read(connection: sqlite3.Connection) -> list[Job]:
            rows = connection.execute(
                f"SELECT {_JOB} FROM job WHERE {' AND '.join(where)} ORDER BY number DESC LIMIT ?",
                (*values, limit),
            )
            return [_job(row) for row in rows]

        return await self._run(read)

    async def job(self, account_id: str, index: str, job_id: str) -> Job | None:
        """Return the account's job of that id."""

        def read(connection: sqlite3.Connection) -> Job | None:
            row = connection.execute(
                f"SELECT {_JOB} FROM job WHERE job_id = ? AND account_id = ? AND index_name = ?",
                (job_id, account_id, index),
            ).fetchone()
            return None if row is None else _job(row)

        return await self._run(read)

    async def list(self, account_id: str, index: str, *, limit: int, offset: int) -> tuple[list[Review], int]:
        """Return a page of the index's reviews by document id, and how many there are."""

        def read(connection: sqlite3.Connection) -> tuple[list[Review], int]:
            where = "FROM review WHERE account_id = ? AND index_name = ?"
            total = connection.execute(f"SELECT count(*) {where}", (account_id, index)).fetchone()[0]
            rows = connection.execute(
                f"SELECT document_id, summary, updated_at {where} ORDER BY document_id LIMIT ? OFFSET ?",
                (account_id, index, limit, offset),
            )
            return [Review(id=row[0], summary=row[1], updated_at=row[2]) for row in rows], total

        return await self._run(read)

    async def summaries(self, account_id: str, index: str, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the summaries of those of the ids that have one; none where they cannot be read."""
        if not ids or self.is_new:
            return {}

        def read(connection: sqlite3.Connection) -> dict[str, str]:
            marks = ", ".join("?" for _ in ids)
            rows = connection.execute(
                "SELECT document_id, summary FROM review WHERE account_id = ? AND index_name = ?"
                f" AND document_id IN ({marks})",
                (account_id, index, *ids),
            )
            return dict(rows.fetchall())

        try:
            return await self._run(read)
        except UpstreamFailed as error:
            logger.warning("reviews_not_read", extra={"index": index, "reason": str(error)})
            return {}

    async def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        def transaction(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            try:
                work(connection)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

        await self._run(transaction)

    async def _run(self, work: Callable[[sqlite3.Connection], _ResultT]) -> _ResultT:
        def run() -> _ResultT:
            with self._lock:
                if self._connection is None:
                    self._connection = open_sqlite(self._path, _SCHEMA, isolation_level=None)
                return work(self._connection)

        try:
            return await asyncio.to_thread(run)
        except (OSError, sqlite3.Error) as error:
            logger.warning("reviews_unavailable", extra={"reason": str(error)})
            raise UpstreamFailed("the reviews cannot be read or written just now") from error


@asynccontextmanager
async def open_review_store(data_dir: Path) -> AsyncIterator[ReviewStore]:
    """Open the reviews of a data folder."""
    store = ReviewStore(data_dir / "reviews.sqlite3")
    try:
        yield store
    finally:
        await store.close()


def _job(row: Sequence[Any]) -> Job:
    job_id, account_id, index, kind, status, created_at, finished_at, work, items = row
    return Job(
        id=job_id,
        account_id=account_id,
        index=index,
        kind=kind,
        status=status,
        created_at=created_at,
        finished_at=finished_at,
        work=ReviewWork.from_json(orjson.loads(work)),
        items=tuple(JobItem(id=item[0], status=item[1], message=item[2]) for item in orjson.loads(items)),
    )
