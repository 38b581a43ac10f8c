"""Opens the agent tools of a process: the toolbox over the product side, the web and a model behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version

from search_proxy.accounts.settings_schema import SettingsReader
from search_proxy.binding import SearchBinding
from search_proxy.tools.toolbox import Toolbox
from search_proxy.web.opening import open_web_tier
from worker.llm.language_model import LanguageModel
from worker.settings import Settings
from worker.tool_paraphraser import ModelParaphraser

PRODUCT = "aisle"


def product_version() -> str:
    """Return the version that the faces tell."""
    return version(PRODUCT)


@asynccontextmanager
async def open_toolbox(
    search: SearchBinding, accounts: SettingsReader, settings: Settings, model: LanguageModel | None
) -> AsyncIterator[Toolbox]:
    """Yield the tools over a search; leaving closes what they opened."""
    paraphraser = None if model is None else ModelParaphraser(model, settings.model)
    async with open_web_tier(settings.web_search_keys(), settings.fetch_bounds()) as web:
        allowed = web if settings.fetch_pages else replace(web, fetcher=None)
        yield Toolbox(search, accounts, web=allowed, paraphraser=paraphraser)
