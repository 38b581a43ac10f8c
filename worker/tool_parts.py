"""Opens the agent tools of a process: the toolbox over the product side, the web and a model behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version

from search_proxy.tools.toolbox import Toolbox
from search_proxy.web.opening import open_web_tier
from worker.services import Services
from worker.tool_paraphraser import ModelParaphraser

PRODUCT = "aisle"


def product_version() -> str:
    """Return the version that the faces tell."""
    return version(PRODUCT)


@asynccontextmanager
async def open_toolbox(services: Services) -> AsyncIterator[Toolbox]:
    """Yield the tools over the services' search; leaving closes what they opened."""
    settings = services.settings
    paraphraser = None if services.model is None else ModelParaphraser(services.model, settings.model)
    async with open_web_tier(settings.web_search_keys()) as web:
        allowed = web if settings.fetch_pages else replace(web, fetcher=None)
        yield Toolbox(services.search, services.accounts, web=allowed, paraphraser=paraphraser)
