"""The demo shop whose searches are answered from memory: `python -m bench.remembering_server`.

Every part is the product's own but the searches of an answer, which cost nothing the second time. What a
stream of this server takes is what an answer takes beyond its searches.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from search_proxy.binding import SearchBinding
from search_proxy.caller import Caller
from search_proxy.models import FoundDocument, IndexDescription, SearchRequest, SearchResult
from worker.app import create_app
from worker.bootstrap import open_services
from worker.logs import configure_logs
from worker.observe.worker_place import ALONE
from worker.serve import serve
from worker.services import Services
from worker.settings import Settings


class RememberedSearches:
    """A `SearchBinding` that searches once for each question."""

    def __init__(self, search: SearchBinding) -> None:
        self._search = search
        self._found: dict[tuple[str | None, int, str], SearchResult] = {}

    async def handle_search(self, caller: Caller, request: SearchRequest) -> SearchResult:
        """Return what the first search of this question found."""
        key = (request.q, request.limit, str(request.filter))
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = await self._search.handle_search(caller, request)
        return found

    async def get_documents(self, caller: Caller, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return the documents."""
        return await self._search.get_documents(caller, index, ids)

    async def describe_index(self, caller: Caller, index: str) -> IndexDescription:
        """Return the index's fields and sizes."""
        return await self._search.describe_index(caller, index)


@asynccontextmanager
async def _open(settings: Settings) -> AsyncIterator[Services]:
    async with open_services(settings) as services:
        yield replace(services, search=RememberedSearches(services.search))


def main() -> None:
    """Serve until told to stop."""
    settings = Settings.from_env(os.environ).model_copy(update={"demo": True})
    configure_logs(logging.INFO)
    serve(create_app(lambda: _open(settings)), settings, ALONE, lambda: settings)


if __name__ == "__main__":
    main()
