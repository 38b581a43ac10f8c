"""The same stream by the least code: `python -m bench.bare_twin MODEL_URL SEARCH_URL`.

Bare ASGI, aiohttp, ijson and orjson, and nothing that makes a product of it: what it costs on a machine is
the floor there for everything written in Python.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import parse_qs

import aiohttp
import orjson
import uvicorn
from ijson.backends import yajl2_c
from ijson.utils import sendable_list

_STREAM = "/v1beta/models/gemini-3.5-flash-lite:streamGenerateContent?alt=sse"
_JSON = {"responseMimeType": "application/json"}


class BareTwin:
    """The ASGI application."""

    def __init__(self, model_url: str, search_url: str) -> None:
        self._model_url = model_url + _STREAM
        self._search_url = search_url
        self._session: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, whatever it asks."""
        if scope["type"] == "lifespan":
            await receive()
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as self._session:
                await send({"type": "lifespan.startup.complete"})
                await receive()
            return
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with asyncio.TaskGroup() as group:
            group.create_task(self._search("", "first", send), name="first")
            found = sendable_list()
            rows = yajl2_c.items_coro(found, "query_expansions.item", use_float=True)
            plan = {"contents": _question(scope), "generationConfig": _JSON}
            async with self._ask(plan) as response:
                async for text in _texts(response):
                    rows.send(text.encode())
                    for row in found:
                        group.create_task(self._search(row[0], row[1], send), name=row[1])
                    found.clear()
        async with self._ask({"contents": []}) as response:
            async for text in _texts(response):
                await _send(send, {"summary": text})
        end = b"event: stream-end\ndata: {}\n\n"
        await send({"type": "http.response.body", "body": end, "more_body": False})

    async def _search(self, query: str, label: str, send: Any) -> None:
        assert self._session is not None
        async with self._session.post(self._search_url, data=orjson.dumps({"q": query})) as response:
            answer = orjson.loads(await response.read())
        await _send(send, answer if label == "first" else {"categoryHits": [{"category": label, **answer}]})

    def _ask(self, body: dict[str, Any]) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        assert self._session is not None
        return self._session.post(self._model_url, data=orjson.dumps(body))


def _question(scope: Any) -> list[dict[str, Any]]:
    return [{"parts": [{"text": parse_qs(scope["query_string"].decode())["q"][0]}]}]


async def _texts(response: aiohttp.ClientResponse) -> AsyncIterator[str]:
    async for line in response.content:
        if line.startswith(b"data: "):
            parts = orjson.loads(line[6:])["candidates"][0]["content"]["parts"]
            if parts[0]["text"]:
                yield parts[0]["text"]


async def _send(send: Any, data: dict[str, Any]) -> None:
    event = b"event: delta\ndata: %b\n\n" % orjson.dumps(data)
    await send({"type": "http.response.body", "body": event, "more_body": True})


class _Announcing(uvicorn.Server):
    """Says where it listens."""

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        sys.stdout.write(f"twin at http://127.0.0.1:{port}/\n")
        sys.stdout.flush()


def main() -> None:
    """Serve until killed."""
    app = BareTwin(sys.argv[1], sys.argv[2])
    _Announcing(uvicorn.Config(app, port=0, loop="uvloop", log_config=None, access_log=False)).run()


if __name__ == "__main__":
    main()
