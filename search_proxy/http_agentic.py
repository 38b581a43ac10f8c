"""The agentic binding over HTTP, both ends: the gateway in one process, the worker in another.

The answer is passed on chunk by chunk as it comes. When the shopper leaves, the request to the worker is
closed, and the worker sees a subscriber go as it would in process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import orjson

from search_proxy.errors import AccessDenied, SearchTimeout, SearchUnavailable
from search_proxy.gateway_errors import Refusal
from search_proxy.http_facts import FACTS_HEADER, SIGNATURE_HEADER, Facts, FactsSigner

_PASSED_ON = ("accept", "content-type", "last-event-id", "user-agent", "accept-language")
_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade", "date", "server"})
_OURS = frozenset({FACTS_HEADER, SIGNATURE_HEADER})
_TIMEOUT = httpx.Timeout(connect=2.0, write=10.0, read=45.0, pool=2.0)
"""A stream is never silent for longer than its ping; three missed ones are a dead worker."""


class HttpAgenticBinding:
    """Hands authenticated requests to a worker at another address."""

    def __init__(self, client: httpx.AsyncClient, base_url: str, signer: FactsSigner) -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")
        self._signer = signer

    async def fetch(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one ASGI HTTP request, streaming as it goes.

        Raises:
            SearchUnavailable: The worker cannot be reached, before anything was answered.
            SearchTimeout: It did not begin to answer in time.
        """
        body = await _whole_body(receive)
        target = _target(scope)
        facts = Facts(caller=scope["state"]["caller"], settings=scope["state"]["settings"])
        headers = {
            name.decode(): value.decode("latin-1")
            for name, value in scope["headers"]
            if name.decode() in _PASSED_ON
        } | self._signer.headers(facts, scope["method"], target)
        request = self._client.build_request(
            scope["method"], self._base_url + target, headers=headers, content=body, timeout=_TIMEOUT
        )
        try:
            async with asyncio.TaskGroup() as exchange:
                relay = exchange.create_task(self._relay(request, scope["path"], send), name="relay answer")
                left = exchange.create_task(_disconnected(receive), name="watch client")
                left.add_done_callback(_cancelling(relay))
                relay.add_done_callback(_cancelling(left))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from failures

    async def _relay(self, request: httpx.Request, path: str, send: Any) -> None:
        try:
            response = await self._client.send(request, stream=True)
        except httpx.TimeoutException as error:
            raise SearchTimeout("the agentic worker did not answer in time") from error
        except httpx.TransportError as error:
            raise SearchUnavailable("the agentic worker cannot be reached") from error
        headers = [(name, value) for name, value in response.headers.raw if _is_end_to_end(name)]
        try:
            await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
            async for chunk in response.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except httpx.HTTPError:
            await send({"type": "http.response.body", "body": _broken_stream(response, path)})
        else:
            await send({"type": "http.response.body", "body": b""})
        finally:
            await response.aclose()


class SignedAgenticWorker:
    """ASGI middleware before a worker's application: it answers only what our gateway has signed."""

    def __init__(self, app: Any, signer: FactsSigner) -> None:
        self._app = app
        self._signer = signer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Put the signed facts where the in-process binding would, then answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            facts = self._signer.facts(headers, scope["method"], _target(scope))
        except AccessDenied as error:
            await Refusal(401, str(error)).response()(scope, receive, send)
            return
        state = scope.get("state", {}) | {
            "caller": facts.caller,
            "settings": facts.settings,
            "request_id": facts.caller.request_id,
        }
        kept = [(name, value) for name, value in scope["headers"] if name.decode() not in _OURS]
        await self._app({**scope, "state": state, "headers": kept}, receive, send)


def _target(scope: Any) -> str:
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    target = path.split(b"?", 1)[0] + (b"?" + query if query else b"")
    return target.decode("latin-1")


def _is_end_to_end(name: bytes) -> bool:
    return name.decode().lower() not in _HOP_BY_HOP


def _broken_stream(response: httpx.Response, path: str) -> bytes:
    """Return the end that a cut stream owes its reader: an error, then `stream-end`."""
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        return b""
    error = {
        "code": "upstream_failed",
        "message": "the answer was cut off",
        "stage": "stream",
        "retryable": True,
    }
    if path.endswith("/converse"):
        event = b"event: error\ndata: " + orjson.dumps(error)
    else:
        event = b"event: delta\ndata: " + orjson.dumps({"error": error})
    return b"\n\n" + event + b"\n\nevent: stream-end\ndata: {}\n\n"


async def _whole_body(receive: Any) -> bytes:
    chunks = []
    while True:
        message = await receive()
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)


async def _disconnected(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue


def _cancelling(task: asyncio.Task[None]) -> Callable[[asyncio.Task[None]], None]:
    def cancel(_: asyncio.Task[None]) -> None:
        task.cancel()

    return cancel
