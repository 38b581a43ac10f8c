"""A small shop whose products are kept for customer groups, with its callers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from search_proxy.accounts.account import Account
from search_proxy.accounts.directory import AccountDirectory
from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.caller import Caller
from search_proxy.filters import parse_filter
from search_proxy.proxy import SearchProxy
from search_proxy.viewing.gates import ViewGates

ACCOUNT, INDEX = "acme", "store"

PRODUCTS: list[dict[str, Any]] = [
    {"_id": "open-1", "productTitle": "Red tent", "color": "red", "brand": "Fellhorn", "price": 10.0},
    {"_id": "open-2", "productTitle": "Green tent", "color": "green", "brand": "Fellhorn", "price": 20.0},
    {
        "_id": "gold-1",
        "productTitle": "Gilded tent",
        "color": "gilded",
        "brand": "Aurelia",
        "price": 900.0,
        "edition": "first",
        "visibleTo": ["gold", "resellers"],
    },
    {
        "_id": "silver-1",
        "productTitle": "Silvered tent",
        "color": "silvered",
        "brand": "Argenta",
        "price": 500.0,
        "visibleTo": ["silver"],
    },
    {"_id": "draft-1", "productTitle": "Drafted tent", "color": "unfinished", "visibleTo": []},
    {"_id": "all-1", "productTitle": "Blue tent", "color": "blue", "price": 30.0, "visibleTo": ["*"]},
]

SEEN = {
    (): {"open-1", "open-2", "all-1"},
    ("gold",): {"open-1", "open-2", "all-1", "gold-1"},
    ("silver",): {"open-1", "open-2", "all-1", "silver-1"},
    ("gold", "silver"): {"open-1", "open-2", "all-1", "gold-1", "silver-1"},
    ("nobody-has-this",): {"open-1", "open-2", "all-1"},
}

OWNER = Caller(account_id=ACCOUNT, key_kind="secret")


def shopper(*groups: str, forced: str | None = None) -> Caller:
    """Return a shopper of these groups."""
    return Caller(
        account_id=ACCOUNT,
        key_kind="publishable",
        groups=frozenset(groups),
        forced_filter=None if forced is None else parse_filter(forced),
    )


def settings_of(view_gate: Mapping[str, Any] | None = None) -> AccountDirectory:
    """Return the settings of an account with this view gate."""
    directory = AccountDirectory()
    values = {"*": {"view_gate": dict(view_gate)}} if view_gate is not None else {}
    directory.apply(Account(account_id=ACCOUNT, version=1, created_at=1.0, settings=values))
    return directory


@asynccontextmanager
async def open_view_shop(
    folder: Path, view_gate: Mapping[str, Any] | None = None, gates: ViewGates | None = None
) -> AsyncIterator[tuple[SearchProxy, EmbeddedBackend]]:
    """Yield the shop's product side, with its backend."""
    async with open_embedded(folder) as backend:
        await backend.add_documents(ACCOUNT, INDEX, PRODUCTS)
        yield SearchProxy(backend, settings_of(view_gate), gates), backend
