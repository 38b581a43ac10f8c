"""Resolves names for connections to addresses that are allowed, and to no others (`addresses.py`)."""

from __future__ import annotations

import socket

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from search_proxy.web.addresses import AddressRefused, AllowAddress


class CheckedResolver(AbstractResolver):
    """Resolves names for connections, and refuses a name with any address that is not allowed."""

    def __init__(self, allow_address: AllowAddress, resolver: AbstractResolver | None = None) -> None:
        self._allow_address = allow_address
        self._resolver = resolver or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a name.

        Raises:
            AddressRefused: One of them is not allowed.
        """
        found = await self._resolver.resolve(host, port, family)
        for result in found:
            if not self._allow_address(result["host"]):
                raise AddressRefused(f"{host!r} is at an address that is not public")
        return found

    async def close(self) -> None:
        """Close the resolver behind."""
        await self._resolver.close()
