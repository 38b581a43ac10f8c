"""A backend as remote engines can be: it ranks a few, then drops what the filter does not want."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from search_proxy.backends.adaptive import AdaptiveBackend, AdaptiveConfig
from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.filters import Filter, InFilter, matches
from search_proxy.models import Document, FoundDocument, IndexDescription, SearchRequest, SearchResult


class PostFilteringBackend:
    """Exact without words and within ids; with words and another filter it drops from what it ranked.

    `asked` are its searches in order.
    """

    filters_before_ranking = False

    def __init__(self, engine: EmbeddedBackend) -> None:
        self.asked: list[SearchRequest] = []
        self._engine = engine

    async def search(self, account_id: str, request: SearchRequest) -> SearchResult:
        """Rank the page, then drop from it, as an engine does that cannot filter first."""
        self.asked.append(request)
        is_browsing = request.q is None or request.q.strip() in ("", "*")
        by_ids = isinstance(request.filter, InFilter) and request.filter.field == "_id"
        if request.filter is None or is_browsing or by_ids:
            found = await self._engine.search(account_id, request)
            return replace(found, retrieval=None)
        unfiltered = replace(request, filter=None, forced_filter=None, attributes_to_retrieve=("*",))
        ranked = await self._engine.search(account_id, unfiltered)
        kept = tuple(hit for hit in ranked.hits if matches(request.filter, hit))
        return replace(ranked, hits=kept, total_hits=len(kept), retrieval=None)

    async def get_documents(self, account_id: str, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return one entry per id, in order."""
        return await self._engine.get_documents(account_id, index, ids)

    async def describe(self, account_id: str, index: str, wanted: Filter | None = None) -> IndexDescription:
        """Return the index's fields and sizes, of what passes `wanted` alone where it is given."""
        return await self._engine.describe(account_id, index, wanted)

    async def list_indexes(self, account_id: str) -> Sequence[str]:
        """Return the account's index names, sorted."""
        return await self._engine.list_indexes(account_id)

    async def add_documents(self, account_id: str, index: str, documents: Sequence[Document]) -> int:
        """Add or replace documents by `_id`."""
        return await self._engine.add_documents(account_id, index, documents)

    async def delete_documents(self, account_id: str, index: str, ids: Sequence[str]) -> int:
        """Delete documents by id."""
        return await self._engine.delete_documents(account_id, index, ids)

    async def delete_index(self, account_id: str, index: str) -> None:
        """Delete the index."""
        await self._engine.delete_index(account_id, index)


class AdaptedEngine(AdaptiveBackend):
    """The adapted engine, which can be written as well."""

    def __init__(self, engine: PostFilteringBackend, config: AdaptiveConfig) -> None:
        super().__init__(engine, config)
        self.add_documents = engine.add_documents
        self.delete_documents = engine.delete_documents
        self.delete_index = engine.delete_index


@asynccontextmanager
async def open_post_filtering(folder: Path) -> AsyncIterator[PostFilteringBackend]:
    """Open one over an embedded engine of its own."""
    async with open_embedded(folder) as engine:
        yield PostFilteringBackend(engine)
