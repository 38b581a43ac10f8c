"""Opens the web tier: the provider that has a key, and the page fetcher."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from search_proxy.web.page_fetcher import FetchBounds, open_page_fetcher
from search_proxy.web.providers import WebSearchKeys, choose_searcher
from search_proxy.web.tier import WebTier

_TIMEOUT = httpx.Timeout(10.0, connect=3.0)


@asynccontextmanager
async def open_web_tier(keys: WebSearchKeys, bounds: FetchBounds | None = None) -> AsyncIterator[WebTier]:
    """Yield what is set up; leaving closes its connections."""
    async with httpx.AsyncClient(timeout=_TIMEOUT) as client, open_page_fetcher(bounds) as fetcher:
        yield WebTier(searcher=choose_searcher(client, keys), fetcher=fetcher)
