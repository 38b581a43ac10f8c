"""Which permission services this server asks: public ones over https, and hosts that its operator has listed.

An account chooses its service's URL, and must not make this server call its own network: an address is
checked where the connection takes it from, so neither a name nor a redirect leads around it.
"""

from __future__ import annotations

import socket
from collections.abc import Collection
from urllib.parse import urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from search_proxy.viewing.gate import ViewGateFailed
from search_proxy.web.addresses import is_address, is_public
from search_proxy.web.checked_resolver import CheckedResolver

_PORTS = {"http": 80, "https": 443}


class ServiceAddresses:
    """The rule, with the operator's list: hosts as `permissions.internal` or `10.0.0.7:8080`."""

    def __init__(self, listed: Collection[str] = ()) -> None:
        self._listed = frozenset(host.casefold() for host in listed)

    def check(self, url: str) -> None:
        """Refuse a URL that can be refused by its text alone.

        Raises:
            ViewGateFailed: It is not https, or names an address that is not public, and is not listed.
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
        except ValueError as error:
            raise ViewGateFailed("address", "the service's url is not a URL") from error
        if self.is_listed(host, port):
            return
        if parts.scheme != "https" or not host:
            raise ViewGateFailed("address", "the service's url is not https, and its host is not listed")
        if is_address(host) and not is_public(host):
            raise ViewGateFailed("address", "the service is at an address that is not public")

    def is_listed(self, host: str, port: int) -> bool:
        """Return whether the operator has listed the host, with this port or without one."""
        name = host.casefold()
        return name in self._listed or f"{name}:{port}" in self._listed


class ServiceResolver(AbstractResolver):
    """Resolves the names of services; only listed ones may be at addresses that are not public."""

    def __init__(self, addresses: ServiceAddresses) -> None:
        self._addresses = addresses
        self._plain = ThreadedResolver()
        self._checked = CheckedResolver(is_public, self._plain)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a name.

        Raises:
            AddressRefused: One of them is not public, and the name is not listed.
        """
        chosen = self._plain if self._addresses.is_listed(host, port) else self._checked
        return await chosen.resolve(host, port, family)

    async def close(self) -> None:
        """Close the resolver behind."""
        await self._plain.close()
