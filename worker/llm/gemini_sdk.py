"""Gemini through google-genai: the oracle of the streamed path, and the client of every unary call.

Its stream is read by a pump task that only puts into a bounded queue, because a consumer that stops at
its own await would leave the SDK's socket open. Pump tasks belong to the client's TaskGroup; what goes
wrong in one travels through its queue as data.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
from google import genai
from google.genai import errors, types

from worker.llm.answer_payloads import DRAIN_SECONDS
from worker.llm.credentials import ApiKey
from worker.llm.gemini_chunks import ChunkReader
from worker.llm.gemini_request import GeminiEndpoint
from worker.llm.language_model import Finish, ModelError, ModelEvent, ModelRequest
from worker.llm.sdk_errors import sdk_error
from worker.llm.sdk_form import sdk_config, sdk_contents, wire_form
from worker.llm.sdk_transport import OpenStream, SdkTransport, current_stream

logger = logging.getLogger(__name__)

_CONNECT_SECONDS = 2.0
_READ_SECONDS = 30.0
_KEEP_ALIVE_SECONDS = 120.0
_QUEUED_EVENTS = 4096
"""More events than the longest allowed answer has; a consumer further behind than that has gone."""

_Item = ModelEvent | ModelError


@asynccontextmanager
async def open_gemini_sdk(
    endpoint: GeminiEndpoint, key: ApiKey | None, *, max_streams: int = 256
) -> AsyncIterator[GeminiSdk]:
    """Open a client of up to `max_streams` connections; leaving cancels what it still streams.

    Without a key, the SDK finds Vertex AI credentials by itself.
    """
    async with AsyncExitStack() as stack:
        transport = _transport(max_streams)
        # The SDK shares the transport with nobody and closes it with its client.
        client = genai.Client(
            vertexai=endpoint.vertex,
            api_key=None if key is None else key.key,
            project=endpoint.project if key is None else None,
            location=endpoint.location if key is None else None,
            http_options=types.HttpOptions(
                base_url=endpoint.base_url,
                api_version=endpoint.api_version,
                headers={"Accept-Encoding": "identity"},
                async_client_args={"transport": transport, "timeout": _timeout()},
            ),
        )
        stack.callback(client.close)
        stack.push_async_callback(client.aio.aclose)
        stack.push_async_callback(transport.aclose)
        pumps = await asyncio.TaskGroup().__aenter__()
        # The group is told of no exception, or it would wrap whatever the caller's block raises.
        stack.push_async_callback(pumps.__aexit__, None, None, None)
        sdk = GeminiSdk(client, pumps)
        stack.callback(sdk.stop)
        yield sdk


class GeminiSdk:
    """Streams answers through google-genai."""

    def __init__(self, client: genai.Client, pumps: asyncio.TaskGroup) -> None:
        self.client = client
        self._pumps = pumps
        self._running: set[asyncio.Task[None]] = set()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield events as bytes arrive; the last one is `Finish`.

        Raises:
            ModelError: The call failed; events already yielded stay valid.
        """
        queue: asyncio.Queue[_Item] = asyncio.Queue()
        pump = self._pumps.create_task(self._pump(request, queue), name=f"model:{request.model}")
        self._running.add(pump)
        pump.add_done_callback(self._running.discard)
        try:
            while True:
                item = await queue.get()
                if isinstance(item, ModelError):
                    raise item
                yield item
                if isinstance(item, Finish):
                    return
        finally:
            pump.cancel()

    async def warm_up(self, model: str) -> None:
        """Build the SDK's response types and open a connection; a failure is logged, never raised."""
        types.GenerateContentResponse.model_validate({"candidates": [{"content": {"parts": []}}]})
        try:
            await self.client.aio.models.get(model=model)
        except (errors.APIError, httpx2.HTTPError, ValueError) as error:
            logger.warning("model_warm_up_failed", extra={"error": type(error).__name__, "model": model})

    def stop(self) -> None:
        """Cancel every stream in flight."""
        for pump in tuple(self._running):
            pump.cancel()

    async def _pump(self, request: ModelRequest, queue: asyncio.Queue[_Item]) -> None:
        call = OpenStream()
        current_stream.set(call)
        reader = ChunkReader()
        try:
            try:
                await self._read(request, call, reader, queue)
                queue.put_nowait(reader.end())
            finally:
                await call.aclose()
        except ModelError as error:
            queue.put_nowait(error)
        except Exception as error:  # noqa: BLE001
            # A foreign library's failure is this one call's; it must not end the group of all calls.
            queue.put_nowait(sdk_error(error))

    async def _read(
        self, request: ModelRequest, call: OpenStream, reader: ChunkReader, queue: asyncio.Queue[_Item]
    ) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as draining:
                stream = await self.client.aio.models.generate_content_stream(
                    model=request.model, contents=sdk_contents(request), config=sdk_config(request)
                )
                async for chunk in stream:
                    for event in reader.read(wire_form(chunk, call.finish_message)):
                        queue.put_nowait(event)
                    if queue.qsize() > _QUEUED_EVENTS:
                        raise ModelError("protocol", f"{_QUEUED_EVENTS} events of the model were never read")
                    if reader.finish is not None:
                        draining.reschedule(loop.time() + DRAIN_SECONDS)
        except (TimeoutError, ModelError, httpx2.HTTPError, ValueError, RecursionError):
            # Behind the finish reason any trouble is an end.
            if reader.finish is None:
                raise


def _transport(max_streams: int) -> SdkTransport:
    limits = httpx2.Limits(
        max_connections=max_streams,
        max_keepalive_connections=max_streams,
        keepalive_expiry=_KEEP_ALIVE_SECONDS,
    )
    return SdkTransport(httpx2.AsyncHTTPTransport(limits=limits))


def _timeout() -> httpx2.Timeout:
    return httpx2.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS)
