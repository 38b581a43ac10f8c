"""Hands out the gate that an account's settings name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import cast

from search_proxy.accounts.view_gate_settings import ViewGateSettings
from search_proxy.first_use import loaded, opened_at_first_use
from search_proxy.viewing.gate import ShutGate, View, ViewGate
from search_proxy.viewing.local_gate import LocalViewGate
from search_proxy.viewing.service_gate import AskedServices, HttpViewGate


class ViewGates:
    """Makes gates; without `services` an account that has chosen a permission service is shown nothing."""

    def __init__(self, services: AskedServices | None = None) -> None:
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


class ServicesAtFirstUse:
    """Permission services whose client is opened for the first page that one is asked about."""

    def __init__(self, opened: Callable[[], Awaitable[AskedServices]]) -> None:
        self._opened = opened

    async def allowed(
        self, url: str, view: View, ids: Sequence[str], *, seconds: float, cache_seconds: float
    ) -> frozenset[str]:
        """Return which of `ids` the service at `url` allows.

        Raises:
            ViewGateFailed: The service is not to be asked, did not answer in time, or not properly.
        """
        services = await self._opened()
        return await services.allowed(url, view, ids, seconds=seconds, cache_seconds=cache_seconds)


@asynccontextmanager
async def open_view_gates(listed_hosts: Collection[str] = ()) -> AsyncIterator[ViewGates]:
    """Yield the gates of a process; leaving closes the connections to permission services."""

    async def open_services() -> AbstractAsyncContextManager[AskedServices]:
        asking = await loaded("search_proxy.viewing.http_gate")
        opening = asking.open_permission_services(listed_hosts)
        return cast(AbstractAsyncContextManager[AskedServices], opening)

    async with opened_at_first_use(open_services) as opened:
        if listed_hosts:
            # Who lists hosts has accounts that ask them: their first page need not wait.
            await opened()
        yield ViewGates(ServicesAtFirstUse(opened))
