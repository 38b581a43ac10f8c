"""Puts the parts together. This is the only file that names concrete ones."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from search_proxy.accounts.open_accounts import open_accounts
from search_proxy.backends.embedded import open_embedded
from search_proxy.proxy import SearchProxy
from worker.background import open_background
from worker.llm.gemini_rest import GeminiRest
from worker.llm.gemini_sdk import GeminiSdk
from worker.llm.language_model import LanguageModel
from worker.planning.catalog_planner import CatalogPlanner
from worker.planning.fallback_planner import ResilientPlanner
from worker.planning.model_planner import ModelPlanner
from worker.run_registry import open_run_registry
from worker.services import Services
from worker.settings import Settings


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """Open every part that `settings` asks for; on leaving, close them in reverse order."""
    async with AsyncExitStack() as stack:
        accounts = await stack.enter_async_context(open_accounts(settings.data_dir))
        backend = await stack.enter_async_context(open_embedded(settings.data_dir))
        search = SearchProxy(backend)
        background = await stack.enter_async_context(open_background(settings.shutdown_grace_seconds / 2))
        runs = await stack.enter_async_context(
            open_run_registry(
                grace_seconds=settings.run_grace_seconds, retention_seconds=settings.run_retention_seconds
            )
        )
        yield Services(
            settings=settings,
            accounts=accounts,
            backend=backend,
            catalog=backend,
            search=search,
            planner=CatalogPlanner(search),
            catalog_planner=CatalogPlanner(search),
            model=None,
            runs=runs,
            wait_until=background,
        )
