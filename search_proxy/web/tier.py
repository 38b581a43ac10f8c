"""The seams to the open web, and what comes back through them: always untrusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class WebError(Exception):
    """The web could not be asked; the message is a sentence that a model can act on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebResult:
    """One result of a web search."""

    title: str
    url: str
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """The clean text of one page; `url` is where it was in the end."""

    url: str
    title: str
    text: str
    is_truncated: bool = False


class WebSearcher(Protocol):
    """Searches the open web."""

    async def search(self, query: str, limit: int) -> Sequence[WebResult]:
        """Return at most `limit` results, best first.

        Raises:
            WebError: The provider could not be asked, or refused.
        """
        ...


class PageFetcher(Protocol):
    """Fetches one page as clean text."""

    async def fetch(self, url: str) -> WebPage:
        """Return the page.

        Raises:
            WebError: It may not be fetched, does not answer in time, or is no text.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WebTier:
    """What of the web is set up; None where it is not."""

    searcher: WebSearcher | None = None
    fetcher: PageFetcher | None = None
