"""Gemini's streamed REST call, read directly: the client that the worker uses for plans and summaries.

The SDK builds three JSON documents and a tree of validated objects for every chunk; reading the bytes costs
a fraction of it, and that decides how many shoppers one machine serves. `push` is the way of the worker:
each read of the socket becomes events within the same turn of the loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import orjson

from worker.llm.answer_payloads import DRAIN_SECONDS, MAX_ERROR_BYTES, error_document
from worker.llm.credentials import Credentials
from worker.llm.gemini_body import AnswerBody
from worker.llm.gemini_errors import error_from_response
from worker.llm.gemini_request import GeminiEndpoint, request_body
from worker.llm.http_calls import CannotConnect, HttpCalls
from worker.llm.http_connection import CallFailed, HttpConnection
from worker.llm.language_model import ModelError, ModelEvent, ModelRequest

logger = logging.getLogger(__name__)


@asynccontextmanager
async def open_gemini_rest(
    endpoint: GeminiEndpoint, credentials: Credentials, *, max_streams: int = 256
) -> AsyncIterator[GeminiRest]:
    """Open a client that keeps up to `max_streams` connections alive."""
    calls = HttpCalls(endpoint.base_url, proxy=_proxy(endpoint), max_connections=max_streams)
    try:
        yield GeminiRest(calls, endpoint, credentials)
    finally:
        calls.close()


class GeminiRest:
    """Streams answers over the REST interface."""

    def __init__(self, calls: HttpCalls, endpoint: GeminiEndpoint, credentials: Credentials) -> None:
        self._calls = calls
        self._endpoint = endpoint
        self._credentials = credentials

    async def push(self, request: ModelRequest, take: Callable[[ModelEvent], None]) -> None:
        """Call `take` with every event, in the moment at which its bytes are read; the last is `Finish`.

        Raises:
            ModelError: The call failed; events already taken stay valid. What `take` raises passes through.
        """
        answer = await self._ask(request)
        try:
            body = AnswerBody(answer.headers, take)
            _read(answer, body.take, body)
            await _ended(answer, body)
        finally:
            self._calls.end(answer)
        take(body.finish())

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield events as bytes arrive; the last one is `Finish`.

        Raises:
            ModelError: The call failed; events already yielded stay valid.
        """
        news = asyncio.Event()
        arrived: deque[ModelEvent] = deque()
        answer = await self._ask(request)
        try:
            body = AnswerBody(answer.headers, arrived.append)

            def take(data: bytes) -> None:
                try:
                    body.take(data)
                finally:
                    news.set()

            _read(answer, take, body)
            answer.when_ended(news.set)
            while not answer.has_ended or arrived:
                news.clear()
                while arrived:
                    yield arrived.popleft()
                if not answer.has_ended:
                    await news.wait()
            await _ended(answer, body)
            while arrived:
                yield arrived.popleft()
        finally:
            self._calls.end(answer)
        yield body.finish()

    async def warm_up(self, model: str) -> None:
        """Open a connection and let the server look at the key; a failure is logged, never raised."""
        try:
            url, headers = self._endpoint.url(model, ""), dict(await self._credentials.headers())
            async with self._calls.call(b"GET", url, headers) as answer:
                answer.read_into(lambda data: None)
                await answer.ended()
                if answer.status >= 400:
                    logger.warning("model_warm_up_refused", extra={"status": answer.status, "model": model})
        except (ModelError, CallFailed, TimeoutError) as error:
            logger.warning("model_warm_up_failed", extra={"error": repr(error), "model": model})

    async def _ask(self, request: ModelRequest) -> HttpConnection:
        url = f"{self._endpoint.url(request.model, 'streamGenerateContent')}?alt=sse"
        headers = {"Content-Type": "application/json", "Accept": "*/*", "Accept-Encoding": "identity"}
        headers |= await self._credentials.headers()
        try:
            answer = await self._calls.begin(b"POST", url, headers, orjson.dumps(request_body(request)))
        except (CallFailed, TimeoutError) as error:
            raise transport_error(error) from error
        if answer.status != 200:
            try:
                raise await _refusal(answer)
            finally:
                self._calls.end(answer)
        return answer


def _read(answer: HttpConnection, take: Callable[[bytes], None], body: AnswerBody) -> None:
    """Read the body; once the model has said why it stopped, not for long any more."""

    def drain(data: bytes) -> None:
        take(data)
        if body.has_finish:
            answer.end_within(DRAIN_SECONDS)

    answer.read_into(drain)


async def _ended(answer: HttpConnection, body: AnswerBody) -> None:
    """Return at the body's end; after the finish reason any trouble is an end."""
    try:
        await answer.ended()
    except (CallFailed, TimeoutError) as error:
        if not body.has_finish:
            raise transport_error(error) from error
    body.end()


async def _refusal(answer: HttpConnection) -> ModelError:
    content = bytearray()
    # The status says most of it: a body that does not come must not make a refusal a silence.
    answer.end_within(DRAIN_SECONDS)

    def take(data: bytes) -> None:
        content.extend(data)
        if len(content) > MAX_ERROR_BYTES:
            raise CallFailed("the page of an error is too large")

    answer.read_into(take)
    with suppress(CallFailed, TimeoutError):
        await answer.ended()
    body = error_document(answer.headers, bytes(content))
    return error_from_response(answer.status, body, answer.headers.get("retry-after"))


def _proxy(endpoint: GeminiEndpoint) -> str | None:
    """Return the proxy that the environment names for the endpoint."""
    address = urlsplit(endpoint.base_url)
    if address.hostname is None or proxy_bypass(address.netloc):
        return None
    return getproxies().get(address.scheme)


def transport_error(error: Exception) -> ModelError:
    """Translate a failure of the connection."""
    if isinstance(error, CannotConnect):
        return ModelError("unavailable", "cannot connect to the model's server", retryable=True)
    if isinstance(error, TimeoutError):
        return ModelError("timeout", "the model's server did not answer in time", retryable=True)
    return ModelError("disconnected", f"the connection broke: {error}", retryable=True)
