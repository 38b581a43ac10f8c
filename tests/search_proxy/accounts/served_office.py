"""An office over a file of accounts, served by a gateway, with a previewer that tells what it was asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from search_proxy.accounts.account_office import AccountOffice
from search_proxy.accounts.open_accounts import open_account_office
from search_proxy.accounts.prompt_preview import PreviewCategory, PromptPreviewer, QueryPreview
from search_proxy.accounts.prompt_slots import PromptInUse
from search_proxy.accounts.settings_schema import IndexSettings
from search_proxy.caller import Caller
from search_proxy.edge_services import EdgeServices
from search_proxy.gateway import create_gateway
from search_proxy.models import SearchRequest
from search_proxy.proxy import SearchProxy
from tests.search_proxy.accounts.running_edge import EchoWorker, serve_app
from tests.search_proxy.accounts.shelf_backend import ShelfBackend


class VoicePreviewer:
    """Plans one category, named after the prompt's voice, and searches it for real."""

    def __init__(self, search: SearchProxy) -> None:
        self._search = search

    async def preview(
        self, caller: Caller, index: str, query: str, *, prompt: PromptInUse, settings: IndexSettings
    ) -> QueryPreview:
        """Return the hits of the query under a label made of the voice."""
        result = await self._search.handle_search(caller, SearchRequest(index=index, q=query, limit=3))
        hits = tuple({"_id": hit["_id"], "title": hit["productTitle"]} for hit in result.hits)
        category = PreviewCategory(
            label=f"{prompt.slots.voice or 'plain'} {query}",
            query=query,
            confidence=0.9,
            filter=None,
            filter_dropped=False,
            total_hits=result.total_hits,
            hits=hits,
        )
        return QueryPreview(
            query=query,
            prompt_version=prompt.version,
            source="catalog",
            categories=(category,),
            summary="",
            input_tokens=0,
            output_tokens=0,
            first_category_ms=1.0,
            total_ms=2.0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedOffice:
    """A served office, and the services that a command would be given."""

    office: AccountOffice
    search: SearchProxy
    previewer: PromptPreviewer | None
    backend: ShelfBackend
    client: httpx.AsyncClient

    async def call(self, key: str, method: str, path: str, body: object = None) -> httpx.Response:
        """Call the admin API."""
        return await self.client.request(
            method, f"/api/v1/admin/{path}", json=body, headers={"x-api-key": key}
        )


@asynccontextmanager
async def serve_office(data_dir: Path) -> AsyncIterator[ServedOffice]:
    """Serve the accounts in `data_dir` until the block ends."""
    backend = ShelfBackend()
    search = SearchProxy(backend)
    async with open_account_office(data_dir) as office:
        edge = EdgeServices(
            accounts=office.directory,
            search=search,
            backend=backend,
            catalog=backend,
            agentic=EchoWorker(),
            office=office,
            previewer=VoicePreviewer(search),
        )

        @asynccontextmanager
        async def open_edge() -> AsyncIterator[EdgeServices]:
            yield edge

        async with serve_app(create_gateway(open_edge)) as client:
            yield ServedOffice(
                office=office, search=search, previewer=edge.previewer, backend=backend, client=client
            )
