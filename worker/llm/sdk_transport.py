"""The HTTP transport under the SDK: tolerant of gateways, and closable from outside.

The SDK fails on any event-stream line that is not `data: {...}`, and keeps a stream's socket until a
garbage collection when its iteration is abandoned. So every event is rewritten here to the one form that
it reads, and the open response is noted where its owner can close it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass

import httpx2
import orjson

from worker.llm.sse_decoder import SseDecoder


@dataclass(slots=True)
class OpenStream:
    """One model call in flight, as far as the transport knows it."""

    body: httpx2.AsyncByteStream | None = None
    finish_message: str | None = None
    """The model's own words on why it stopped, which the SDK drops."""

    async def aclose(self) -> None:
        """Close the call's connection, unless its body was read to the end."""
        if self.body is not None:
            await self.body.aclose()


current_stream: ContextVar[OpenStream | None] = ContextVar("current_stream", default=None)
"""Set by the task that pumps one SDK stream; the transport runs in the same task."""


class SdkTransport(httpx2.AsyncBaseTransport):
    """Passes requests on and rewrites event streams."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request; an event stream's body becomes `data: {...}` events and nothing else."""
        response = await self._inner.handle_async_request(request)
        stream = response.stream
        call = current_stream.get()
        if call is None or not isinstance(stream, httpx2.AsyncByteStream):
            return response
        call.body = stream
        if response.status_code == 200 and "content-encoding" not in response.headers:
            is_events = "event-stream" in response.headers.get("content-type", "")
            response.stream = _Events(stream, call) if is_events else _Document(stream)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _Events(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, call: OpenStream) -> None:
        self._stream = stream
        self._call = call

    async def __aiter__(self) -> AsyncIterator[bytes]:
        decoder = SseDecoder()
        async for received in self._stream:
            for payload in decoder.feed(received):
                yield self._event(payload)
        for payload in decoder.flush():
            yield self._event(payload)

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _event(self, payload: bytes) -> bytes:
        if b'"finishMessage"' in payload:
            self._call.finish_message = _finish_message(payload)
        return b"data: " + b"\ndata: ".join(payload.splitlines()) + b"\n\n"


class _Document(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body = b"".join([received async for received in self._stream])
        try:
            document = orjson.loads(body) if body.strip() else []
        except orjson.JSONDecodeError:
            yield body
            return
        for chunk in document if isinstance(document, list) else [document]:
            yield b"data: " + orjson.dumps(chunk) + b"\n\n"

    async def aclose(self) -> None:
        await self._stream.aclose()


def _finish_message(payload: bytes) -> str | None:
    try:
        message = orjson.loads(payload)["candidates"][0].get("finishMessage")
    except (orjson.JSONDecodeError, LookupError, TypeError, AttributeError):
        return None
    return message if isinstance(message, str) else None
