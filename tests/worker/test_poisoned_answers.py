"""Answers that somebody has written into the cache by hand: whole envelopes around what no answer is.

None of it is served, none of it is called a hit, and nobody waits for it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from cache.keys import QueryKey
from tests.support.cached_shop import GENEROUS, QUERY, CachedShop, cached_shop
from worker.stored_answer import FORMAT, StoredAnswer

pytestmark = pytest.mark.anyio

KEY = QueryKey.of("demo", "demo", QUERY)
WHOLE: dict[str, Any] = {
    "format": FORMAT,
    "query_expansions": [["red tent", "Red Tents", 0.9, None], ["warm boots", "Boots", 0.8, None]],
    "query_complements": [],
    "strategy": None,
    "rewritten_query": None,
    "message": None,
    "summary": "Take a red tent.",
    "model": "m",
}
POISONED: dict[str, bytes] = {
    "another format": orjson.dumps(WHOLE | {"format": 99}),
    "no JSON": b"\x80\x04\x95pickle",
    "a list": b"[]",
    "a number for a label": orjson.dumps(WHOLE | {"query_expansions": [["red tent", 5, 0.9, None]]}),
    "nothing for a query": orjson.dumps(WHOLE | {"query_expansions": [[None, "x", 0.9, None]]}),
    "a table for a filter": orjson.dumps(WHOLE | {"query_expansions": [["a", "x", 0.9, {"a": 1}]]}),
    "a word for a confidence": orjson.dumps(WHOLE | {"query_expansions": [["a", "x", "0.9", None]]}),
    "too much confidence": orjson.dumps(WHOLE | {"query_expansions": [["a", "x", 7, None]]}),
    "a list for a summary": orjson.dumps(WHOLE | {"summary": ["x"]}),
    "tables for complements": orjson.dumps(WHOLE | {"query_complements": [{"a": 1}]}),
    "a number for a message": orjson.dumps(WHOLE | {"message": 5}),
    "an unknown strategy": orjson.dumps(WHOLE | {"strategy": "conquer"}),
}


async def test_what_is_no_answer_is_called_damaged_and_the_model_answers_at_once(tmp_path: Path) -> None:
    """An approved entry passes every tag, so that its payload is all that is left to judge."""
    async with cached_shop(tmp_path, **GENEROUS) as shop:
        cache = shop.shop.services.cache
        for name, payload in POISONED.items():
            await cache.pin(KEY, payload)
            async with asyncio.timeout(10):
                heard = await shop.ask()
            assert (heard.source, heard.tier, heard.reason) == ("llm", None, "edge_damaged"), name
            assert heard.steps == ("edge=damaged", "filter=added", "table=damaged"), name
            await shop.settle()
            await cache.delete(KEY)
            await shop.settle()


async def test_many_who_ask_beside_a_poisoned_entry_share_one_plan(tmp_path: Path) -> None:
    """They neither wait for what will not come nor ask the model one by one."""
    async with cached_shop(tmp_path, **GENEROUS) as shop:
        await shop.shop.services.cache.pin(KEY, POISONED["another format"])
        heard: list[str] = []

        async def ask() -> None:
            heard.append((await shop.ask()).source)

        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(ask(), name=f"shopper:{number}")
        assert len(_plans(shop)) == 1
    assert sorted(heard) == ["cached"] * 7 + ["llm"]


async def test_a_poisoned_answer_shows_no_more_than_an_answer_may(tmp_path: Path) -> None:
    """A whole answer of somebody's hand is searched and checked like the model's own."""
    rows = [[f"tent {number}", f"Row {number}", 0.5, "price:[0 TO 1] OR nosuch:x"] for number in range(40)]
    summary = "Buy [this](javascript:x) <script>at</script> $9,999 [now](<p:nobody>) from http://evil.example"
    payload = orjson.dumps(WHOLE | {"query_expansions": rows, "summary": summary})
    assert StoredAnswer.decode(payload) is not None
    async with cached_shop(tmp_path, **GENEROUS) as shop:
        await shop.shop.services.cache.pin(KEY, payload)
        events = await shop.shop.stream(QUERY)
    deltas = [event.data for event in events if event.name == "delta"]
    items = [item for delta in deltas for item in delta.get("categoryHits", ())]
    assert 1 <= len(items) <= 6
    assert all(item["filterDropped"] and item["appliedFilter"] is None for item in items)
    assert "".join(delta.get("summary", "") for delta in deltas) == "Buy this at (see price) now from "


def _plans(shop: CachedShop) -> list[str]:
    return [call.path for call in shop.gemini.calls if "responseMimeType" in call.body["generationConfig"]]
