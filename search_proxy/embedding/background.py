"""Embeds, behind the searches, what loads have left without a vector: now, and whenever an index changes.

Changes are seen on disk, so that loads of other processes count too. One index at a time; a process that is
killed goes on at its next start, for an index says itself what it misses.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Protocol

from search_proxy.engine.manifest import identity, is_valid_name
from search_proxy.errors import IndexNotFound, SearchError

logger = logging.getLogger(__name__)

LOOK_EVERY_SECONDS = 5.0
"""How late a load of another process is noticed; a look costs two microseconds an index."""

RETRY_SECONDS = 60.0
"""When an index that failed is tried again without having changed."""

IndexName = tuple[str, str]
"""Account and index."""


class EmbeddingEngine(Protocol):
    """What the job needs of the engine."""

    async def embed_missing(
        self, account_id: str, index: str, progress: Callable[[int, int], None], *, again: bool = False
    ) -> int:
        """Embed what has no vector; stop when `progress` raises.

        Raises:
            IndexNotFound: The account has no such index.
            SearchUnavailable: The model cannot be asked, or may not be mixed with the index's vectors.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingProgress:
    """How far one index is; `error` says why it `failed`."""

    state: Literal["running", "done", "failed"]
    done: int = 0
    of: int = 0
    seconds: float = 0.0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class _Seen:
    identity: tuple[int, int]
    failed_at: float | None = None


class _Stopped(Exception):
    """The job is ending; raised inside the engine's thread."""


class BackgroundEmbedding:
    """The job. `run` never returns by itself."""

    def __init__(
        self,
        engine: EmbeddingEngine,
        indexes: Path,
        *,
        look_every_seconds: float = LOOK_EVERY_SECONDS,
        on_stop: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = engine
        self._indexes = indexes
        self._look_every_seconds = look_every_seconds
        self._on_stop = on_stop
        self._clock = clock
        self._woken = asyncio.Event()
        self._turned = asyncio.Condition()
        self._begun = self._ended = 0
        self._stopping = threading.Event()
        self._seen: dict[IndexName, _Seen] = {}
        self._progress: dict[IndexName, EmbeddingProgress] = {}

    @property
    def progress(self) -> Mapping[IndexName, EmbeddingProgress]:
        """Return how far every index is that was looked at; it changes while the job runs."""
        return MappingProxyType(self._progress)

    async def look_now(self) -> None:
        """Look at once instead of at the next turn; return when what was found is embedded, or failed."""
        async with self._turned:
            wanted = self._begun + 1
            self._woken.set()
            await self._turned.wait_for(lambda: self._ended >= wanted)

    async def run(self) -> None:
        """Embed, and wait for more, until cancelled; a batch in hand is then the last."""
        try:
            while True:
                self._woken.clear()
                self._begun += 1
                for name, found in await asyncio.to_thread(self._changed):
                    await self._embed(name, found)
                async with self._turned:
                    self._ended = self._begun
                    self._turned.notify_all()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._look_every_seconds):
                        await self._woken.wait()
        finally:
            self._stopping.set()
            self._on_stop()

    def _changed(self) -> list[tuple[IndexName, tuple[int, int]]]:
        """Return the indexes that changed since they were embedded; forget those that are gone."""
        present = dict(_indexes_on_disk(self._indexes))
        for gone in self._seen.keys() - present.keys():
            del self._seen[gone]
            self._progress.pop(gone, None)
        return [(name, found) for name, found in present.items() if self._is_due(name, found)]

    def _is_due(self, name: IndexName, found: tuple[int, int]) -> bool:
        seen = self._seen.get(name)
        if seen is None or seen.identity != found:
            return True
        return seen.failed_at is not None and self._clock() - seen.failed_at >= RETRY_SECONDS

    async def _embed(self, name: IndexName, found: tuple[int, int]) -> None:
        account_id, index = name
        started = self._clock()

        def report(done: int, of: int) -> None:
            if self._stopping.is_set():
                raise _Stopped
            seconds = self._clock() - started
            self._progress[name] = EmbeddingProgress(state="running", done=done, of=of, seconds=seconds)

        try:
            number = await self._engine.embed_missing(account_id, index, report)
        except IndexNotFound:
            return
        except SearchError as error:
            self._failed(name, found, str(error))
            return
        self._seen[name] = _Seen(found)
        seconds = self._clock() - started
        self._progress[name] = EmbeddingProgress(state="done", done=number, of=number, seconds=seconds)
        if number:
            facts = {"account": account_id, "index": index, "texts": number, "seconds": round(seconds, 3)}
            logger.info("index_embedded", extra=facts)

    def _failed(self, name: IndexName, found: tuple[int, int], why: str) -> None:
        before = self._progress.get(name)
        if before is None or before.error != why:
            logger.warning("index_not_embedded", extra={"account": name[0], "index": name[1], "error": why})
        self._seen[name] = _Seen(found, failed_at=self._clock())
        done, of = (0, 0) if before is None else (before.done, before.of)
        self._progress[name] = EmbeddingProgress(state="failed", done=done, of=of, error=why)


@asynccontextmanager
async def open_background_embedding(
    engine: EmbeddingEngine,
    indexes: Path,
    *,
    look_every_seconds: float = LOOK_EVERY_SECONDS,
    on_stop: Callable[[], None] = lambda: None,
) -> AsyncIterator[BackgroundEmbedding]:
    """Run the job as long as the block; it ends within a batch, `on_stop` helping."""
    job = BackgroundEmbedding(engine, indexes, look_every_seconds=look_every_seconds, on_stop=on_stop)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(job.run(), name="background-embedding")
        try:
            yield job
        finally:
            running.cancel()


def _indexes_on_disk(folder: Path) -> Iterator[tuple[IndexName, tuple[int, int]]]:
    if not folder.is_dir():
        return
    for account in sorted(folder.iterdir()):
        if is_valid_name(account.name) and account.is_dir():
            for index in sorted(account.iterdir()):
                if is_valid_name(index.name) and (found := identity(index)) is not None:
                    yield (account.name, index.name), found
