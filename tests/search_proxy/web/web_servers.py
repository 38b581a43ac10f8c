"""A small web on the loopback: sites under made-up names, and the two search providers' documented wire."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import orjson
from aiohttp.abc import AbstractResolver, ResolveResult

from tests.search_proxy.accounts.running_edge import serve_app

TAVILY_KEY, GOOGLE_KEY, GOOGLE_ENGINE = "tvly-secret", "goog-secret", "engine-1"

Page = tuple[int, Mapping[str, str], bytes]


def html(body: str, status: int = 200) -> Page:
    """Return a page of HTML."""
    return status, {"content-type": "text/html; charset=utf-8"}, body.encode()


def moved(url: str) -> Page:
    """Return a redirect."""
    return 302, {"location": url}, b""


@dataclass
class SmallWeb:
    """Pages by path; `asked` are the requests that arrived, as method, host, path and body."""

    pages: dict[str, Page] = field(default_factory=dict)
    asked: list[tuple[str, str, str, bytes]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    port: int = 0

    async def __call__(self, scope: Any, receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
        """Answer from the pages."""
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        body = (await receive()).get("body", b"")
        query = scope["query_string"].decode()
        self.asked.append((scope["method"], headers["host"], f"{scope['path']}?{query}".rstrip("?"), body))
        self.headers.append(headers)
        status, extra, content = self.pages.get(scope["path"], (404, {}, b""))
        sent = [(name.encode(), value.encode()) for name, value in extra.items()]
        await send({"type": "http.response.start", "status": status, "headers": sent})
        await send({"type": "http.response.body", "body": content})

    def paths(self) -> list[str]:
        """Return what was asked for, robots.txt left out."""
        return [path for _, _, path, _ in self.asked if path != "/robots.txt"]


@asynccontextmanager
async def small_web(pages: Mapping[str, Page]) -> AsyncIterator[SmallWeb]:
    """Serve pages until the block ends."""
    web = SmallWeb(dict(pages))
    async with serve_app(web) as client:
        web.port = client.base_url.port or 0
        yield web


class NameTable(AbstractResolver):
    """Resolves names from a table; each question takes the next answer, the last one stays."""

    def __init__(self, names: Mapping[str, list[str]]) -> None:
        self.names = {name: list(addresses) for name, addresses in names.items()}
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the next address of a name."""
        self.asked.append(host)
        addresses = self.names.get(host)
        if not addresses:
            raise OSError(f"no such name: {host}")
        address = addresses.pop(0) if len(addresses) > 1 else addresses[0]
        kind = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [ResolveResult(hostname=host, host=address, port=port, family=kind, proto=0, flags=0)]

    async def close(self) -> None:
        """Close nothing."""


def tavily_answer(results: list[dict[str, Any]]) -> Page:
    """Return an answer as Tavily documents it."""
    body = {
        "query": "q",
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "results": [{"score": 0.9, "raw_content": None, **result} for result in results],
        "response_time": 0.5,
    }
    return 200, {"content-type": "application/json"}, orjson.dumps(body)


def google_answer(items: list[dict[str, Any]]) -> Page:
    """Return an answer as Google documents it."""
    body = {"kind": "customsearch#search", "searchInformation": {"totalResults": "1"}, "items": items}
    return 200, {"content-type": "application/json"}, orjson.dumps(body)


def query_of(path: str) -> dict[str, list[str]]:
    """Return the query of a request's path."""
    return parse_qs(path.partition("?")[2])
