"""Fetches one public page as clean text: nothing private, nothing huge, nothing slow, nothing disallowed.

Every redirect is a new URL and is checked like the first one. The connection goes to the address that was
checked (`addresses.py`), so a name cannot change its mind in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urljoin, urlsplit, urlunsplit

import aiohttp

from search_proxy.web.addresses import AddressRefused, is_address
from search_proxy.web.checked_resolver import CheckedResolver
from search_proxy.web.fetch_bounds import FetchBounds
from search_proxy.web.page_text import clean, read_page
from search_proxy.web.robots import RobotsRules
from search_proxy.web.tier import WebError, WebPage

USER_AGENT = "aisle-fetch/1.0"
_TEXTS = ("text/html", "application/xhtml+xml", "text/plain", "text/markdown")
_CHUNK_BYTES = 64 * 1024
_PORTS = {"http": 80, "https": 443}


class HttpPageFetcher:
    """Fetches pages of the open web."""

    def __init__(self, session: aiohttp.ClientSession, bounds: FetchBounds) -> None:
        self._session = session
        self._bounds = bounds
        self._robots = RobotsRules(self._get_robots)

    async def fetch(self, url: str) -> WebPage:
        """Return the page.

        Raises:
            WebError: It may not be fetched, does not answer in time, or is no text; a sentence.
        """
        seconds = self._bounds.total_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._followed(url)
        except TimeoutError as error:
            raise WebError(f"the page did not arrive within {seconds:g} s") from error
        except aiohttp.ClientError as error:
            if isinstance(error, AddressRefused) or isinstance(error.__cause__, AddressRefused):
                raise WebError("the page is at an address that is not public, and is not fetched") from error
            raise WebError("the page could not be fetched: its server did not answer properly") from error

    async def _followed(self, url: str) -> WebPage:
        for _ in range(self._bounds.max_redirects + 1):
            url = self._checked(url)
            if not await self._robots.allows(url):
                raise WebError("the site's robots.txt does not allow this page to be fetched")
            async with self._session.get(url, allow_redirects=False) as response:
                location = response.headers.get("location")
                if response.status in (301, 302, 303, 307, 308) and location:
                    url = urljoin(url, location)
                    continue
                if response.status != 200:
                    raise WebError(f"the page answered with status {response.status}")
                return await self._page(url, response)
        raise WebError(f"the page redirects more than {self._bounds.max_redirects} times")

    def _checked(self, url: str) -> str:
        """Return the URL without its fragment; only its form is looked at, its address when connecting."""
        try:
            parts = urlsplit(url.strip())
            host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
        except ValueError as error:
            raise WebError(f"{url[:200]!r} is not a URL") from error
        if parts.scheme not in self._bounds.schemes or not host:
            raise WebError(f"only {' and '.join(self._bounds.schemes)} URLs are fetched, not {url[:200]!r}")
        if parts.username is not None or parts.password is not None:
            raise WebError("a URL with a user or password is not fetched")
        if is_address(host) and not self._bounds.allow_address(host.strip("[]")):
            raise WebError("the page is at an address that is not public, and is not fetched")
        if port not in self._bounds.ports:
            allowed = ", ".join(str(each) for each in sorted(self._bounds.ports))
            raise WebError(f"the page is at port {port}, and is not fetched; allowed are the ports {allowed}")
        return urlunsplit((parts.scheme, parts.netloc, parts.path or "/", parts.query, ""))

    async def _page(self, url: str, response: aiohttp.ClientResponse) -> WebPage:
        kind = response.content_type
        if kind not in _TEXTS:
            raise WebError(f"the page is {kind!r}, not text; only HTML and plain text are read")
        body, is_whole = await self._body(response)
        try:
            markup = body.decode(response.charset or "utf-8", "replace")
        except LookupError:
            markup = body.decode("utf-8", "replace")
        if kind in ("text/plain", "text/markdown"):
            title, text = "", "\n".join(line for line in map(clean, markup.splitlines()) if line)
        else:
            read = await asyncio.to_thread(read_page, markup)
            title, text = read.title, read.text
        most = self._bounds.max_characters
        return WebPage(
            url=url, title=title[:300], text=text[:most], is_truncated=not is_whole or len(text) > most
        )

    async def _body(self, response: aiohttp.ClientResponse) -> tuple[bytes, bool]:
        received = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
            received += chunk
            if len(received) > self._bounds.max_bytes:
                return bytes(received[: self._bounds.max_bytes]), False
        return bytes(received), True

    async def _get_robots(self, url: str) -> tuple[int, str]:
        async with self._session.get(url, allow_redirects=False) as response:
            if response.status != 200:
                return response.status, ""
            return 200, (await self._body(response))[0].decode("utf-8", "replace")


@asynccontextmanager
async def open_page_fetcher(bounds: FetchBounds | None = None) -> AsyncIterator[HttpPageFetcher]:
    """Yield a fetcher; leaving closes its connections."""
    chosen = bounds or FetchBounds()
    connector = aiohttp.TCPConnector(
        resolver=CheckedResolver(chosen.allow_address, chosen.resolver), use_dns_cache=False, force_close=True
    )
    async with aiohttp.ClientSession(
        connector=connector, headers=_HEADERS, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
    ) as session:
        yield HttpPageFetcher(session, chosen)


_HEADERS: Mapping[str, str] = {"User-Agent": USER_AGENT, "Accept": "text/html, text/plain;q=0.9, */*;q=0.1"}
