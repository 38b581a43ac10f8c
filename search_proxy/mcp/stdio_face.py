"""MCP over stdio: `aisle mcp --index X`, for an agent that starts the server itself.

stdout belongs to the protocol; everything else of the process writes to stderr. Who can start the process
can read the data folder, so it answers as the account that it was started for.
"""

from __future__ import annotations

from search_proxy.caller import Caller
from search_proxy.mcp.server import create_mcp_server
from search_proxy.mcp.tool_provider import Asker
from search_proxy.tools.toolbox import Toolbox


async def serve_stdio(toolbox: Toolbox, account_id: str, indexes: tuple[str, ...], version: str) -> None:
    """Answer on stdin and stdout until stdin ends; several indexes put their names before the tools'."""
    caller = Caller(account_id=account_id, key_kind="secret")
    asker = Asker(caller=caller, indexes=indexes, prefixes=len(indexes) > 1)

    async def who() -> Asker:
        return asker

    await create_mcp_server(toolbox, who, version).run_stdio_async(show_banner=False)
