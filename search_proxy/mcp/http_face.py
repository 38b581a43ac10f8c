"""MCP over Streamable HTTP at `/mcp` and `/mcp/{index}`, behind the gateway's door.

The door has already checked the key, its limits, the `Origin` and the index; each request stands alone, so
any process can answer any of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter
from fastmcp.server.dependencies import get_http_request
from starlette.routing import Route

from search_proxy.caller import Caller
from search_proxy.edge_services import EdgeServices
from search_proxy.gateway_policy import SEARCH_BODY_BYTES, PathPolicy
from search_proxy.mcp.server import create_mcp_server
from search_proxy.mcp.tool_provider import MAX_INDEXES, Asker
from search_proxy.tools.toolbox import Toolbox

PATH = "/mcp"

ListIndexes = Callable[[Caller], Awaitable[Sequence[str]]]


def mcp_policy(path: str) -> PathPolicy | None:
    """Return the door's rules for the MCP paths: a key that may read, a small body."""
    if path != PATH and not path.startswith(f"{PATH}/"):
        return None
    index = path.removeprefix(PATH).strip("/") or None
    return PathPolicy(access="read", body_bytes=SEARCH_BODY_BYTES, index=index, allow="POST, DELETE, OPTIONS")


class McpFace:
    """The ASGI application behind both paths; `opened` makes it ready."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._app: Any = None

    @asynccontextmanager
    async def opened(self, toolbox: Toolbox, list_indexes: ListIndexes) -> AsyncIterator[None]:
        """Serve the toolbox's tools until the block ends."""

        async def who() -> Asker:
            state = get_http_request().state
            caller: Caller = state.caller
            if state.mcp_index is not None:
                return Asker(caller=caller, indexes=(state.mcp_index,))
            names = await list_indexes(caller)
            mine = [name for name in names if caller.indexes is None or name in caller.indexes]
            return Asker(caller=caller, indexes=tuple(mine[:MAX_INDEXES]), prefixes=True)

        server = create_mcp_server(toolbox, who, self._version)
        app = server.http_app(
            path=PATH, stateless_http=True, json_response=True, host_origin_protection=False
        )
        async with app.lifespan(app):
            self._app = app
            try:
                yield
            finally:
                self._app = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, which the door has let in."""
        index = scope["path_params"].get("index")
        edge: EdgeServices = scope["state"]["edge"]
        if index is not None:
            await edge.search.describe_index(scope["state"]["caller"], index)
        state = {**scope["state"], "mcp_index": index}
        await self._app({**scope, "path": PATH, "raw_path": PATH.encode(), "state": state}, receive, send)


def mcp_router(face: McpFace) -> APIRouter:
    """Return the routes of the face."""
    return APIRouter(routes=[Route(PATH, face), Route(f"{PATH}/{{index}}", face)])
