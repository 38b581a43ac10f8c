"""Two accounts in one server: nothing of one is reachable with the other's keys, on any route.

The routes are taken from the served application itself, so that a new one is tried without being listed here.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_proxy.accounts.keys import KeyKind
from search_proxy.accounts.open_accounts import open_account_office
from search_proxy.caller import Caller
from search_proxy.edge_services import EdgeServices
from search_proxy.errors import InvalidSearch
from search_proxy.filters import parse_filter
from search_proxy.gateway import create_gateway
from search_proxy.proxy import SearchProxy
from search_proxy.search_payload import read_search
from tests.search_proxy.accounts.running_edge import EchoWorker, serve_app
from tests.search_proxy.accounts.shelf_backend import ShelfBackend, matches

pytestmark = pytest.mark.anyio

_MARK = "aardvark"
"""Stands in everything that the first account owns, and nowhere else."""


async def test_nothing_of_one_account_is_reachable_with_the_other_s_keys(tmp_path: Path) -> None:
    """Every route, every method, every key of the second account. Source: storefront-protocols, 6."""
    backend = ShelfBackend()
    backend.put("first", "store", {"_id": f"{_MARK}1", "productTitle": f"{_MARK} lamp"})
    backend.put("second", "store", {"_id": "b1", "productTitle": "plain lamp"})
    async with open_account_office(tmp_path) as office:
        edge = EdgeServices(
            accounts=office.directory,
            search=SearchProxy(backend),
            backend=backend,
            catalog=backend,
            agentic=EchoWorker(),
            office=office,
        )

        @asynccontextmanager
        async def open_edge() -> AsyncIterator[EdgeServices]:
            yield edge

        keys = {}
        for account_id in ("first", "second"):
            await office.administration.create_account(account_id, name=account_id, actor="test")
            for kind in _KINDS:
                # Every route is tried with one key: no limit may answer for a right that is missing.
                rights = {"requests_per_minute_per_address": 100_000}
                new = await office.keys.create(account_id, kind, rights, actor="test")
                keys[account_id, kind] = new.token
        await office.administration.set_settings(
            "first", "store", {"agentic_config": {"models": {"plan": _MARK}}}, actor="test"
        )
        await office.administration.set_settings(
            "second", "*", {"feature_flags": {"converse": False}}, actor="test"
        )
        slots = {"voice": f"like an {_MARK}"}
        written = await office.prompts.new("first", "store", slots, note="", actor="test")
        await office.prompts.publish("first", "store", written.version, actor="test")
        first_key_id = keys["first", "secret"].split("_")[1]

        app = create_gateway(open_edge)
        paths = sorted(set(app.openapi()["paths"]) | set(_FORWARDED))
        async with serve_app(app) as client:
            tried = 0
            for path, method, kind, body in itertools.product(paths, _METHODS, _KINDS, (b"", _HOSTILE_BODY)):
                answer = await client.request(
                    method,
                    _filled(path, first_key_id),
                    content=body,
                    headers={"x-api-key": keys["second", kind]},
                )
                assert _MARK not in answer.text, (method, path, answer.text)
                assert first_key_id not in answer.text.replace(f"'{first_key_id}'", "")
                tried += 1
            assert tried > 400

            own = await client.get("/api/v1/admin/account", headers={"x-api-key": keys["first", "secret"]})
            assert _MARK in own.text
            worker = await client.get(
                "/api/v1/indexes/store/agentic-search", headers={"x-api-key": keys["second", "publishable"]}
            )
            assert worker.json()["account"] == "second"
            assert worker.json()["flags"]["converse"] is False
            lamp = await client.post(
                "/api/v1/indexes/store/search",
                json={"q": "lamp"},
                headers={"x-api-key": keys["first", "publishable"]},
            )
            assert [hit["_id"] for hit in lamp.json()["hits"]] == [f"{_MARK}1"]
        assert (await office.administration.account("first")).key(first_key_id) is not None
        assert office.directory.identify(keys["first", "secret"]) is not None


_FORWARDED = tuple(
    f"/api/v1/indexes/{{index}}/{action}"
    for action in (
        "agentic-search",
        "agentic-search/stream",
        "agentic-search/converse",
        "agentic-search/chat-suggestions",
        "agentic-search/reviews",
        "runs/{run_id}",
    )
)
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_KINDS: tuple[KeyKind, ...] = ("publishable", "secret")
_HOSTILE_BODY = orjson.dumps(
    {"q": "lamp", "account": "first", "account_id": "first", "indexId": "first-store"}
)


def _filled(path: str, key_id: str) -> str:
    known = {"index": "store", "key_id": key_id, "version": "1", "run_id": "r1"}
    filled = re.sub(r"{(\w+)}", lambda match: known.get(match.group(1), "x"), path)
    return f"{filled}?to=1&since=1"


_SHELF = [
    {"_id": f"{color}{price}", "color": color, "price": price, "owner": owner}
    for color in ("red", "blue", "red) OR (blue")
    for price in (5, 50, 500)
    for owner in ("mine", "theirs")
]
_FORCED = parse_filter("owner:(mine) AND price:[* TO 100]")
_PIECES = st.sampled_from(
    ["owner:(theirs)", "owner:theirs", "price:[* TO *]", "price:[200 TO 900]", "color:(red)", "color:(red\\)",
     " OR ", " AND ", "NOT ", "(", ")", "\\", "owner:(mine\\", "_id IN (red500, blue500)",
     ") OR (owner:(theirs)", "owner CONTAINS (theirs)", " ", "x:1", "*:*", "'", '"', "--",
     "NOT (owner:(mine))", "price:[", "]"]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(text=st.one_of(st.lists(_PIECES, min_size=1, max_size=9).map("".join), st.text(max_size=40)))
def test_no_client_filter_widens_a_forced_one(text: str) -> None:
    """What a client writes is parsed alone and ANDed as a tree. Source: marqo-api, 3.4."""
    backend = ShelfBackend()
    for number, document in enumerate(_SHELF):
        backend.put("acme", "store", {**document, "_id": f"{document['_id']}-{number}"})
    caller = Caller(account_id="acme", key_kind="publishable", forced_filter=_FORCED)

    async def search() -> None:
        try:
            request = read_search("store", orjson.dumps({"filter": text, "limit": 100}))
        except InvalidSearch:
            return
        result = await SearchProxy(backend).handle_search(caller, request)
        for hit in result.hits:
            assert hit["owner"] == "mine"
            assert int(hit["price"]) <= 100
            assert matches(request.filter, hit)

    anyio.run(search)
