"""Two parts failing at once, and an account dropped while its answer is being made.

One fault is what the other tests are about; a bad night has several.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from cache.dynamodb_schema import create_table, table_name
from cache.keys import QueryKey
from tests.support.cached_shop import GENEROUS, QUERY, CachedShop, cached_shop
from tests.support.dynamodb_servers import moto_server, target
from tests.support.event_stream import frames
from tests.support.fault_proxy import FaultProxy, http_answer
from tests.support.redis_server import redis_server
from tests.support.scripted_gemini import Call, Gate, Script
from tests.support.scripted_gemini import scenarios as s
from tests.support.shop import AGENTIC

pytestmark = pytest.mark.anyio

REFUSED = http_answer(
    "400 Bad Request",
    json.dumps({"__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"}).encode(),
)
KEY = QueryKey.of("demo", "demo", QUERY)
PLAN = {"query_expansions": [["red tent", "Red Tents", 0.9], ["warm boots", "Boots", 0.8]]}


async def test_with_redis_and_the_table_failing_every_question_is_answered_by_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silent or gone, in every pair: whole answers, each tier named, and nothing waits beyond the budgets."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    environment = f"t{uuid.uuid4().hex[:12]}"
    with redis_server() as server, moto_server() as endpoint:
        create_table(target(endpoint, table_name(environment)))
        async with FaultProxy(server.port) as redis, FaultProxy(int(endpoint.rsplit(":", 1)[1])) as table:
            settings: dict[str, Any] = {
                "redis_url": f"redis://127.0.0.1:{redis.port}/0",
                "cache_table": "dynamodb",
                "environment": environment,
                "dynamodb_endpoint_url": f"http://127.0.0.1:{table.port}",
                "cache_edge_budget_seconds": 0.02,
                "cache_table_budget_seconds": 0.05,
            }
            async with cached_shop(tmp_path, **settings) as shop:
                table.canned = REFUSED
                redis.fall_silent()
                heard = [await shop.ask(f"{QUERY} {number}") for number in range(2)]
                table.canned = None
                table.fall_silent()
                heard += [await shop.ask(f"{QUERY} {number}") for number in range(2, 4)]
                redis.break_connections()
                heard += [await shop.ask(f"{QUERY} {number}") for number in range(4, 6)]
                redis.speak()
                table.speak()
                await shop.settle()
            failures = {tier for tier, _ in shop.failures()}
    assert {each.source for each in heard} == {"llm"}
    assert all(each.reason.startswith("table_") and each.steps[0] != "edge=hit" for each in heard)
    assert failures == {"edge", "table"}


async def test_an_account_dropped_while_its_answer_is_made_keeps_nothing_older(tmp_path: Path) -> None:
    """Leader and follower get their answer; what is served behind the drop was made behind it."""
    gate, calls = Gate(), list[Call]()

    def choose(call: Call) -> Script:
        if "responseMimeType" not in call.body["generationConfig"]:
            return s.json_text("Take a red tent.")
        calls.append(call)
        return s.gated_text([json.dumps(PLAN)], [gate]) if len(calls) == 1 else s.json_text(PLAN)

    async with cached_shop(tmp_path, **GENEROUS) as shop:
        shop.gemini.choose = choose
        cache = shop.shop.services.cache
        ended = list[str]()

        async def ask() -> None:
            async with shop.shop.client.stream("GET", AGENTIC, params={"q": QUERY}) as response:
                events = [frame async for frame in frames(response)]
            assert any(event.data.get("categoryHits") for event in events)
            ended.append(events[-1].name)

        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            group.create_task(ask(), name="leader")
            await gate.reached()
            group.create_task(ask(), name="follower")
            dropped_ms = int(time.time() * 1000)
            await cache.drop_account("demo")
            gate.open()
        await shop.settle()
        assert ended == ["stream-end", "stream-end"]
        heard = await _stored_since(shop, dropped_ms)
    assert heard in {"llm", "cached"}


async def _stored_since(shop: CachedShop, moment_ms: int) -> str:
    """Ask again; what is served from the cache was made behind the moment."""
    heard = await shop.shop.stream(QUERY)
    receipt: dict[str, Any] = heard[-2].data["receipt"]
    entry = await shop.shop.services.cache.read(KEY)
    if receipt["source"] == "cached":
        assert entry is not None
        assert entry.created_at_ms >= moment_ms
    return str(receipt["source"])
