"""Both faces of the tools over one engine, with the keys of two shops: MCP behind the door, and gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from search_proxy.accounts.directory import AccountDirectory
from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.caller import Caller
from search_proxy.edge_services import EdgeServices
from search_proxy.gateway import create_gateway
from search_proxy.grpc.callers import CallerDesk
from search_proxy.grpc.server import serve_grpc
from search_proxy.mcp.http_face import McpFace, mcp_policy, mcp_router
from search_proxy.proxy import SearchProxy
from search_proxy.tools.toolbox import Toolbox
from search_proxy.web.tier import WebTier
from tests.search_proxy.accounts.running_edge import EchoWorker, Shop, serve_app, shop
from tests.search_proxy.tools.corpora import MeaningEmbedder


@dataclass
class ToolServer:
    """Addresses, keys, and the parts behind them."""

    mcp_url: str
    grpc_address: str
    acme: Shop
    other: Shop
    engine: EmbeddedBackend
    embedder: MeaningEmbedder
    accounts: AccountDirectory


def bearer(token: str) -> dict[str, str]:
    """Return the header of a key."""
    return {"authorization": f"Bearer {token}"}


@asynccontextmanager
async def open_tool_server(
    folder: Path,
    corpora: Mapping[str, Sequence[dict[str, Any]]],
    *,
    web: WebTier | None = None,
    **rights: Any,
) -> AsyncIterator[ToolServer]:
    """Serve `corpora` (documents by index) of the account `acme`; `other` has an index of its own.

    `rights` are those of acme's publishable key.
    """
    acme, other = shop("acme", **rights), shop("other")
    embedder = MeaningEmbedder()
    accounts = AccountDirectory()
    for one in (acme, other):
        accounts.apply(one.account)
    async with open_embedded(folder, embedder) as engine:
        for index, documents in corpora.items():
            await engine.add_documents("acme", index, list(documents))
            await engine.embed_missing("acme", index)
        secret = {"_id": "hidden-1", "productTitle": "Zyxxo forecast of Q3", "brand": "zyxxo"}
        await engine.add_documents("other", "mail", [secret])
        search = SearchProxy(engine)
        toolbox = Toolbox(search, accounts, web=web)
        edge = EdgeServices(
            accounts=accounts, search=search, backend=engine, catalog=engine, agentic=EchoWorker()
        )
        gateway = _gateway(edge, toolbox)
        desk = CallerDesk(accounts=accounts, index="mail")
        async with serve_app(gateway) as client, serve_grpc(toolbox, desk) as running:
            yield ToolServer(
                mcp_url=f"{str(client.base_url).rstrip('/')}/mcp",
                grpc_address=f"127.0.0.1:{running.port}",
                acme=acme,
                other=other,
                engine=engine,
                embedder=embedder,
                accounts=accounts,
            )


def _gateway(edge: EdgeServices, toolbox: Toolbox) -> FastAPI:
    face = McpFace("0")

    async def names(caller: Caller) -> Sequence[str]:
        return await edge.backend.list_indexes(caller.account_id)

    @asynccontextmanager
    async def open_edge() -> AsyncIterator[EdgeServices]:
        async with face.opened(toolbox, names):
            yield edge

    return create_gateway(open_edge, extra_routers=[mcp_router(face)], extra_policies=[mcp_policy])
