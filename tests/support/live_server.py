"""A real server on the loopback, in the test's own event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from tests.support.prompt_server import PromptServer
from worker.http_protocol import LongUrlProtocol


@asynccontextmanager
async def live_server(app: Any) -> AsyncIterator[str]:
    """Serve `app` over real HTTP and yield its base URL; on leaving, shut it down within a second."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, http=LongUrlProtocol, loop="none", log_config=None, access_log=False, timeout_graceful_shutdown=1
    )
    server = PromptServer(config)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve(sockets=[listener]), name="live-server")
        async with asyncio.timeout(10):
            while not server.started:
                if serving.done():
                    raise RuntimeError("the server did not start")
                await asyncio.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.leave()
