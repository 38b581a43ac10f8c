"""Gemini's streamed REST call, read directly: the client that the worker uses for plans and summaries.

The SDK builds three JSON documents and a tree of validated objects for every chunk; reading the bytes
costs a fraction of it, and that decides how many shoppers one machine serves. aiohttp is used without
the httpx interface, since nothing but raw bytes is wanted from it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson

from worker.llm.credentials import Credentials
from worker.llm.gemini_chunks import ChunkReader
from worker.llm.gemini_errors import error_from_response
from worker.llm.gemini_request import GeminiEndpoint, request_body
from worker.llm.language_model import ModelError, ModelEvent, ModelRequest
from worker.llm.sse_decoder import SseDecoder

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 2.0
READ_SECONDS = 30.0
"""The last resort; a planner's own deadlines are far shorter."""
DRAIN_SECONDS = 0.5
"""How long to wait, after the finish reason, for the end of the body that makes the connection reusable."""
KEEP_ALIVE_SECONDS = 120.0
_MAX_BODY_BYTES = 8_000_000
_MAX_ERROR_BYTES = 64_000


@asynccontextmanager
async def open_gemini_rest(
    endpoint: GeminiEndpoint, credentials: Credentials, *, max_streams: int = 256
) -> AsyncIterator[GeminiRest]:
    """Open a client that keeps up to `max_streams` connections alive."""
    connector = aiohttp.TCPConnector(
        limit=max_streams, keepalive_timeout=KEEP_ALIVE_SECONDS, ttl_dns_cache=300
    )
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=READ_SECONDS)
    # aiohttp would look at the environment, and read ~/.netrc in a thread, for every single call.
    async with aiohttp.ClientSession(connector=connector, timeout=timeout, proxy=_proxy(endpoint)) as session:
        yield GeminiRest(session, endpoint, credentials)


class GeminiRest:
    """Streams answers over the REST interface."""

    def __init__(
        self, session: aiohttp.ClientSession, endpoint: GeminiEndpoint, credentials: Credentials
    ) -> None:
        self._session = session
        self._endpoint = endpoint
        self._credentials = credentials

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield events as bytes arrive; the last one is `Finish`.

        Raises:
            ModelError: The call failed; events already yielded stay valid.
        """
        url = self._endpoint.url(request.model, "streamGenerateContent")
        reader = ChunkReader()
        response = await self._send(url, orjson.dumps(request_body(request)))
        body = _Body(response, reader)
        try:
            while (payloads := await body.next_payloads()) is not None:
                for payload in payloads:
                    for event in reader.read(_chunk(payload)):
                        yield event
        finally:
            # A body that was read to its end has given its connection back; any other is cut here.
            response.close()
        yield reader.end()

    async def warm_up(self, model: str) -> None:
        """Open a connection and let the server look at the key; a failure is logged, never raised."""
        try:
            headers = await self._credentials.headers()
            async with self._session.get(self._endpoint.url(model, ""), headers=headers) as response:
                if response.status >= 400:
                    logger.warning("model_warm_up_refused", extra={"status": response.status, "model": model})
        except (ModelError, aiohttp.ClientError, TimeoutError) as error:
            logger.warning("model_warm_up_failed", extra={"error": repr(error), "model": model})

    async def _send(self, url: str, body: bytes) -> aiohttp.ClientResponse:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        headers |= await self._credentials.headers()
        try:
            response = await self._session.post(
                f"{url}?alt=sse", data=body, headers=headers, allow_redirects=False
            )
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise transport_error(error) from error
        if response.status != 200:
            raise await _refusal(response)
        return response


class _Body:
    """A response's body as the payloads of its events."""

    def __init__(self, response: aiohttp.ClientResponse, reader: ChunkReader) -> None:
        self._content = response.content
        self._reader = reader
        self._is_stream = "event-stream" in response.headers.get("Content-Type", "")
        self._decoder = SseDecoder()
        self._document = bytearray()
        self._received_bytes = 0
        self._ended = False

    async def next_payloads(self) -> list[bytes] | None:
        """Return the payloads of the next bytes, possibly none of them; None after the last."""
        if self._ended:
            return None
        data = await self._read()
        self._received_bytes += len(data)
        if self._received_bytes > _MAX_BODY_BYTES:
            raise ModelError("protocol", f"the model's answer exceeds {_MAX_BODY_BYTES} bytes")
        if not data:
            self._ended = True
            return self._decoder.flush() if self._is_stream else _documents(bytes(self._document))
        if self._is_stream:
            return self._decoder.feed(data)
        self._document += data
        return []

    async def _read(self) -> bytes:
        """Return the next bytes, or none at the end; after the finish reason any trouble is an end."""
        try:
            if self._reader.finish is None:
                return await self._content.readany()
            async with asyncio.timeout(DRAIN_SECONDS):
                return await self._content.readany()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            if self._reader.finish is not None:
                return b""
            raise transport_error(error) from error


def _proxy(endpoint: GeminiEndpoint) -> str | None:
    """Return the proxy that the environment names for the endpoint."""
    address = urlsplit(endpoint.base_url)
    if address.hostname is None or proxy_bypass(address.netloc):
        return None
    return getproxies().get(address.scheme)


async def _refusal(response: aiohttp.ClientResponse) -> ModelError:
    try:
        content = await response.content.read(_MAX_ERROR_BYTES)
        body: Any = json.loads(content)
    except (ValueError, aiohttp.ClientError, TimeoutError, OSError):
        body = None
    finally:
        response.close()
    return error_from_response(response.status, body, response.headers.get("Retry-After"))


def _documents(body: bytes) -> list[bytes]:
    """Return the chunks of a gateway that answers with one JSON document instead of a stream."""
    document = _load(body) if body.strip() else []
    return [orjson.dumps(chunk) for chunk in (document if isinstance(document, list) else [document])]


def _chunk(payload: bytes) -> dict[str, Any]:
    chunk = _load(payload)
    return chunk if isinstance(chunk, dict) else {}


def _load(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"), strict=False)
    except ValueError as error:
        raise ModelError("protocol", "a chunk of the model's stream is not JSON", retryable=True) from error


def transport_error(error: Exception) -> ModelError:
    """Translate a failure of the connection."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return ModelError("unavailable", "cannot connect to the model's server", retryable=True)
    if isinstance(error, TimeoutError):
        return ModelError("timeout", "the model's server did not answer in time", retryable=True)
    return ModelError("disconnected", f"the connection broke: {type(error).__name__}", retryable=True)
