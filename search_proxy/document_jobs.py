"""Writes of documents that were accepted and are done one after the other, also after a restart.

A job is a file from the moment it is accepted, so an answered request is never lost; its work lies beside it
until it is done. One document that cannot be indexed is that document's item, never the others' loss.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import orjson

from search_proxy.backend import CatalogWriter
from search_proxy.engine.documents import prepare_document
from search_proxy.engine.schema import read_declaration
from search_proxy.errors import InvalidDocument, SearchError, SearchUnavailable
from search_proxy.index_schema import DeclaringCatalog

logger = logging.getLogger(__name__)

ID_PREFIX = "documents-"
MAX_QUEUED = 100
KEPT_PER_INDEX = 100

JobKind = Literal["add_documents", "delete_documents", "declare_schema"]
Item = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentJob:
    """A write that was accepted; `items` say of each document how it went.

    `slot` is that of the worker process which accepted it, and does it.
    """

    id: str
    account_id: str
    index: str
    kind: JobKind
    created_at: float
    status: Literal["queued", "done", "failed"] = "queued"
    finished_at: float | None = None
    items: tuple[Item, ...] = ()
    slot: int = 0

    def to_wire(self) -> dict[str, Any]:
        """Return the job as its owner sees it, in the shape of every job."""
        return {
            "jobId": self.id,
            "kind": self.kind,
            "status": self.status,
            "createdAt": self.created_at,
            "finishedAt": self.finished_at,
            "items": list(self.items),
        }


class DocumentJobs:
    """The jobs under one folder; one at a time writes, of those of one process.

    `slot` is this process's place among `workers`, which share the folder.
    """

    def __init__(self, folder: Path, catalog: CatalogWriter, *, slot: int = 0, workers: int = 1) -> None:
        self._folder = folder
        self._catalog = catalog
        self._slot = slot
        self._workers = workers
        self._queue: asyncio.Queue[DocumentJob] = asyncio.Queue()

    async def submit(self, account_id: str, index: str, kind: JobKind, work: Sequence[Any]) -> DocumentJob:
        """Accept documents to write, ids to delete, or one schema to declare.

        Raises:
            SearchUnavailable: Too many jobs wait already.
        """
        if self._queue.qsize() >= MAX_QUEUED:
            raise SearchUnavailable(f"{MAX_QUEUED} jobs wait already; ask again later")
        created = time.time()
        identifier = f"{ID_PREFIX}{int(created * 1000):013d}{secrets.token_hex(4)}"
        job = DocumentJob(
            id=identifier,
            account_id=account_id,
            index=index,
            kind=kind,
            created_at=created,
            slot=self._slot,
        )
        await asyncio.to_thread(self._accept, job, work)
        self._queue.put_nowait(job)
        return job

    async def job(self, account_id: str, index: str, identifier: str) -> DocumentJob | None:
        """Return a job of that index, or None where there is none of that id."""
        if not identifier.startswith(ID_PREFIX) or not identifier.removeprefix(ID_PREFIX).isalnum():
            return None
        return await asyncio.to_thread(_read, self._path(account_id, index, identifier))

    async def jobs(self, account_id: str, index: str) -> list[DocumentJob]:
        """Return the index's last jobs, newest first."""
        return await asyncio.to_thread(self._newest, account_id, index)

    async def resume(self) -> None:
        """Accept again what an earlier process of this place left undone; what others have, they do.

        The first process also takes what is left of places that there are no more.
        """
        for job in await asyncio.to_thread(self._left_undone):
            self._queue.put_nowait(job)

    async def run(self) -> None:
        """Do each job that comes; ends by being cancelled."""
        while True:
            job = await self._queue.get()
            done = await self._done(job)
            await asyncio.to_thread(self._finish, done)
            self._queue.task_done()

    async def settled(self) -> None:
        """Return when everything that was accepted is done."""
        await self._queue.join()

    async def _done(self, job: DocumentJob) -> DocumentJob:
        try:
            work = await asyncio.to_thread(self._work, job)
            items = await self._write(job, work)
        except (SearchError, OSError, ValueError) as error:
            logger.warning("document_job_failed", extra={"job_id": job.id, "error": str(error)})
            items = [{"_id": None, "status": 500, "message": str(error)}]
            return replace(job, status="failed", finished_at=time.time(), items=tuple(items))
        return replace(job, status="done", finished_at=time.time(), items=tuple(items))

    async def _write(self, job: DocumentJob, work: Sequence[Any]) -> list[Item]:
        if job.kind == "delete_documents":
            await self._catalog.delete_documents(job.account_id, job.index, list(work))
            return [{"_id": identifier, "status": 200} for identifier in work]
        if job.kind == "declare_schema":
            if not isinstance(self._catalog, DeclaringCatalog):
                raise SearchUnavailable("this engine's indexes have no schema")
            written = await self._catalog.declare_schema(job.account_id, job.index, read_declaration(work[0]))
            return [{"status": 200, "documentsWritten": written}]
        items, good = await asyncio.to_thread(_checked, work)
        if good:
            await self._catalog.add_documents(job.account_id, job.index, good)
        return items

    def _accept(self, job: DocumentJob, work: Sequence[Any]) -> None:
        path = self._path(job.account_id, job.index, job.id)
        path.parent.mkdir(parents=True, exist_ok=True)
        # A line for each: megabytes in one step would keep every other thread waiting.
        with path.with_suffix(".work").open("wb") as file:
            for one in work:
                file.write(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE))
        _replace(path, job)
        for old in sorted(path.parent.glob("*.json"), reverse=True)[KEPT_PER_INDEX + MAX_QUEUED :]:
            old.unlink(missing_ok=True)

    def _finish(self, job: DocumentJob) -> None:
        path = self._path(job.account_id, job.index, job.id)
        _replace(path, job)
        path.with_suffix(".work").unlink(missing_ok=True)

    def _work(self, job: DocumentJob) -> list[Any]:
        with self._path(job.account_id, job.index, job.id).with_suffix(".work").open("rb") as file:
            return [orjson.loads(line) for line in file]

    def _left_undone(self) -> list[DocumentJob]:
        found = (_read(path.with_suffix(".json")) for path in sorted(self._folder.glob("*/*/*.work")))
        return [job for job in found if job is not None and job.status == "queued" and self._is_ours(job)]

    def _is_ours(self, job: DocumentJob) -> bool:
        return job.slot == self._slot or self._slot == 0 and job.slot >= self._workers

    def _newest(self, account_id: str, index: str) -> list[DocumentJob]:
        paths = sorted((self._folder / account_id / index).glob("*.json"), reverse=True)[:KEPT_PER_INDEX]
        return [job for path in paths if (job := _read(path)) is not None]

    def _path(self, account_id: str, index: str, identifier: str) -> Path:
        return self._folder / account_id / index / f"{identifier}.json"


