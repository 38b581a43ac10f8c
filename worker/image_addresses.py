"""Decides from where an image may be fetched: named hosts only, and public addresses only.

The address is checked where the connection takes it from, after resolution, so a name that resolves anew
to something private a moment later is no way in.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

_NAT64 = ipaddress.ip_network("64:ff9b::/96")

AllowAddress = Callable[[str], bool]


class AddressRefused(OSError):
    """A name resolved to an address that nothing may be fetched from."""


def is_public_address(address: str) -> bool:
    """Return whether an address is on the public internet, looking into IPv4 carried inside IPv6."""
    try:
        parsed = ipaddress.ip_address(address.split("%", 1)[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour
        if inner is None and parsed in _NAT64:
            inner = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if inner is not None:
            return is_public_address(str(inner))
        if parsed.teredo is not None:
            return False
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


class CheckedResolver(AbstractResolver):
    """Resolves names for one connection and refuses a name with any address that is not allowed."""

    def __init__(self, allow_address: AllowAddress) -> None:
        self._allow_address = allow_address
        self._resolver = ThreadedResolver()

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
