"""Opens the web tier: the provider that has a key, and the page fetcher at its first page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import cast

from search_proxy.first_use import loaded, opened_at_first_use
from search_proxy.web.fetch_bounds import FetchBounds
from search_proxy.web.keys import WebSearchKeys
from search_proxy.web.tier import PageFetcher, WebPage, WebSearcher, WebTier


class FetcherAtFirstPage:
    """A `PageFetcher` whose client is opened for the first page that somebody wants."""

    def __init__(self, opened: Callable[[], Awaitable[PageFetcher]]) -> None:
        self._opened = opened

    async def fetch(self, url: str) -> WebPage:
        """Return the page.

        Raises:
            WebError: It may not be fetched, does not answer in time, or is no text.
        """
        return await (await self._opened()).fetch(url)


@asynccontextmanager
async def open_web_tier(keys: WebSearchKeys, bounds: FetchBounds | None = None) -> AsyncIterator[WebTier]:
    """Yield what is set up; leaving closes its connections."""

    async def open_fetcher() -> AbstractAsyncContextManager[PageFetcher]:
        fetching = await loaded("search_proxy.web.page_fetcher")
        return cast(AbstractAsyncContextManager[PageFetcher], fetching.open_page_fetcher(bounds))

    async with AsyncExitStack() as stack:
        searcher: WebSearcher | None = None
        if keys.are_set:
            providers = await loaded("search_proxy.web.providers")
            searcher = await stack.enter_async_context(providers.open_searcher(keys))
        opened = await stack.enter_async_context(opened_at_first_use(open_fetcher))
        yield WebTier(searcher=searcher, fetcher=FetcherAtFirstPage(opened))
