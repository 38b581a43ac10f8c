"""The HTTP transport under the SDK: tolerant of gateways, and closable from outside.

The SDK fails on any event-stream line that is not `data: {...}`, and keeps a stream's socket until a
garbage collection when its iteration is abandoned. So every chunk is rewritten here to the one form that
it reads, refusals never get to it, and the open response is noted where its owner can close it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass

import httpx2

from worker.llm.answer_payloads import DRAIN_SECONDS, MAX_ERROR_BYTES, AnswerPayloads, error_document
from worker.llm.gemini_errors import error_from_response
from worker.llm.language_model import ModelError
from worker.llm.sdk_chunks import readable_chunk


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
        """Send the request; an answer's body becomes `data: {...}` events and nothing else.

        Raises:
            ModelError: It was refused.
        """
        response = await self._inner.handle_async_request(request)
        if 300 <= response.status_code < 400:
            # The SDK would go there, key and all.
            response.headers.pop("location", None)
        stream = response.stream
        call = current_stream.get()
        if call is None or not isinstance(stream, httpx2.AsyncByteStream):
            return response
        call.body = stream
        headers = {name.lower(): value for name, value in response.headers.items()}
        if response.status_code != 200:
            # The SDK would wait for whatever body an error has.
            raise await _refusal(response.status_code, headers, stream)
        try:
            payloads = AnswerPayloads(headers)
        except ModelError:
            # The HTTP client may know a coding that we do not.
            return response
        response.headers.pop("content-encoding", None)
        response.stream = _Chunks(stream, payloads, call)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _Chunks(httpx2.AsyncByteStream):
    """An answer's chunks, each as one event of the form that the SDK reads."""

    def __init__(self, stream: httpx2.AsyncByteStream, payloads: AnswerPayloads, call: OpenStream) -> None:
        self._stream = stream
        self._payloads = payloads
        self._call = call

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for received in self._stream:
            for payload in self._payloads.feed(received):
                yield self._event(payload)
        for payload in self._payloads.end():
            yield self._event(payload)

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _event(self, payload: bytes) -> bytes:
        chunk, finish_message = readable_chunk(payload)
        self._call.finish_message = finish_message or self._call.finish_message
        return b"data: " + chunk + b"\n\n"


async def _refusal(status: int, headers: Mapping[str, str], stream: httpx2.AsyncByteStream) -> ModelError:
    content = bytearray()
    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for received in stream:
                content += received
                if len(content) > MAX_ERROR_BYTES:
                    break
    return error_from_response(status, error_document(headers, bytes(content)), headers.get("retry-after"))
