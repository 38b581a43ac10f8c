"""Opens the agent tools of a process: the toolbox over the product side, with the web behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from search_proxy.tools.toolbox import Toolbox
from worker.services import Services

PRODUCT = "aisle"


def product_version() -> str:
    """Return the version that the faces tell."""
    return version(PRODUCT)


@asynccontextmanager
async def open_toolbox(services: Services) -> AsyncIterator[Toolbox]:
    """Yield the tools over the services' search; leaving closes what they opened."""
    yield Toolbox(services.search, services.accounts)
