"""Documents by id: kept while the index stands still, and judged for each caller all the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from search_proxy.caller import Caller
from search_proxy.errors import IndexNotFound
from search_proxy.filters import parse_filter
from tests.support.redis_server import redis_server
from tests.support.shop import Shop, open_shop
from worker.document_cache import MAX_KEPT_BYTES

pytestmark = pytest.mark.anyio

DOCUMENTS = "/api/v1/indexes/demo/get-documents"
OWNER = Caller(account_id="demo", key_kind="secret")


def _counts(shop: Shop) -> dict[str, int]:
    """Return how often a document was found in the cache and how often not."""
    counts: dict[str, int] = shop.services.cache.stats()["counts"].get("document", {})
    return counts


async def _fetched(shop: Shop, *ids: str) -> list[dict[str, object]]:
    answer = await shop.client.post(DOCUMENTS, json={"documentIds": ids})
    assert answer.status_code == 200, answer.text
    results: list[dict[str, object]] = answer.json()["results"]
    return results


async def _titles(shop: Shop, caller: Caller, ids: Sequence[str]) -> list[object]:
    found = await shop.services.search.get_documents(caller, "demo", ids)
    return [entry.document and entry.document["productTitle"] for entry in found]


async def test_a_document_is_kept_until_its_index_changes(tmp_path: Path) -> None:
    """The second fetch asks no engine; a write makes what was kept unreachable. Source: docs/caching.md."""
    async with open_shop(tmp_path) as shop:
        first = await _fetched(shop, "tent-1", "no-such", "mug-2")
        again = await _fetched(shop, "tent-1", "no-such", "mug-2")
        assert again == first
        assert _counts(shop) == {"miss": 1, "hit": 1}
        changed = {"_id": "tent-1", "productTitle": "A new tent", "price": 5.0, "category": "Tents"}
        await shop.services.catalog.add_documents("demo", "demo", [changed])
        assert (await _fetched(shop, "tent-1", "no-such", "mug-2"))[0]["productTitle"] == "A new tent"
        await shop.services.catalog.delete_documents("demo", "demo", ["tent-1"])
        assert (await _fetched(shop, "tent-1", "mug-2"))[0]["_found"] is False
    assert [entry["_found"] for entry in first] == [True, False, True]


async def test_who_may_see_less_never_gets_what_was_fetched_for_one_who_may_see_more(tmp_path: Path) -> None:
    """What is kept is the engine's; rights are applied to it each time. Source: design, security."""
    bound = replace(OWNER, key_kind="publishable", forced_filter=parse_filter("color:(red)"))
    async with open_shop(tmp_path) as shop:
        everything = await _titles(shop, OWNER, ["tent-0", "tent-1"])
        for _ in range(2):
            assert await _titles(shop, bound, ["tent-0", "tent-1"]) == [everything[0], None]
            assert await _titles(shop, OWNER, ["tent-0", "tent-1"]) == everything
        assert _counts(shop) == {"miss": 1, "hit": 4}


async def test_a_gate_that_closes_closes_over_what_is_kept(tmp_path: Path) -> None:
    """No document outlives the permission to see it, not for the five minutes that it is kept."""
    shopper = replace(OWNER, key_kind="publishable")
    async with open_shop(tmp_path) as shop:
        before = await _titles(shop, shopper, ["tent-0"])
        settings = {"view_gate": {"kind": "closed"}}
        await shop.services.office.administration.set_settings("demo", "demo", settings, actor="test")
        after = await _titles(shop, shopper, ["tent-0"])
        assert _counts(shop) == {"miss": 1, "hit": 1}
    assert (before, after) == (["Red tent model 0"], [None])


async def test_a_caller_without_the_index_gets_nothing_from_the_cache_either(tmp_path: Path) -> None:
    """The index is checked before anything is looked up."""
    elsewhere = replace(OWNER, indexes=frozenset({"other"}))
    async with open_shop(tmp_path) as shop:
        await _titles(shop, OWNER, ["tent-0"])
        with pytest.raises(IndexNotFound):
            await _titles(shop, elsewhere, ["tent-0"])


async def test_a_list_that_is_too_long_is_fetched_each_time(tmp_path: Path) -> None:
    """It would push answers out for a list that nobody asks for again."""
    long = [{"_id": f"p{n}", "productTitle": "x" * 2000, "category": "Tents"} for n in range(80)]
    async with open_shop(tmp_path, long) as shop:
        ids = [document["_id"] for document in long]
        first = await _fetched(shop, *ids)
        assert len(json.dumps(first)) > MAX_KEPT_BYTES
        assert await _fetched(shop, *ids) == first
        assert _counts(shop) == {"miss": 2}


async def test_processes_that_share_redis_share_documents_and_do_without_it(tmp_path: Path) -> None:
    """While Redis is away the engine answers."""
    with redis_server() as server:
        async with open_shop(tmp_path, redis_url=server.url) as shop:
            first = await _fetched(shop, "tent-1")
            assert await _fetched(shop, "tent-1") == first
            server.stop()
            assert await _fetched(shop, "tent-1") == first
            assert _counts(shop)["hit"] == 1
