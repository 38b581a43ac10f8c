"""Stands between a client and a server, and resets the client's sockets when told to."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_AT_ONCE = struct.pack("ii", 1, 0)
"""Linger for no time: closing sends a reset in place of an orderly end."""


class ResettingProxy:
    """Forwards bytes in threads; `url` is where a client connects."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._clients: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._start(self._accept)

    def reset(self) -> None:
        """Reset every connection that a client has open."""
        clients, self._clients = self._clients, []
        for client in clients:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            # A thread that waits in `recv` holds the socket open; this wakes it without sending anything.
            with suppress(OSError):
                client.shutdown(socket.SHUT_RD)
            client.close()

    def close(self) -> None:
        """End everything."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.reset()
        for thread in self._threads:
            thread.join(5)

    def _start(self, work: object, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, name="resetting-proxy")  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._target_port))
            self._clients.append(client)
            self._start(self._forward, client, server)
            self._start(self._forward, server, client)

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while chunk := source.recv(65_536):
                target.sendall(chunk)
        # One side has ended: the other thread of the pair must not wait for ever.
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
        if target not in self._clients:
            target.close()


@contextmanager
def resetting_proxy(target_port: int) -> Iterator[ResettingProxy]:
    """Run a proxy before a server of this machine."""
    proxy = ResettingProxy(target_port)
    try:
        yield proxy
    finally:
        proxy.close()
