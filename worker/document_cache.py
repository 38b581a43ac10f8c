"""Documents asked for by id, from the edge cache where nothing has changed since they were fetched.

It stands behind the caller's rights and the view gate, which judge what it gives each time: what is kept is
the engine's. The key holds the index's generation, so a write makes what was kept unreachable.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import orjson

from cache.edge_values import DOCUMENT_TIMES, EdgeValues
from search_proxy.backend import SearchBackend
from search_proxy.filters import Filter
from search_proxy.models import FoundDocument, IndexDescription, SearchRequest, SearchResult

logger = logging.getLogger(__name__)

CACHE_KIND = "document"

MAX_KEPT_BYTES = 128_000
"""A product page asks for one document, a conversation for a dozen; a longer list is nobody else's list."""


class CachedDocuments:
    """A `SearchBackend` that remembers what was fetched by id; everything else goes straight through."""

    def __init__(self, backend: SearchBackend, edge: EdgeValues) -> None:
        self._backend = backend
        self._edge = edge

    async def search(self, account_id: str, request: SearchRequest) -> SearchResult:
        """Search, as the backend behind."""
        return await self._backend.search(account_id, request)

    async def describe(self, account_id: str, index: str, wanted: Filter | None = None) -> IndexDescription:
        """Describe the index, as the backend behind."""
        return await self._backend.describe(account_id, index, wanted)

    async def list_indexes(self, account_id: str) -> Sequence[str]:
        """List the indexes, as the backend behind."""
        return await self._backend.list_indexes(account_id)

    async def get_documents(self, account_id: str, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return one entry per id, in order, as of the index's present generation.

        Raises:
            SearchError: As the backend behind.
        """
        generation = (await self._backend.describe(account_id, index)).generation
        if not generation or not ids:
            return await self._backend.get_documents(account_id, index, ids)
        key = orjson.dumps([index, generation, list(ids)]).decode()
        kept = await self._edge.get(account_id, CACHE_KIND, key)
        if kept is not None:
            return [
                FoundDocument(id=document_id, document=document)
                for document_id, document in zip(ids, orjson.loads(kept), strict=True)
            ]
        found = await self._backend.get_documents(account_id, index, ids)
        fetched = _encoded(found)
        if fetched is not None:
            await self._edge.put(account_id, CACHE_KIND, key, fetched, DOCUMENT_TIMES)
        return found


def _encoded(found: Sequence[FoundDocument]) -> bytes | None:
    try:
        encoded = orjson.dumps([entry.document for entry in found])
    except orjson.JSONEncodeError as error:
        logger.warning("document_not_kept", extra={"error": str(error)})
        return None
    return encoded if len(encoded) <= MAX_KEPT_BYTES else None
