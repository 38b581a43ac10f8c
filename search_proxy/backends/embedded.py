"""The embedded engine as a search backend and a catalog writer: all blocking work in its own few threads.

Searches share two threads; writes have one of their own and embedding has another, so neither a long load
nor a model ever keeps a search waiting for a thread.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from search_proxy.engine import catalog_writer
from search_proxy.engine.describing import describe_snapshot
from search_proxy.engine.embedder import Embedder
from search_proxy.engine.embedding_run import Progress, embed_missing
from search_proxy.engine.fusion import Fusion
from search_proxy.engine.open_indexes import MAX_OPEN, OpenIndexes
from search_proxy.engine.schema import Declaration, SearchSchema
from search_proxy.engine.searching import search_snapshot
from search_proxy.engine.snapshot import Snapshot
from search_proxy.engine.suggesting import Suggestion, suggest
from search_proxy.engine.vector_lane import VectorLane
from search_proxy.engine.vectors import stored_vectors
from search_proxy.errors import IndexNotFound, SearchError, SearchUnavailable
from search_proxy.filters import Filter
from search_proxy.models import Document, FoundDocument, IndexDescription, SearchRequest, SearchResult

SEARCH_THREADS = 2

_Described = tuple[weakref.ref[Snapshot], int, IndexDescription]
"""A description, the generation that it is of, and how many vectors that had."""

_T = TypeVar("_T")


def _no_progress(done: int, of: int) -> None:
    """Ignore how far a run is."""


class EmbeddedBackend:
    """Searches and writes the indexes under one folder."""

    def __init__(
        self,
        folder: Path,
        searchers: ThreadPoolExecutor,
        writers: ThreadPoolExecutor,
        embedders: ThreadPoolExecutor,
        lane: VectorLane | None = None,
    ) -> None:
        self._embedders = embedders
        self._lane = lane
        self._indexes = OpenIndexes(folder)
        self._descriptions: dict[tuple[str, str], _Described] = {}
        self._searchers = searchers
        self._writers = writers

    async def search(self, account_id: str, request: SearchRequest) -> SearchResult:
        """Return one page of hits, with totals and facets that agree with each other."""
        return await self._read(
            lambda: search_snapshot(self._indexes.snapshot(account_id, request.index), request, self._lane)
        )

    async def get_documents(self, account_id: str, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return one entry per id, in order; an unknown id has no document."""
        return await self._read(lambda: self._found(account_id, index, ids))

    async def document_page(
        self, account_id: str, index: str, after: int, limit: int
    ) -> tuple[Sequence[Document], int | None]:
        """Return documents from place `after` on, and the place of the next page, None after the last."""
        return await self._read(
            lambda: _document_page(self._indexes.snapshot(account_id, index), after, limit)
        )

    async def describe(self, account_id: str, index: str, wanted: Filter | None = None) -> IndexDescription:
        """Return the fields and sizes of what passes the filter; made once per filter and generation.

        Every request asks for the whole index's, some several times: where it is known, no thread is asked.
        """
        known = self._known_description(account_id, index) if wanted is None else None
        if known is not None:
            return known
        made = await self._read(lambda: self._description(account_id, index, wanted))
        if wanted is None:
            self._descriptions[account_id, index] = made
            if len(self._descriptions) > MAX_OPEN:
                del self._descriptions[next(iter(self._descriptions))]
        return made[2]

    async def suggest(
        self, account_id: str, index: str, prefix: str, limit: int = 10
    ) -> Sequence[Suggestion]:
        """Return completions of what a shopper is typing, best first.

        Raises:
            IndexNotFound: The account has no such index.
            InvalidSearch: The limit is out of range or the prefix too long.
        """
        return await self._read(lambda: suggest(self._indexes.snapshot(account_id, index), prefix, limit))

    async def list_indexes(self, account_id: str) -> Sequence[str]:
        """Return the account's index names, sorted."""
        return await self._read(lambda: self._indexes.names(account_id))

    async def add_documents(
        self, account_id: str, index: str, documents: Sequence[Document], *, language: str | None = None
    ) -> int:
        """Add or replace documents by `_id` in one commit; `language` counts only when that makes the index.

        Raises:
            InvalidDocument: A document cannot be indexed; nothing was written.
            InvalidSearch: The index's name or language is not valid.
        """
        folder = self._indexes.folder(account_id, index)
        return await self._write(lambda: catalog_writer.add_documents(folder, documents, language), index)

    async def embed_missing(
        self, account_id: str, index: str, progress: Progress = _no_progress, *, again: bool = False
    ) -> int:
        """Embed what has no vector yet and return how many texts that were; searches go on meanwhile.

        `progress` is called in the embedding thread with `(done, of)`; what it raises stops the run, and the
        next run goes on from there. `again` embeds everything, which another model needs.

        Raises:
            IndexNotFound: The account has no such index.
            SearchUnavailable: There is no embedder, it failed, or the vectors are another model's.
        """
        if self._lane is None:
            raise SearchUnavailable("no embedder is set up; search is lexical alone")
        embedder = self._lane.embedder
        folder = self._indexes.folder(account_id, index)
        return await self._write(
            lambda: embed_missing(folder, embedder, progress, again=again), index, self._embedders
        )

    async def set_synonyms(self, account_id: str, index: str, lines: Sequence[str]) -> None:
        """Replace the index's synonyms, a rule per line: `sofa, couch` both ways, `tv => television` one way.

        Raises:
            IndexNotFound: The account has no such index.
            InvalidSearch: A line is not a rule; the message names it.
        """
        folder = self._indexes.folder(account_id, index)
        await self._write(lambda: catalog_writer.set_synonyms(folder, lines), index)

    async def schema(self, account_id: str, index: str) -> SearchSchema:
        """Return what was declared of an index."""
        snapshot = await self._read(lambda: self._indexes.snapshot(account_id, index))
        return snapshot.manifest.schema

    async def fusion(self, account_id: str, index: str) -> str:
        """Return by which method the lanes of an index are fused."""
        usual = Fusion() if self._lane is None else self._lane.fusion
        return (await self.schema(account_id, index)).fused(usual).method

    async def declare_schema(self, account_id: str, index: str, declaration: Declaration) -> int:
        """Replace what is declared of an index, made if there is none; return the documents written anew.

        Raises:
            InvalidSearch: The index's name is not valid, or no document has a field that is named.
        """
        folder = self._indexes.folder(account_id, index)
        return await self._write(lambda: catalog_writer.declare_schema(folder, declaration), index)

    async def delete_documents(self, account_id: str, index: str, ids: Sequence[str]) -> int:
        """Delete documents by id; return how many existed."""
        folder = self._indexes.folder(account_id, index)
        return await self._write(lambda: catalog_writer.delete_documents(folder, ids), index)

    async def delete_index(self, account_id: str, index: str) -> None:
        """Delete the index and its files."""
        folder = self._indexes.folder(account_id, index)
        await self._write(lambda: catalog_writer.delete_index(folder), index)

    def _found(self, account_id: str, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        snapshot = self._indexes.snapshot(account_id, index)
        rows = ((identifier, snapshot.row_by_id.get(identifier)) for identifier in ids)
        return [
            FoundDocument(id=identifier, document=None if row is None else snapshot.document(row))
            for identifier, row in rows
        ]

    def _description(self, account_id: str, index: str, wanted: Filter | None) -> _Described:
        snapshot = self._indexes.snapshot(account_id, index)
        vectors = self._vectors(snapshot)
        described = describe_snapshot(snapshot, index, wanted)
        if self._lane is not None:
            # How many vectors there are is asked of the whole index: it says which lanes rank.
            embedded = min(self._lane.embedded_documents(snapshot), described.documents)
            described = replace(
                described,
                embedded_documents=embedded,
                embedding_model=self._lane.embedder.model if embedded else None,
                lanes=("text", "vector") if embedded else ("text",),
            )
        return weakref.ref(snapshot), vectors, described

    def _known_description(self, account_id: str, index: str) -> IndexDescription | None:
        made = self._descriptions.get((account_id, index))
        snapshot = None if made is None else self._indexes.if_open(account_id, index)
        if made is None or snapshot is None or made[0]() is not snapshot:
            return None
        return made[2] if self._vectors(snapshot) == made[1] else None

    def _vectors(self, snapshot: Snapshot) -> int:
        """Return how many vectors are stored; more can come within a generation."""
        return 0 if self._lane is None else stored_vectors(snapshot.folder)

    async def _read(self, work: Callable[[], _T]) -> _T:
        return await _in_thread(self._searchers, work)

    async def _write(
        self, work: Callable[[], _T], index: str, threads: ThreadPoolExecutor | None = None
    ) -> _T:
        try:
            return await _in_thread(threads or self._writers, work)
        except FileNotFoundError as error:
            raise IndexNotFound(index) from error


def _document_page(snapshot: Snapshot, after: int, limit: int) -> tuple[Sequence[Document], int | None]:
    rows = np.flatnonzero(snapshot.live[after:])[: limit + 1] + after
    documents = [snapshot.document(int(row)) for row in rows[:limit]]
    return documents, int(rows[limit]) if len(rows) > limit else None


@asynccontextmanager
async def open_embedded(
    data_dir: Path, embedder: Embedder | None = None, fusion: Fusion | None = None
) -> AsyncIterator[EmbeddedBackend]:
    """Open the engine over `data_dir`/indexes; work in hand is finished when the block ends.

    Without an embedder, search is lexical alone, and says so in `lanes`.
    """
    lane = None if embedder is None else VectorLane(embedder, fusion or Fusion())
    with (
        # A search is one thread's work. Matrix products that wait for a second core, which another search or
        # the event loop has, take tens of milliseconds instead of two.
        threadpool_limits(1, user_api="blas"),
        ThreadPoolExecutor(SEARCH_THREADS, thread_name_prefix="engine-search") as searchers,
        ThreadPoolExecutor(1, thread_name_prefix="engine-write") as writers,
        ThreadPoolExecutor(1, thread_name_prefix="engine-embed") as embedders,
    ):
        yield EmbeddedBackend(data_dir / "indexes", searchers, writers, embedders, lane)


async def _in_thread(threads: ThreadPoolExecutor, work: Callable[[], _T]) -> _T:
    try:
        return await asyncio.get_running_loop().run_in_executor(threads, work)
    except (SearchError, FileNotFoundError):
        raise
    except (OSError, ValueError) as error:
        raise SearchUnavailable(f"the embedded engine could not answer: {error}") from error
