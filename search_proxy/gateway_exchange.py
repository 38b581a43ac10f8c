"""One HTTP exchange as the door sees it: the request's body within its limit, the answer with our headers."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from search_proxy.gateway_errors import Refusal

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
RawHeader = tuple[bytes, bytes]

_BODY_SECONDS = 60.0
"""A body that takes longer is given up: somebody holds a place with it."""
_TRACE_PARENT = re.compile(rb"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}\Z")
"""Source: W3C Trace Context."""
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{8,64}\Z")

_EVERYWHERE: tuple[RawHeader, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
_ON_API: tuple[RawHeader, ...] = (
    (b"vary", b"Origin"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)
_ON_PAGES: tuple[RawHeader, ...] = ((b"x-frame-options", b"SAMEORIGIN"),)
_EXPOSED = b"x-request-id, retry-after"


class Exchange:
    """Sends an answer with the edge's headers; knows whether it has begun."""

    def __init__(self, scope: Any, send: Send) -> None:
        self._scope = scope
        self._send = send
        self.request_id = _request_id(scope["headers"])
        self.allowed_origin: str | None = None
        self.is_api = True
        self.kind = "public"
        self.status: int | None = None
        self.has_started = False
        self._began = time.perf_counter()

    async def send(self, message: Any) -> None:
        """Send one ASGI message; the first one gets the headers that were not set already."""
        if message["type"] == "http.response.start":
            self.has_started = True
            self.status = message["status"]
            message = {**message, "headers": self._with_ours(message.get("headers", ()))}
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer with a refusal, if nothing has been answered."""
        if not self.has_started:
            await refusal.response()(self._scope, _no_receive, self.send)

    async def empty(self, status: int, headers: Iterable[RawHeader]) -> None:
        """Answer without a body."""
        await self.send({"type": "http.response.start", "status": status, "headers": list(headers)})
        await self.send({"type": "http.response.body", "body": b""})

    def _with_ours(self, headers: Iterable[Iterable[bytes]]) -> list[Any]:
        result: list[Any] = list(headers)
        present = {bytes(name).lower() for name, _ in result}
        for header in (*_EVERYWHERE, *(_ON_API if self.is_api else _ON_PAGES)):
            if header[0] not in present:
                result.append(header)
        if self.is_api and b"vary" in present:
            result.append((b"vary", b"Origin"))
        result.append((b"x-request-id", self.request_id.encode()))
        if self.is_api:
            first_byte_ms = (time.perf_counter() - self._began) * 1000
            result.append((b"server-timing", b"total;dur=%.2f" % first_byte_ms))
        if self.allowed_origin is not None:
            origin = self.allowed_origin.encode("latin-1")
            result.append((b"access-control-allow-origin", origin))
            result.append((b"timing-allow-origin", origin))
            result.append((b"access-control-expose-headers", _EXPOSED))
        return result


async def bounded_receive(scope: Any, receive: Receive, most_bytes: int) -> Receive:
    """Return a `receive` that gives the whole body at once, after it was found to be within its limit.

    The body is read here so that a refusal is always the first and only answer, whatever the route does.

    Raises:
        Refusal: 413 when it is too long, 408 when it does not end, 400 when its length is not a number.
    """
    declared, has_body = _declared_length(scope["headers"])
    if declared is not None and declared > most_bytes:
        raise _too_long(most_bytes)
    if not has_body:
        return receive
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            body, is_whole = await _read(receive, most_bytes)
    except TimeoutError as error:
        raise Refusal(408, f"the body did not end within {_BODY_SECONDS:g} s") from error
    pending: list[Any] = [{"type": "http.request", "body": body, "more_body": False}] if is_whole else []

    async def replayed() -> Any:
        return pending.pop() if pending else await receive()

    return replayed


async def _read(receive: Receive, most_bytes: int) -> tuple[bytes, bool]:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"", False
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > most_bytes:
            raise _too_long(most_bytes)
        if not message.get("more_body", False):
            return b"".join(chunks), True


def _declared_length(headers: Iterable[RawHeader]) -> tuple[int | None, bool]:
    length: int | None = None
    has_body = False
    for name, value in headers:
        if name == b"content-length":
            if not value.isdigit():
                raise Refusal(400, "content-length is not a number")
            length = int(value)
            has_body = length > 0
        elif name == b"transfer-encoding":
            has_body = True
    return length, has_body


def _too_long(most_bytes: int) -> Refusal:
    return Refusal(413, f"the body is too long: at most {most_bytes} bytes are taken here")


def _request_id(headers: Iterable[RawHeader]) -> str:
    traced = None
    for name, value in headers:
        if name == b"x-request-id" and _REQUEST_ID.match(value):
            return value.decode()
        if name == b"traceparent":
            traced = _TRACE_PARENT.match(value)
    # Who traces finds the request by its trace: in the log, and as the parent of our spans.
    return f"{traced[1].decode()}-{traced[2].decode()}" if traced else secrets.token_hex(12)


async def _no_receive() -> Any:
    return {"type": "http.disconnect"}
