"""A whole shop with customer groups: keys for them, and products with words of their own."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from search_proxy.accounts.derived_keys import DerivedClaims, derive
from search_proxy.caller import Caller
from tests.support.event_stream import Frame, frames
from tests.support.shop import Shop, open_shop

INDEXES = "/api/v1/indexes/demo"
EXPIRES = 4_000_000_000.0


@dataclass(frozen=True, slots=True)
class GroupedShop:
    """A running shop whose account has a secret key that signs shoppers' keys."""

    shop: Shop
    secret: str
    publishable: str

    def key(self, *groups: str, **claims: Any) -> str:
        """Return a shopper's key; without a group the page's own."""
        if not groups and not claims:
            return self.publishable
        return derive(
            self.secret, DerivedClaims.model_validate({"expires": EXPIRES, "groups": groups} | claims)
        )

    def caller(self, key: str) -> Caller:
        """Return whom the shop sees behind a key."""
        grant = self.shop.services.accounts.identify(key)
        assert grant is not None
        return grant.caller("test")

    async def post(self, key: str, action: str, **body: Any) -> httpx.Response:
        """Post a JSON body to one of the index's routes."""
        return await self.shop.client.post(f"{INDEXES}/{action}", json=body, headers={"x-api-key": key})

    async def ask(self, key: str, query: str, **parameters: str) -> list[Frame]:
        """Ask by agentic search and return every event."""
        async with self.shop.client.stream(
            "GET",
            f"{INDEXES}/agentic-search",
            params={"q": query, **parameters},
            headers={"x-api-key": key},
        ) as response:
            assert response.status_code == 200, await response.aread()
            return [frame async for frame in frames(response)]

    async def say(self, key: str, query: str, conversation_id: str | None = None) -> list[Frame]:
        """Make a turn of a conversation and return every event."""
        body = {"q": query} | ({} if conversation_id is None else {"conversationId": conversation_id})
        async with self.shop.client.stream(
            "POST", f"{INDEXES}/agentic-search/converse", json=body, headers={"x-api-key": key}
        ) as response:
            assert response.status_code == 200, await response.aread()
            return [frame async for frame in frames(response)]


@asynccontextmanager
async def open_grouped_shop(
    folder: Path, documents: Sequence[dict[str, Any]], **overrides: Any
) -> AsyncIterator[GroupedShop]:
    """Serve `documents` in the index `demo`."""
    async with open_shop(folder, documents, **overrides) as shop:
        yield await with_keys(shop)


async def with_keys(shop: Shop) -> GroupedShop:
    """Return a running shop with a secret and a publishable key that no limit holds back."""
    rights = {"requests_per_minute": 1_000_000, "requests_per_minute_per_address": 1_000_000}
    secret = await shop.services.office.keys.create("demo", "secret", rights, actor="test")
    publishable = await shop.services.office.keys.create("demo", "publishable", rights, actor="test")
    return GroupedShop(shop, secret.token, publishable.token)


@dataclass(frozen=True, slots=True)
class MarkedProduct:
    """A product, and the words and numbers that stand in it and in no other."""

    document: dict[str, Any]
    marks: tuple[str, ...]

    def is_seen_by(self, groups: Collection[str]) -> bool:
        """Return whether somebody of these groups may see it."""
        named = self.document.get("visibleTo")
        return named is None or "*" in named or bool(set(named) & set(groups))


def marked_products(visibilities: Sequence[Sequence[str] | None], seed: int = 7) -> list[MarkedProduct]:
    """Return a product for every visibility: each with a title, brand, field and price of its own."""
    dice = random.Random(seed)
    made = []
    for number, visible_to in enumerate(visibilities):
        title, brand, colour, text, field, category = (
            "".join(dice.choices("bcdfghjklmnpqrstvwxz", k=4)) + "".join(dice.choices("aeiou", k=4))
            for _ in range(6)
        )
        price = round(dice.uniform(1_000, 9_000), 2)
        document: dict[str, Any] = {
            "_id": f"id{title}",
            "productTitle": f"{title} reading lamp",
            "description": f"A lamp for reading at night, {text} made",
            "brand": brand,
            "color": colour,
            "price": price,
            "currency": "EUR",
            "category": category if number % 3 == 0 else "Lamps",
            f"x{field}": "yes",
        }
        own = (title, brand, colour, text, f"x{field}", f"{price:g}")
        marks = (*own, category) if number % 3 == 0 else own
        if visible_to is not None:
            document["visibleTo"] = list(visible_to)
        made.append(MarkedProduct(document, marks))
    return made


def said(*parts: httpx.Response | Sequence[Frame] | str) -> str:
    """Return everything that stands in answers, headers included, in lower case."""
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, httpx.Response):
            texts.append(f"{part.headers} {part.text}")
        else:
            texts.append(" ".join(f"{frame.id} {json.dumps(frame.data)}" for frame in part))
    return " ".join(texts).lower()
