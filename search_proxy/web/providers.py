"""The search providers: Tavily where its key is set, else Google Custom Search.

Both are asked over their documented HTTP interfaces. A provider that refuses or fails is a sentence, and the
key is never in it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import orjson

from search_proxy.feeds.html_text import plain_text
from search_proxy.web.keys import WebSearchKeys
from search_proxy.web.tier import WebError, WebResult, WebSearcher

_LONGEST_SNIPPET = 500
_LONGEST_TITLE = 200
_MAX_ANSWER_BYTES = 2_000_000
_TIMEOUT = httpx.Timeout(10.0, connect=3.0)


@asynccontextmanager
async def open_searcher(keys: WebSearchKeys) -> AsyncIterator[WebSearcher | None]:
    """Yield the provider to ask, if one is set up; leaving closes its connections."""
    async with httpx.AsyncClient(timeout=_TIMEOUT) as client:
        yield choose_searcher(client, keys)


def choose_searcher(client: httpx.AsyncClient, keys: WebSearchKeys) -> WebSearcher | None:
    """Return the provider to ask, or None where none is set up."""
    if keys.tavily_key:
        return TavilySearcher(client, keys.tavily_url, keys.tavily_key)
    if keys.google_key and keys.google_engine:
        return GoogleSearcher(client, keys.google_url, keys.google_key, keys.google_engine)
    return None


class TavilySearcher:
    """`POST /search` with a bearer key. Source: Tavily's API reference."""

    def __init__(self, client: httpx.AsyncClient, base_url: str, key: str) -> None:
        self._client = client
        self._url = f"{base_url.rstrip('/')}/search"
        self._key = key

    async def search(self, query: str, limit: int) -> Sequence[WebResult]:
        """Return at most `limit` results.

        Raises:
            WebError: The provider could not be asked, or refused.
        """
        request = self._client.build_request(
            "POST",
            self._url,
            json={"query": query, "max_results": limit, "search_depth": "basic"},
            headers={"authorization": f"Bearer {self._key}"},
        )
        answer = await _asked(self._client, request, "Tavily")
        return _results(answer.get("results"), "url", "content", limit)


class GoogleSearcher:
    """`GET /customsearch/v1`; at most ten results a call. Source: Google's Custom Search JSON API."""

    def __init__(self, client: httpx.AsyncClient, base_url: str, key: str, engine: str) -> None:
        self._client = client
        self._url = f"{base_url.rstrip('/')}/customsearch/v1"
        self._key = key
        self._engine = engine

    async def search(self, query: str, limit: int) -> Sequence[WebResult]:
        """Return at most `limit` results.

        Raises:
            WebError: The provider could not be asked, or refused.
        """
        request = self._client.build_request(
            "GET",
            self._url,
            params={"cx": self._engine, "q": query, "num": min(limit, 10)},
            headers={"x-goog-api-key": self._key},
        )
        answer = await _asked(self._client, request, "Google")
        return _results(answer.get("items"), "link", "snippet", limit)


async def _asked(client: httpx.AsyncClient, request: httpx.Request, provider: str) -> dict[str, Any]:
    try:
        answer = await client.send(request)
    except httpx.TimeoutException as error:
        raise WebError(f"web search did not answer in time ({provider})") from error
    except httpx.HTTPError as error:
        raise WebError(f"web search cannot be reached ({provider})") from error
    if answer.status_code in (401, 403):
        raise WebError(f"web search refused its key ({provider}, status {answer.status_code})")
    if answer.status_code in (429, 432, 433):
        raise WebError(f"web search is over its limit for now ({provider})")
    if answer.status_code != 200 or len(answer.content) > _MAX_ANSWER_BYTES:
        raise WebError(f"web search failed ({provider}, status {answer.status_code})")
    try:
        body = orjson.loads(answer.content)
    except orjson.JSONDecodeError as error:
        raise WebError(f"web search answered something else than JSON ({provider})") from error
    return body if isinstance(body, dict) else {}


def _results(items: Any, url: str, text: str, limit: int) -> Sequence[WebResult]:
    listed = items if isinstance(items, list) else []
    found = [item for item in listed if isinstance(item, dict) and isinstance(item.get(url), str)]
    return [
        WebResult(
            title=plain_text(str(item.get("title") or item[url]))[:_LONGEST_TITLE],
            url=item[url],
            snippet=plain_text(str(item.get(text) or ""))[:_LONGEST_SNIPPET],
        )
        for item in found[:limit]
    ]
