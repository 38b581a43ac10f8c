"""Hands out the gate that an account's settings name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

import aiohttp

from search_proxy.accounts.view_gate_settings import ViewGateSettings
from search_proxy.viewing.gate import ShutGate, ViewGate
from search_proxy.viewing.http_gate import HttpViewGate, PermissionServices
from search_proxy.viewing.local_gate import LocalViewGate
from search_proxy.viewing.service_addresses import ServiceAddresses, ServiceResolver

MAX_CONNECTIONS = 100

_HEADERS = {
    "accept": "application/json",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": "aisle-view-gate/1.0",
}


class ViewGates:
    """Makes gates; without `services` an account that has chosen a permission service is shown nothing."""

    def __init__(self, services: PermissionServices | None = None) -> None:
        self._services = services

    def gate_for(self, settings: ViewGateSettings) -> ViewGate | None:
        """Return the gate behind ranking, or None where there is to be none."""
        match settings.kind:
            case "none":
                return None
            case "local":
                return LocalViewGate(require_field=settings.require_field)
            case "http" if self._services is not None and settings.url is not None:
                return HttpViewGate(
                    self._services,
                    settings.url,
                    seconds=settings.timeout_ms / 1000,
                    cache_seconds=settings.cache_seconds,
                )
            case "http":
                return ShutGate("not_set_up", "this process has no permission services")
            case _:
                return ShutGate("closed", "the account's view gate is closed")


@asynccontextmanager
async def open_view_gates(listed_hosts: Collection[str] = ()) -> AsyncIterator[ViewGates]:
    """Yield the gates of a process; leaving closes the connections to permission services."""
    addresses = ServiceAddresses(listed_hosts)
    # `force_close` is not set: a page's deadline has no room for a new connection each time.
    connector = aiohttp.TCPConnector(
        resolver=ServiceResolver(addresses), use_dns_cache=False, limit=MAX_CONNECTIONS
    )
    async with aiohttp.ClientSession(
        connector=connector,
        headers=_HEADERS,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=30),
    ) as session:
        yield ViewGates(PermissionServices(session, addresses.check))
