"""Stores review summaries in the background: a job is accepted at once and done soon, whatever happens.

A job that a process left undone is done by the next one that starts.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from search_proxy.binding import SearchBinding
from search_proxy.caller import Caller
from search_proxy.errors import IndexNotFound
from worker.reviews_jobs import Job, JobItem, JobKind, Review, ReviewWork
from worker.reviews_store import ReviewStore

if TYPE_CHECKING:
    from worker.services import WaitUntil

logger = logging.getLogger(__name__)


class Reviews:
    """The review summaries of every account, and the jobs that change them."""

    def __init__(
        self,
        store: ReviewStore,
        search: SearchBinding,
        wait_until: WaitUntil,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._search = search
        self._wait_until = wait_until
        self._clock = clock

    async def submit(self, account_id: str, index: str, kind: JobKind, work: ReviewWork) -> Job:
        """Accept a job; when this returns, it will be done.

        Raises:
            UpstreamFailed: The storage cannot take it.
        """
        job = Job(
            id=secrets.token_hex(12),
            account_id=account_id,
            index=index,
            kind=kind,
            created_at=self._clock(),
            work=work,
        )
        await self._store.add_job(job)
        self._wait_until(self._do(job), name=f"job:{job.id}")
        return job

    async def resume(self) -> None:
        """Do the jobs that an earlier process has left undone."""
        if self._store.is_new:
            return
        for job in reversed(await self._store.jobs(queued=True, limit=10_000)):
            await self._do(job)

    async def jobs(self, account_id: str, index: str) -> Sequence[Job]:
        """Return the index's last 100 jobs, newest first."""
        return await self._store.jobs(account_id=account_id, index=index)

    async def job(self, account_id: str, index: str, job_id: str) -> Job | None:
        """Return a job of the index, or None."""
        return await self._store.job(account_id, index, job_id)

    async def list(
        self, account_id: str, index: str, *, limit: int = 100, offset: int = 0
    ) -> tuple[Sequence[Review], int]:
        """Return a page of the index's reviews, and how many there are."""
        return await self._store.list(account_id, index, limit=limit, offset=offset)

    async def summaries(self, account_id: str, index: str, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the summaries of those of the ids that have one; none where they cannot be read."""
        return await self._store.summaries(account_id, index, ids)

    async def _do(self, job: Job) -> None:
        unknown: set[str] = set()
        if job.work.stored:
            owner = Caller(account_id=job.account_id, key_kind="secret")
            try:
                found = await self._search.get_documents(owner, job.index, job.work.ids)
                unknown = {entry.id for entry in found if entry.document is None}
            except IndexNotFound:
                unknown = set(job.work.ids)
        items = [
            JobItem(id=identifier, status=404, message="the index has no document of that id")
            if identifier in unknown
            else JobItem(id=identifier, status=200)
            for identifier in job.work.ids
        ]
        await self._store.finish_job(job, items, self._clock())
        facts = {"job_id": job.id, "kind": job.kind, "documents": len(items), "unknown": len(unknown)}
        logger.info("review_job_completed", extra={"account": job.account_id, "index": job.index} | facts)
