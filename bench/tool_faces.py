"""The tools over the real electronics catalog, on every face at once: in process, gRPC, MCP over HTTP.

The products' vectors are made up, which changes no time, only what a meaning search finds; queries are
embedded by the real model where it is set up.
"""

from __future__ import annotations

import asyncio
import gc
import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import grpc
import numpy as np
import numpy.typing as npt
import uvicorn
from mcp import Client

from search_proxy.accounts.directory import AccountDirectory
from search_proxy.accounts.grant import DEMO_ACCOUNT
from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.caller import Caller
from search_proxy.edge_services import EdgeServices
from search_proxy.embedding.opening import EmbeddingConfig, open_embedder
from search_proxy.engine.embedder import Embedder
from search_proxy.gateway import create_gateway
from search_proxy.grpc.callers import CallerDesk
from search_proxy.grpc.search_pb2_grpc import SearchServiceStub
from search_proxy.grpc.server import serve_grpc
from search_proxy.mcp.http_face import McpFace, mcp_policy, mcp_router
from search_proxy.proxy import SearchProxy
from search_proxy.tools.toolbox import Toolbox

INDEX = "icecat"
MODELS = Path(__file__).resolve().parents[1] / ".aisle" / "models"
_BATCH = 4_000
_HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}


@dataclass(frozen=True, slots=True)
class Faces:
    """One toolbox and a client of each face; `post` speaks MCP's wire without a client library."""

    toolbox: Toolbox
    caller: Caller
    stub: Any
    mcp: Client
    post: Callable[[str, dict[str, Any]], Awaitable[bytes]]


class MadeUpRows:
    """Embeds products by chance and queries by the model, so that a catalog is ready in seconds."""

    def __init__(self, real: Embedder) -> None:
        self._real = real
        self.model = real.model
        self.dimension = real.dimension

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return rows of length 1, the same for the same text."""
        rows = [
            np.random.default_rng(zlib.crc32(text.encode())).standard_normal(self.dimension) for text in texts
        ]
        found = np.asarray(rows, np.float32)
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)

    def embed_query(self, query: str) -> npt.NDArray[np.float32]:
        """Return the model's own vector."""
        return self._real.embed_query(query)


@asynccontextmanager
async def open_faces(
    folder: Path, products: Sequence[dict[str, Any]], *, with_vectors: bool
) -> AsyncIterator[Faces]:
    """Load the catalog and yield a client of every face."""
    with open_embedder(EmbeddingConfig(models=MODELS)) as opened:
        real = opened.embedder if with_vectors else None
        embedder = None if real is None else MadeUpRows(real)
        async with open_embedded(folder, embedder) as engine:
            for start in range(0, len(products), _BATCH):
                await engine.add_documents(DEMO_ACCOUNT, INDEX, products[start : start + _BATCH])
            if embedder is not None:
                await engine.embed_missing(DEMO_ACCOUNT, INDEX)
            # As a server does once it is up: what loading has made is not looked at again.
            gc.collect()
            gc.freeze()
            async with _clients(engine) as faces:
                yield faces


@asynccontextmanager
async def _clients(engine: EmbeddedBackend) -> AsyncIterator[Faces]:
    accounts = AccountDirectory()
    search = SearchProxy(engine)
    toolbox = Toolbox(search, accounts)
    edge = EdgeServices(
        accounts=accounts, search=search, backend=engine, catalog=engine, agentic=_NoWorker(), demo=True
    )
    desk = CallerDesk(accounts=accounts, index=INDEX, demo=True)
    async with (
        _served(edge, toolbox) as url,
        serve_grpc(toolbox, desk) as running,
        grpc.aio.insecure_channel(f"127.0.0.1:{running.port}") as channel,
        Client(f"{url}/mcp/{INDEX}") as client,
        aiohttp.ClientSession(headers=_HEADERS) as session,
    ):

        async def post(tool: str, arguments: dict[str, Any]) -> bytes:
            call = {"name": tool, "arguments": arguments}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            async with session.post(f"{url}/mcp/{INDEX}", json=body) as answer:
                answer.raise_for_status()
                return await answer.read()

        caller = Caller(account_id=DEMO_ACCOUNT, key_kind="open")
        stub = SearchServiceStub(channel)  # type: ignore[no-untyped-call]
        yield Faces(toolbox, caller, stub, client, post)


@asynccontextmanager
async def _served(edge: EdgeServices, toolbox: Toolbox) -> AsyncIterator[str]:
    face = McpFace("bench")

    async def indexes(caller: Caller) -> Sequence[str]:
        return await edge.backend.list_indexes(caller.account_id)

    @asynccontextmanager
    async def open_edge() -> AsyncIterator[EdgeServices]:
        async with face.opened(toolbox, indexes):
            yield edge

    app = create_gateway(open_edge, extra_routers=[mcp_router(face)], extra_policies=[mcp_policy])
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(sockets=[listener]), name="bench-server")
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True


class _NoWorker:
    async def fetch(self, scope: Any, receive: Any, send: Any) -> None:
        raise NotImplementedError("tools need no worker")
