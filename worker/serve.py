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
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from worker.http_protocol import LongUrlProtocol
from worker.observe.worker_place import WorkerPlace
from worker.settings import Settings

GC_THRESHOLDS = (5_000, 80, 20)
"""Products come and go by the thousand and hardly ever in cycles: the interpreter's default of 700 objects
costs about a tenth of a stream's CPU, and finds nothing. Every stream waits while the collector looks, so
that it looks at 5,000 at a time. Source: docs/performance.md."""


_LATE_COMERS_SECONDS = 0.25
"""A connection that was accepted just before has its request read; nobody's is cut without a word."""


class DrainingServer(uvicorn.Server):
    """A uvicorn server that drains the application's runs before it waits for their connections."""

    def __init__(
        self,
        config: uvicorn.Config,
        app: FastAPI,
        drain_seconds: float,
        place: WorkerPlace,
        read_settings: Callable[[], Settings],
    ) -> None:
        super().__init__(config)
        self._place = place
        self._is_hurried = False
        self._read_settings = read_settings
        self._app = app
        self._drain_seconds = drain_seconds
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as usual, remember the loop that a signal has to reach, and say where we listen."""
        self._loop = asyncio.get_running_loop()
        self._loop.add_signal_handler(signal.SIGHUP, self._reload)
        if self._place.life_fd is not None:
            self._loop.add_reader(self._place.life_fd, self._supervisor_has_gone)
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            sys.stdout.write(f"aisle is at http://{shown}:{port}/\n")
            sys.stdout.flush()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, answer what was on the way over connections just accepted, then stop as usual."""
        for server in self.servers:
            server.close()
        if not self._is_hurried:
            await asyncio.sleep(_LATE_COMERS_SECONDS)
        await super().shutdown(sockets)

    def _reload(self) -> None:
        """Take changed settings into use; among workers the supervisor replaces them instead."""
        reload = getattr(self._app.state, "reload", None)
        if reload is not None and self._place.folder is None:
            reload(self._read_settings)

    def _supervisor_has_gone(self) -> None:
        """Leave as on SIGTERM: nobody is there to tell us any more."""
        assert self._loop is not None
        assert self._place.life_fd is not None
        self._loop.remove_reader(self._place.life_fd)
        self.handle_exit(signal.SIGTERM, None)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain the runs, then stop as usual; a second signal stops at once."""
        drain = getattr(self._app.state, "drain", None)
        if self._loop is not None and drain is not None:
            self._is_hurried = self.should_exit or sig == signal.SIGINT
            seconds = 0.0 if self._is_hurried else self._drain_seconds
            self._loop.call_soon_threadsafe(drain, seconds)
        super().handle_exit(sig, frame)


def serve(
    app: FastAPI, settings: Settings, place: WorkerPlace, read_settings: Callable[[], Settings]
) -> None:
    """Serve until told to stop; `read_settings` reads them anew on SIGHUP."""
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
    server = DrainingServer(config, app, settings.shutdown_grace_seconds / 2, place, read_settings)
    server.run(None if place.listen_fd is None else [socket.socket(fileno=place.listen_fd)])
