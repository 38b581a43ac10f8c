"""A way through an HTTP proxy: a tunnel for TLS, and what a proxy wants to know of its user."""

from __future__ import annotations

import asyncio
import base64
import socket
from urllib.parse import SplitResult, unquote

from worker.llm.http_connection import CallFailed

_MOST_BYTES = 16_384


def proxy_headers(proxy: SplitResult) -> list[bytes]:
    """Return the header lines that a proxy's URL asks for: name and password, where it has them."""
    if proxy.username is None:
        return []
    user = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
    return [b"Proxy-Authorization: Basic " + base64.b64encode(user)]


async def open_tunnel(sock: socket.socket, proxy: SplitResult, host: str, port: int) -> None:
    """Let the proxy at the other end of `sock` connect to the host.

    Raises:
        CallFailed: It refuses, or answers something else.
    """
    loop = asyncio.get_running_loop()
    there = f"{host}:{port}".encode("ascii", "replace")
    lines = [b"CONNECT %b HTTP/1.1" % there, b"Host: " + there, *proxy_headers(proxy), b"", b""]
    await loop.sock_sendall(sock, b"\r\n".join(lines))
    received = b""
    while b"\r\n\r\n" not in received:
        data = await loop.sock_recv(sock, 4096)
        received += data
        if not data or len(received) > _MOST_BYTES:
            raise CallFailed("the proxy did not answer CONNECT")
    status = received.split(b" ", 2)[1:2]
    if status != [b"200"]:
        raise CallFailed(f"the proxy answered CONNECT with {b''.join(status).decode('latin-1')!r}")