@asynccontextmanager
async def open_document_jobs(
    data_dir: Path, catalog: CatalogWriter, *, slot: int = 0, workers: int = 1
) -> AsyncIterator[DocumentJobs]:
    """Open the jobs under `data_dir`/jobs; one that is at work when the block ends, the next run does.

    Of several processes over one folder, each does those of its own `slot`.
    """
    jobs = DocumentJobs(data_dir / "jobs", catalog, slot=slot, workers=workers)
    await jobs.resume()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(jobs.run(), name="document-jobs")
        yield jobs
        running.cancel()


def _checked(work: Sequence[Any]) -> tuple[list[Item], list[Any]]:
    """Return an item for every document, and the documents that can be written."""
    items: list[Item] = []
    good = []
    for position, document in enumerate(work):
        identifier = document.get("_id") if isinstance(document, dict) else None
        try:
            prepare_document(document, position)
            _check_price(identifier, document.get("price"))
        except InvalidDocument as error:
            items.append({"_id": identifier, "status": 400, "message": str(error)})
            continue
        items.append({"_id": identifier, "status": 200})
        good.append(document)
    return items, good


def _check_price(identifier: Any, price: Any) -> None:
    """Refuse a price that no filter by price and no summary could use."""
    if price is not None and (type(price) not in (int, float) or price < 0):
        message = f"must be a number of 0 or more such as 49.95, not {price!r:.80}"
        raise InvalidDocument(repr(identifier), "price", message)


def _replace(path: Path, job: DocumentJob) -> None:
    draft = path.with_suffix(f".{secrets.token_hex(4)}")
    draft.write_bytes(orjson.dumps(asdict(job)))
    draft.replace(path)


def _read(path: Path) -> DocumentJob | None:
    try:
        fields = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    return DocumentJob(**{**fields, "items": tuple(fields["items"])})
