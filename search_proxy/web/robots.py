"""Whether a site lets a page be fetched: its robots.txt, read once per site and kept for a while.

A site without one allows everything; one whose robots.txt cannot be had right now (5xx) allows nothing.
Source: RFC 9309.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

_AGENT = "aisle-fetch"
_KEPT_SECONDS = 3_600.0
_KEPT_SITES = 512
_MAX_CHARACTERS = 512_000


class RobotsRules:
    """Asks robots.txt files through the same guarded connection as the pages."""

    def __init__(
        self, get: Callable[[str], Awaitable[tuple[int, str]]], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._get = get
        self._now = now
        self._sites: OrderedDict[str, tuple[float, RobotFileParser]] = OrderedDict()

    async def allows(self, url: str) -> bool:
        """Return whether the page may be fetched."""
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        known = self._sites.get(site)
        if known is None or known[0] < self._now():
            status, text = await self._get(f"{site}/robots.txt")
            known = (self._now() + _KEPT_SECONDS, _rules(status, text))
            self._sites[site] = known
            if len(self._sites) > _KEPT_SITES:
                self._sites.popitem(last=False)
        return known[1].can_fetch(_AGENT, url)


def _rules(status: int, text: str) -> RobotFileParser:
    rules = RobotFileParser()
    if status >= 500:
        rules.parse(["User-agent: *", "Disallow: /"])
    else:
        rules.parse(text[:_MAX_CHARACTERS].splitlines() if status == 200 else [])
    return rules
