"""Documents asked for by id, from the edge cache where nothing has changed since they were fetched.

The key holds the index's generation and the caller's rights: a write makes what was kept unreachable at once,
and nobody gets a document that was fetched for somebody who may see more.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import orjson

from cache.edge_values import DOCUMENT_TIMES, EdgeValues
from search_proxy.binding import SearchBinding
from search_proxy.caller import Caller
from search_proxy.models import FoundDocument, IndexDescription, SearchRequest, SearchResult

logger = logging.getLogger(__name__)

CACHE_KIND = "document"

MAX_KEPT_BYTES = 128_000
"""A product page asks for one document, a conversation for a dozen; a longer list is nobody else's list."""


class CachedDocuments:
    """A `SearchBinding` that remembers what was fetched by id; everything else goes straight through."""

    def __init__(self, search: SearchBinding, edge: EdgeValues) -> None:
        self._search = search
        self._edge = edge

    async def handle_search(self, caller: Caller, request: SearchRequest) -> SearchResult:
        """Search, as the binding behind."""
        return await self._search.handle_search(caller, request)

    async def describe_index(self, caller: Caller, index: str) -> IndexDescription:
        """Describe the index, as the binding behind."""
        return await self._search.describe_index(caller, index)

    async def get_documents(self, caller: Caller, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return one entry per id, in order, as of the index's present generation.

        Raises:
            SearchError: As the binding behind; an index that the caller may not use is never looked up.
        """
        described = await self._search.describe_index(caller, index)
        if not described.generation or not ids or described.is_judged:
            return await self._search.get_documents(caller, index, ids)
        rights = [caller.rights, described.rights]
        key = orjson.dumps([index, described.generation, *rights, list(ids)]).decode()
        kept = await self._edge.get(caller.account_id, CACHE_KIND, key)
        if kept is not None:
            return [
                FoundDocument(id=document_id, document=document)
                for document_id, document in zip(ids, orjson.loads(kept), strict=True)
            ]
        found = await self._search.get_documents(caller, index, ids)
        fetched = _encoded(found)
        if fetched is not None:
            await self._edge.put(caller.account_id, CACHE_KIND, key, fetched, DOCUMENT_TIMES)
        return found


def _encoded(found: Sequence[FoundDocument]) -> bytes | None:
    try:
        encoded = orjson.dumps([entry.document for entry in found])
    except orjson.JSONEncodeError as error:
        logger.warning("document_not_kept", extra={"error": str(error)})
        return None
    return encoded if len(encoded) <= MAX_KEPT_BYTES else None
