"""MCP over Streamable HTTP at `/mcp` and `/mcp/{index}`, behind the gateway's door.

The door has already checked the key, its limits, the `Origin` and the index; each request stands alone, so
any process can answer any of them.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter
from starlette.routing import Route

from search_proxy.caller import Caller
from search_proxy.edge_services import EdgeServices
from search_proxy.gateway_policy import PathPolicy
from search_proxy.tools.toolbox import Toolbox

PATH = "/mcp"

MCP_BODY_BYTES = 64 * 1024
"""A call with 100 queries of a shopper's length."""

ListIndexes = Callable[[Caller], Awaitable[Sequence[str]]]


def mcp_policy(path: str) -> PathPolicy | None:
    """Return the door's rules for the MCP paths: a key that may read, a small body."""
    if path != PATH and not path.startswith(f"{PATH}/"):
        return None
    index = path.removeprefix(PATH).strip("/") or None
    return PathPolicy(access="read", body_bytes=MCP_BODY_BYTES, index=index, allow="POST, DELETE, OPTIONS")


class McpFace:
    """The ASGI application behind both paths, loaded with the first request while `opened` lasts.

    Its library costs some 40 MB and most of a second to load, which a process that no agent asks never pays.
    """

    def __init__(self, version: str) -> None:
        self._version = version
        self._app: Any = None
        self._wanted = asyncio.Event()
        self._ready = asyncio.Event()
        self._closing = asyncio.Event()

    @asynccontextmanager
    async def opened(self, toolbox: Toolbox, list_indexes: ListIndexes) -> AsyncIterator[None]:
        """Serve the toolbox's tools until the block ends."""
        self._wanted, self._ready, self._closing = asyncio.Event(), asyncio.Event(), asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._host(toolbox, list_indexes), name="mcp-host")
            try:
                yield
            finally:
                self._closing.set()
                self._wanted.set()

    async def _host(self, toolbox: Toolbox, list_indexes: ListIndexes) -> None:
        await self._wanted.wait()
        if self._closing.is_set():
            return
        module = await asyncio.to_thread(importlib.import_module, "search_proxy.mcp.http_app")
        async with module.open_http_app(toolbox, list_indexes, version=self._version, path=PATH) as app:
            self._app = app
            self._ready.set()
            await self._closing.wait()
        self._app = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, which the door has let in."""
        index = scope["path_params"].get("index")
        edge: EdgeServices = scope["state"]["edge"]
        if index is not None:
            await edge.search.describe_index(scope["state"]["caller"], index)
        self._wanted.set()
        await self._ready.wait()
        state = {**scope["state"], "mcp_index": index}
        await self._app({**scope, "path": PATH, "raw_path": PATH.encode(), "state": state}, receive, send)


def mcp_router(face: McpFace) -> APIRouter:
    """Return the routes of the face."""
    return APIRouter(routes=[Route(PATH, face), Route(f"{PATH}/{{index}}", face)])
