"""The whole product before the mock search: `python -m bench.streams_server SEARCH_URL`.

Nothing of it is left out or replaced but the engine; settings come from the environment as usual.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from bench.mock_search import open_remote_search
from search_proxy.proxy import SearchProxy
from worker.app import create_app
from worker.bootstrap import open_services
from worker.logs import configure_logs
from worker.model_parts import open_model_parts
from worker.observe.worker_place import ALONE
from worker.planning.catalog_planner import CatalogPlanner
from worker.serve import serve
from worker.services import Services
from worker.settings import Settings


@asynccontextmanager
async def _open(settings: Settings, search_url: str) -> AsyncIterator[Services]:
    async with AsyncExitStack() as stack:
        without_model = settings.model_copy(update={"gemini_api_key": None})
        services = await stack.enter_async_context(open_services(without_model))
        backend = await stack.enter_async_context(open_remote_search(search_url))
        search = SearchProxy(backend, services.accounts)
        catalog = CatalogPlanner(search)
        parts = await stack.enter_async_context(open_model_parts(settings, search, catalog))
        yield replace(
            services,
            settings=settings,
            backend=backend,
            search=search,
            planner=parts.planner,
            catalog_planner=catalog,
            reader=catalog,
            model=parts.model,
            breakers=parts.breakers,
            budget=parts.budget,
        )


def main() -> None:
    """Serve until told to stop."""
    settings = Settings.from_env(os.environ).model_copy(update={"demo": True})
    configure_logs(logging.INFO)
    serve(create_app(lambda: _open(settings, sys.argv[1])), settings, ALONE, lambda: settings)


if __name__ == "__main__":
    main()
