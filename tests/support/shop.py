"""A whole shop behind a real server: a small catalog, the real engine, a scripted model when one is given."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.support.event_stream import Frame, frames
from tests.support.live_server import live_server
from worker.app import create_app
from worker.bootstrap import open_services
from worker.services import Services
from worker.settings import Settings

AGENTIC = "/api/v1/indexes/demo/agentic-search"


@dataclass(frozen=True, slots=True)
class Shop:
    """A running server, a client for it, and the services inside."""

    client: httpx.AsyncClient
    services: Services
    drain: Callable[[float], None]

    async def stream(self, query: str, **parameters: str) -> list[Frame]:
        """Ask over GET and return every event."""
        async with self.client.stream("GET", AGENTIC, params={"q": query, **parameters}) as response:
            assert response.status_code == 200, await response.aread()
            return [frame async for frame in frames(response)]


def products() -> list[dict[str, Any]]:
    """Return 120 plain products of an outdoor shop: six categories, four colours, rising prices."""
    kinds = [
        ("Tents", "tent", "winter camping shelter"),
        ("Sleeping Bags", "sleeping bag", "warm down filling for winter camping nights"),
        ("Stoves", "stove", "boils water on a camping trip"),
        ("Lanterns", "lantern", "light for the camping table"),
        ("Boots", "boots", "warm lining for winter walks"),
        ("Mugs", "mug", "keeps tea warm on a trip"),
    ]
    colours = ["red", "green", "blue", "black"]
    made = []
    for place, (category, noun, text) in enumerate(kinds):
        for number in range(20):
            colour = colours[number % 4]
            use = "warm on a winter camping trip" if number % 4 == 1 else text
            made.append(
                {
                    "_id": f"{noun.replace(' ', '-')}-{number}",
                    "parentProductId": f"{noun.replace(' ', '-')}-{number}",
                    "productTitle": f"{colour.title()} {noun} model {number}",
                    "description": f"A {colour} {noun}: {use}, number {number}",
                    "category": category,
                    "brand": "Fellhorn" if number % 2 else "Norrland",
                    "color": colour,
                    "price": 10.0 * (place + 1) + number,
                    "currency": "EUR",
                    "inStock": number % 5 != 0,
                }
            )
    return made


def settings_for(data_dir: Path, **overrides: Any) -> Settings:
    """Return demo settings on a folder of the test's own; `overrides` are fields of `Settings`.

    The cache's tiers have seconds to answer: a busy machine must not turn a hit into a miss.
    """
    patience = {"cache_edge_budget_seconds": 5.0, "cache_table_budget_seconds": 5.0}
    return Settings.model_validate(
        {"data_dir": data_dir, "demo": True, "run_grace_seconds": 0.05} | patience | overrides
    )


@asynccontextmanager
async def open_shop(
    data_dir: Path, documents: Sequence[Mapping[str, Any]] | None = None, **overrides: Any
) -> AsyncIterator[Shop]:
    """Serve a shop with `documents` (by default `products()`) in the index `demo`."""
    settings = settings_for(data_dir, **overrides)
    opened: list[Services] = []

    @asynccontextmanager
    async def services() -> AsyncIterator[Services]:
        async with open_services(settings) as made:
            await made.catalog.add_documents("demo", "demo", list(documents or products()))
            opened.append(made)
            yield made

    app = create_app(services)
    async with (
        asyncio.timeout(60),
        live_server(app) as base_url,
        httpx.AsyncClient(base_url=base_url, timeout=10) as client,
    ):
        yield Shop(client, opened[0], app.state.drain)
