"""What the view gate costs a search: by the local rule, by a permission service, and where nothing is kept.

Each query is asked in every way in turn, so that a busy machine disturbs all of them alike. `adds` is the
difference to the same query without the gate, query by query.
"""

from __future__ import annotations

import asyncio
import gc
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from bench.engine_catalogs import made_up_products, made_up_queries
from bench.table import Row, percentile, print_table
from search_proxy.accounts.account import Account
from search_proxy.accounts.directory import AccountDirectory
from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.caller import Caller
from search_proxy.models import FacetField, FacetsRequest, SearchRequest
from search_proxy.proxy import SearchProxy
from search_proxy.viewing.gates import ViewGates, open_view_gates

ACCOUNT = "bench"
PRODUCTS = 20_000
QUERIES = 300
ROUNDS = 3
GROUPS = [f"group{number}" for number in range(50)]

_FACETS = FacetsRequest(
    fields=(FacetField(name="color"), FacetField(name="brand"), FacetField(name="category"))
)
_OWNER = Caller(account_id=ACCOUNT, key_kind="secret")
_SHOPPER = Caller(account_id=ACCOUNT, key_kind="publishable", groups=frozenset(GROUPS[:2]))

Ask = Callable[[str], Awaitable[Any]]


def main() -> None:
    """Load two catalogs, ask, and print one table."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> None:
    async with (
        open_embedded(folder) as backend,
        _permission_service() as port,
        open_view_gates([f"127.0.0.1:{port}"]) as gates,
    ):
        await _load(backend)
        url = f"http://127.0.0.1:{port}/view"
        ways = _ways(backend, gates, url)
        taken = await _timed(ways)
        print_table(
            f"{PRODUCTS:,} products, {QUERIES} queries, 3 facets, page of 12",
            [*_rows(taken), *await _descriptions(backend, gates)],
        )


def _ways(backend: EmbeddedBackend, gates: ViewGates, url: str) -> dict[str, Ask]:
    service = {"kind": "http", "url": url, "timeout_ms": 5_000}
    asked: dict[str, tuple[Caller, str, Mapping[str, Any]]] = {
        "plain": (_OWNER, "plain", {"kind": "none"}),
        "plain, a shopper, local rule": (_SHOPPER, "plain", {"kind": "local"}),
        "kept": (_SHOPPER, "kept", {"kind": "none"}),
        "kept, local rule": (_SHOPPER, "kept", {"kind": "local"}),
        "kept, service remembered": (_SHOPPER, "kept", {**service, "cache_seconds": 300}),
        "kept, service asked": (_SHOPPER, "kept", {**service, "cache_seconds": 0}),
    }
    return {
        name: _way(SearchProxy(backend, _settings(gate), gates), caller, index)
        for name, (caller, index, gate) in asked.items()
    }


def _way(proxy: SearchProxy, caller: Caller, index: str) -> Ask:
    async def ask(query: str) -> Any:
        return await proxy.handle_search(
            caller, SearchRequest(index=index, q=query, limit=12, facets=_FACETS)
        )

    return ask


async def _timed(ways: Mapping[str, Ask]) -> dict[str, list[float]]:
    """Return the best of some rounds in ms for every query, by way."""
    queries = made_up_queries(QUERIES)
    best = {name: [float("inf")] * len(queries) for name in ways}
    for _ in range(ROUNDS + 1):
        gc.collect()
        for at, query in enumerate(queries):
            for name, ask in ways.items():
                began = time.perf_counter()
                await ask(query)
                best[name][at] = min(best[name][at], (time.perf_counter() - began) * 1e3)
    return best


def _rows(taken: Mapping[str, list[float]]) -> list[Row]:
    rows = [_row(name, values) for name, values in taken.items()]
    for name, without in (
        ("plain, a shopper, local rule", "plain"),
        ("kept, local rule", "kept"),
        ("kept, service remembered", "kept"),
        ("kept, service asked", "kept"),
    ):
        adds = [after - before for after, before in zip(taken[name], taken[without], strict=True)]
        rows.append(_row(f"{name}: adds", adds))
    return rows


async def _descriptions(backend: EmbeddedBackend, gates: ViewGates) -> list[Row]:
    """Return what describing an index to groups costs, the first time and after."""
    proxy = SearchProxy(backend, _settings({"kind": "local"}), gates)
    first, again = list[float](), list[float]()
    for group in GROUPS[:20]:
        caller = Caller(account_id=ACCOUNT, key_kind="publishable", groups=frozenset({group}))
        for into in (first, again):
            began = time.perf_counter()
            await proxy.describe_index(caller, "kept")
            into.append((time.perf_counter() - began) * 1e3)
    return [_row("describe, first asked by a group", first), _row("describe, again", again)]


def _row(name: str, values: list[float]) -> Row:
    return Row(name, f"{percentile(values, 50):.3f}", f"{percentile(values, 99):.3f}", "ms")


def _settings(view_gate: Mapping[str, Any]) -> AccountDirectory:
    directory = AccountDirectory()
    settings = {"*": {"view_gate": dict(view_gate)}}
    directory.apply(Account(account_id=ACCOUNT, version=1, created_at=1.0, settings=settings))
    return directory


async def _load(backend: EmbeddedBackend) -> None:
    products = list(made_up_products(PRODUCTS))
    await backend.add_documents(ACCOUNT, "plain", products)
    kept = [
        {**product, "visibleTo": [GROUPS[at % 50], GROUPS[at // 50 % 50]]} if at % 3 == 0 else product
        for at, product in enumerate(products)
    ]
    await backend.add_documents(ACCOUNT, "kept", kept)


@asynccontextmanager
async def _permission_service() -> AsyncIterator[int]:
    """Serve a permission service that allows everything, on the loopback."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                asked = orjson.loads(await reader.readexactly(length))
                body = orjson.dumps({"allowed": asked["ids"]})
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


if __name__ == "__main__":
    main()
