"""The MCP server as an ASGI application; `http_face.py` loads this module with the first request to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastmcp.server.dependencies import get_http_request

from search_proxy.caller import Caller
from search_proxy.mcp.server import create_mcp_server
from search_proxy.mcp.tool_provider import MAX_INDEXES, Asker
from search_proxy.tools.toolbox import Toolbox


@asynccontextmanager
async def open_http_app(
    toolbox: Toolbox,
    list_indexes: Callable[[Caller], Awaitable[Sequence[str]]],
    *,
    version: str,
    path: str,
) -> AsyncIterator[Any]:
    """Yield an application that serves the toolbox's tools at `path` until the block ends."""

    async def who() -> Asker:
        state = get_http_request().state
        caller: Caller = state.caller
        if state.mcp_index is not None:
            return Asker(caller=caller, indexes=(state.mcp_index,))
        names = await list_indexes(caller)
        mine = [name for name in names if caller.indexes is None or name in caller.indexes]
        return Asker(caller=caller, indexes=tuple(mine[:MAX_INDEXES]), prefixes=True)

    server = create_mcp_server(toolbox, who, version)
    app = server.http_app(path=path, stateless_http=True, json_response=True, host_origin_protection=False)
    async with app.lifespan(app):
        yield app
