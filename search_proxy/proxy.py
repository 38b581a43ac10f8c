"""Searches on behalf of a caller: the account's rights first, then the backend.

This is the in-process `SearchBinding`. The caller's forced filter is ANDed as a tree, so nothing that a
client or a model writes can widen it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from search_proxy.backend import SearchBackend
from search_proxy.caller import Caller
from search_proxy.errors import IndexNotFound
from search_proxy.filters import InFilter, merge_filters
from search_proxy.models import FoundDocument, IndexDescription, SearchRequest, SearchResult


class SearchProxy:
    """Applies a caller's rights to every question, then asks the backend."""

    def __init__(self, backend: SearchBackend) -> None:
        self._backend = backend

    async def handle_search(self, caller: Caller, request: SearchRequest) -> SearchResult:
        """Search with the caller's forced filter ANDed to the request's, whatever the request says of it.

        Raises:
            SearchError: As the backend; an index outside the caller's list does not exist for them.
        """
        self._check_index(caller, request.index)
        forced = caller.forced_filter
        bound = replace(request, filter=merge_filters(forced, request.filter), forced_filter=forced)
        return await self._backend.search(caller.account_id, bound)

    async def get_documents(self, caller: Caller, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return one entry per id, in order; a document outside the caller's forced filter is absent."""
        self._check_index(caller, index)
        found = await self._backend.get_documents(caller.account_id, index, ids)
        if caller.forced_filter is None or not ids:
            return found
        visible = await self._visible_ids(caller, index, ids)
        return [
            entry if entry.id in visible else FoundDocument(id=entry.id, document=None) for entry in found
        ]

    async def describe_index(self, caller: Caller, index: str) -> IndexDescription:
        """Return the index's fields and sizes."""
        self._check_index(caller, index)
        return await self._backend.describe(caller.account_id, index)

    async def _visible_ids(self, caller: Caller, index: str, ids: Sequence[str]) -> frozenset[str]:
        wanted = merge_filters(caller.forced_filter, InFilter(field="_id", values=tuple(ids)))
        request = SearchRequest(
            index=index,
            q=None,
            limit=len(ids),
            filter=wanted,
            attributes_to_retrieve=("_id",),
            collapse=False,
        )
        result = await self._backend.search(caller.account_id, request)
        return frozenset(str(hit["_id"]) for hit in result.hits)

    def _check_index(self, caller: Caller, index: str) -> None:
        if caller.indexes is not None and index not in caller.indexes:
            raise IndexNotFound(index)
