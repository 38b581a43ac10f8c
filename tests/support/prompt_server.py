"""A uvicorn server that ends as soon as it may: uvicorn looks ten times a second, and naps between its steps.

Hundreds of tests start a server each. What it serves, and what it waits for at its end, is uvicorn's.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from types import FrameType

import uvicorn

_LOOK_SECONDS = 0.001


class PromptServer(uvicorn.Server):
    """Serves until `leave` is called in its own event loop."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._told = asyncio.Event()

    def leave(self) -> None:
        """Stop accepting, and end once the open connections have ended."""
        self.should_exit = True
        self._told.set()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Leave on a signal, as every uvicorn server does."""
        super().handle_exit(sig, frame)
        self._told.set()

    async def main_loop(self) -> None:
        """Wait until somebody says that it is over."""
        await self.on_tick(0)
        await self._told.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Do what uvicorn does, within the same time, without its naps."""
        for server in self.servers:
            server.close()
        for listener in sockets or ():
            listener.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.config.timeout_graceful_shutdown):
                while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110
                    await asyncio.sleep(_LOOK_SECONDS)
                for server in self.servers:
                    await server.wait_closed()
        for task in self.server_state.tasks:
            task.cancel()
        await self.lifespan.shutdown()
