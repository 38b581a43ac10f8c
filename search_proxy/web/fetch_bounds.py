"""What the fetching of one page may cost, and where it may go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from search_proxy.web.addresses import AllowAddress, is_public

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver

PAGE_PORTS = frozenset({80, 443})
"""Where pages are; behind other ports of a public host stand its mail, its databases and its consoles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchBounds:
    """Bounds of one fetch. `allow_address` and `resolver` are there for tests and private networks."""

    total_seconds: float = 10.0
    max_bytes: int = 2_000_000
    max_characters: int = 20_000
    max_redirects: int = 5
    schemes: tuple[str, ...] = ("http", "https")
    ports: frozenset[int] = PAGE_PORTS
    allow_address: AllowAddress = is_public
    resolver: AbstractResolver | None = None
