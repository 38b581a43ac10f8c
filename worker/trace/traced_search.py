"""A search binding whose searches are recorded where a recording is under way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from search_proxy.binding import SearchBinding
from search_proxy.caller import Caller
from search_proxy.errors import SearchError
from search_proxy.models import FoundDocument, IndexDescription, SearchRequest, SearchResult
from worker.trace.recording import MAX_IDS, current_recording


class TracedSearch:
    """Passes everything on; of a search it notes words, filter, hits' ids, total and time."""

    def __init__(self, inner: SearchBinding) -> None:
        self._inner = inner

    async def handle_search(self, caller: Caller, request: SearchRequest) -> SearchResult:
        """Search as the binding behind does."""
        recording = current_recording()
        if recording is None:
            return await self._inner.handle_search(caller, request)
        began = recording.now()
        facts = _asked(request) | {"startMs": began}
        try:
            result = await self._inner.handle_search(caller, request)
        except SearchError as error:
            recording.search(facts | {"ms": round(recording.now() - began, 2), "error": str(error)})
            raise
        found = {
            "ms": round(recording.now() - began, 2),
            "total": result.total_hits,
            "hits": [hit["_id"] for hit in result.hits[:MAX_IDS]],
        }
        recording.search(facts | found)
        return result

    async def get_documents(self, caller: Caller, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Fetch as the binding behind does."""
        return await self._inner.get_documents(caller, index, ids)

    async def describe_index(self, caller: Caller, index: str) -> IndexDescription:
        """Describe as the binding behind does."""
        return await self._inner.describe_index(caller, index)


def _asked(request: SearchRequest) -> dict[str, Any]:
    return {
        "q": request.q,
        "filter": None if request.filter is None else str(request.filter),
        "sort": [f"{each.name} {each.order}" for each in request.sort_by],
        "limit": request.limit,
        "offset": request.offset,
        "facets": request.facets is not None,
    }
