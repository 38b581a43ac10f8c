"""Runs the server, and ends open streams properly when it is told to stop.

On SIGTERM the runs get half of the shutdown grace to end by themselves; then they are stopped, each stream
gets its end event, and the process leaves within the grace.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
import sys
from types import FrameType

import uvicorn
from fastapi import FastAPI

from worker.http_protocol import LongUrlProtocol
from worker.settings import Settings

GC_THRESHOLDS = (20_000, 20, 20)
"""Products come and go by the thousand and hardly ever in cycles: the interpreter's default of 700 objects
costs about a tenth of a stream's CPU, and finds nothing. Source: docs/performance.md."""


class DrainingServer(uvicorn.Server):
    """A uvicorn server that drains the application's runs before it waits for their connections."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, drain_seconds: float) -> None:
        super().__init__(config)
        self._app = app
        self._drain_seconds = drain_seconds
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as usual, remember the loop that a signal has to reach, and say where we listen."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            sys.stdout.write(f"aisle is at http://{shown}:{port}/\n")
            sys.stdout.flush()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain the runs, then stop as usual; a second signal stops at once."""
        drain = getattr(self._app.state, "drain", None)
        if self._loop is not None and drain is not None:
            seconds = 0.0 if self.should_exit or sig == signal.SIGINT else self._drain_seconds
            self._loop.call_soon_threadsafe(drain, seconds)
        super().handle_exit(sig, frame)


def serve(app: FastAPI, settings: Settings) -> None:
    """Serve until told to stop."""
    gc.set_threshold(*GC_THRESHOLDS)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http=LongUrlProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        forwarded_allow_ips=settings.forwarded_allow_ips,
        timeout_graceful_shutdown=max(1, round(settings.shutdown_grace_seconds)),
        timeout_keep_alive=75,
        h11_max_incomplete_event_size=64 * 1024,
    )
    DrainingServer(config, app, settings.shutdown_grace_seconds / 2).run()
