"""The permission service of one account, as a gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from search_proxy.viewing.gate import View


class AskedServices(Protocol):
    """Asks the permission services of accounts which documents may be seen."""

    async def allowed(
        self, url: str, view: View, ids: Sequence[str], *, seconds: float, cache_seconds: float
    ) -> frozenset[str]:
        """Return which of `ids` the service at `url` allows.

        Raises:
            ViewGateFailed: The service is not to be asked, did not answer in time, or not properly.
        """
        ...


class HttpViewGate:
    """The permission service of one account, as a gate."""

    def __init__(self, services: AskedServices, url: str, *, seconds: float, cache_seconds: float) -> None:
        self._services = services
        self._url = url
        self._seconds = seconds
        self._cache_seconds = cache_seconds

    async def allowed(self, view: View, hits: Sequence[Mapping[str, Any]]) -> frozenset[str]:
        """Return which of the hits the service allows.

        Raises:
            ViewGateFailed: The service could not be asked, or gave no proper answer in time.
        """
        ids = [str(hit["_id"]) for hit in hits]
        return await self._services.allowed(
            self._url, view, ids, seconds=self._seconds, cache_seconds=self._cache_seconds
        )
