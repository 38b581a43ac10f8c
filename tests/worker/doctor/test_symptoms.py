"""For each symptom an operator may see, the thing is broken for real, and the diagnosis names it.

Source: flow document, "What to Look For".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.cached_shop import PLAN, QUERY, cached_shop
from tests.support.dynamodb_servers import moto_server
from tests.support.redis_server import redis_server
from tests.support.scripted_gemini.scenarios import bad_key, json_text, stalled, unavailable
from tests.support.shop import Shop, open_shop
from tests.support.talk import Talk
from tests.worker.test_agentic_search import modelled_shop

pytestmark = pytest.mark.anyio

DIAGNOSIS = "/api/v1/diagnosis"


async def _examined(shop: Shop, **asked: str) -> dict[str, dict[str, str]]:
    """Return the findings by part."""
    answer = await shop.client.get(DIAGNOSIS, params={"index": "demo", **asked})
    assert answer.status_code == 200, answer.text
    return {each["part"]: each for each in answer.json()["findings"]}


def _damage(folder: Path) -> None:
    """Write noise over every filter."""
    for path in folder.rglob("*.fuse"):
        path.write_bytes(b"noise" * 100)


async def _set(shop: Shop, settings: dict[str, Any]) -> None:
    await shop.services.office.administration.set_settings("demo", "demo", settings, actor="test")


async def test_a_healthy_shop_has_nothing_to_complain_of_but_its_missing_model(tmp_path: Path) -> None:
    """So that a finding means something."""
    async with open_shop(tmp_path) as shop:
        await shop.stream(QUERY)
        found = await _examined(shop)
    bad = {part for part, each in found.items() if each["level"] in {"warn", "fail"}}
    assert bad <= {"model", "disk"}
    assert "AISLE_GEMINI_API_KEY" in found["model"]["advice"]


async def test_agentic_search_not_available_is_its_feature_flag(tmp_path: Path) -> None:
    """Off in the settings: the row says so, with the command that switches it on."""
    async with open_shop(tmp_path) as shop:
        await _set(shop, {"feature_flags": {"agentic_search": False}})
        found = await _examined(shop)
        refused = await shop.client.get("/api/v1/indexes/demo/agentic-search", params={"q": QUERY})
    assert refused.status_code == 400
    assert found["agentic search"]["level"] == "fail"
    assert (
        found["agentic search"]["advice"] == "aisle settings set demo demo feature_flags.agentic_search=true"
    )


async def test_a_missing_index_is_named_with_those_there_are(tmp_path: Path) -> None:
    """A name with a slip of the pen."""
    async with open_shop(tmp_path) as shop:
        answer = await shop.client.get(DIAGNOSIS, params={"index": "dmeo"})
    row = next(each for each in answer.json()["findings"] if each["part"] == "index")
    assert (row["level"], row["found"]) == ("fail", "it does not exist; there are demo")


async def test_llm_errors_are_the_key(tmp_path: Path) -> None:
    """One call of a token says that the key is refused; the degraded answers are counted."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = lambda _: bad_key()
        await shop.stream(QUERY)
        found = await _examined(shop, model="true")
    assert found["model call"]["level"] == "fail"
    assert found["model call"]["found"].startswith("invalid_key")
    assert "AISLE_GEMINI_API_KEY" in found["model call"]["advice"]
    assert found["degraded"]["level"] == "warn"


async def test_a_model_that_works_is_said_to(tmp_path: Path) -> None:
    """The one call is made, and only when it is allowed."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = lambda _: json_text("Hello")
        without = await _examined(shop)
        calls = len(gemini.calls)
        found = await _examined(shop, model="true")
        made = len(gemini.calls) - calls
    assert "model call" not in without
    assert (found["model call"]["level"], made) == ("ok", 1)


async def test_an_open_breaker_and_a_spent_budget_are_named(tmp_path: Path) -> None:
    """After some failures the model is left alone; tokens of the day can end."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = lambda _: unavailable(503)
        for number in range(8):
            await shop.stream(f"{QUERY} number {number}")
        found = await _examined(shop)
        assert found["model breaker"]["level"] == "warn"
    async with modelled_shop(tmp_path, tokens_per_day=1) as (shop, gemini):
        gemini.choose = lambda _: json_text(PLAN)
        await shop.stream(QUERY)
        spent = await _examined(shop)
    assert spent["token budget"]["level"] == "fail"
    assert "spent, the rules answer until midnight" in spent["token budget"]["found"]


async def test_slow_responses_name_the_stage_that_is_slow(tmp_path: Path) -> None:
    """A model that never speaks costs its first deadline in each answer."""
    async with modelled_shop(tmp_path, model_first_chunk_seconds=2.6) as (shop, gemini):
        gemini.choose = lambda _: stalled()
        await shop.stream(QUERY)
        found = await _examined(shop)
    assert found["speed"]["level"] == "warn"
    assert "model: plan 2," in found["speed"]["found"]
    assert "the model is slow" in found["speed"]["advice"]


async def test_cache_not_working_is_a_table_that_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real DynamoDB wire without the table: the command that makes it is named."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with moto_server() as endpoint:
        settings: dict[str, Any] = {
            "cache_table": "dynamodb",
            "dynamodb_endpoint_url": endpoint,
            "cache_table_budget_seconds": 5.0,
        }
        async with open_shop(tmp_path, **settings) as shop:
            found = await _examined(shop)
    assert found["cache table"]["level"] == "fail"
    assert found["cache table"]["advice"] == "aisle cache create-table"


async def test_cache_not_working_is_a_damaged_filter(tmp_path: Path) -> None:
    """Its file is overwritten with noise: the row says so and names the command; rebuilt, all is well."""
    async with cached_shop(tmp_path) as cached:
        shop, cache = cached.shop, cached.shop.services.cache
        await cached.ask()
        await cached.settle()
        await cache.rebuild_filter("demo", "demo")
        await cache.poll_changes()
        assert (await _examined(shop))["cache filter"]["level"] == "ok"
    _damage(tmp_path)
    async with open_shop(tmp_path) as shop:
        found = await _examined(shop)
        await shop.services.cache.rebuild_filter("demo", "demo")
        await shop.services.cache.poll_changes()
        mended = await _examined(shop)
    assert found["cache filter"]["level"] == "warn"
    assert found["cache filter"]["found"].startswith("its file is damaged")
    assert found["cache filter"]["advice"] == "aisle cache rebuild-filter demo --account demo"
    assert mended["cache filter"]["level"] == "ok"


async def test_cache_not_working_is_a_redis_that_stopped(tmp_path: Path) -> None:
    """The edge tier is named, with its times; the table goes on."""
    with redis_server() as redis:
        async with open_shop(tmp_path, redis_url=redis.url) as shop:
            before = await _examined(shop)
            redis.stop()
            found = await _examined(shop)
    assert before["edge cache"]["level"] == "ok"
    assert "fresh for 1 h, served up to 2 h" in before["edge cache"]["found"]
    assert found["edge cache"]["level"] == "fail"
    assert found["cache table"]["level"] == "ok"
    assert found["conversations"]["level"] == "fail"


async def test_cache_not_working_is_a_share_of_no_sessions_and_a_session_outside_of_it(
    tmp_path: Path,
) -> None:
    """`cached_query_percentage`, and the bucket of the very session."""
    async with cached_shop(tmp_path) as cached:
        shop = cached.shop
        await cached.ask()
        await cached.settle()
        admitted = await _examined(shop, q=QUERY, session="s1")
        await _set(shop, {"cached_query_percentage": 0})
        found = await _examined(shop, q=QUERY, session="s1")
        calls = len(cached.gemini.calls)
    assert admitted["query: cache"]["found"].startswith("answered by the ")
    assert "query: plan" not in admitted
    assert found["cached sessions"]["level"] == "fail"
    assert found["cached sessions"]["advice"] == "aisle settings set demo demo cached_query_percentage=100"
    assert "not below cached_query_percentage 0: it may not" in found["query: session"]["found"]
    assert found["query: cache"]["found"].startswith("not asked (session)")
    assert found["query: plan"]["found"] == "gemini-3.5-flash-lite, then the rules"
    assert calls == 2


async def test_conversation_context_lost_is_a_conversation_that_was_deleted(tmp_path: Path) -> None:
    """There, with its turns; deleted, with what may have done it."""
    async with open_shop(tmp_path) as shop:
        talk = Talk(shop.client)
        await talk.say("show me a warm tent")
        assert talk.conversation_id is not None
        there = await _examined(shop, conversation=talk.conversation_id)
        await shop.services.conversations.delete("demo", talk.conversation_id)
        gone = await _examined(shop, conversation=talk.conversation_id)
    assert there["conversation"]["found"].startswith("1 turns, last used")
    assert gone["conversation"]["level"] == "fail"
    assert "30 idle days" in gone["conversation"]["advice"]


async def test_5xx_and_streaming_errors_are_counted_by_code(tmp_path: Path) -> None:
    """An answer that runs out of its total time ends with an error in its stream."""
    async with modelled_shop(tmp_path, run_total_seconds=0.3) as (shop, gemini):
        gemini.choose = lambda _: stalled()
        events = await shop.stream(QUERY)
        found = await _examined(shop)
    assert any("error" in event.data for event in events)
    assert found["failures"]["level"] == "fail"
    assert "deadline_exceeded 1" in found["failures"]["found"]
    assert "aisle tail --status error" in found["failures"]["advice"]


async def test_empty_categories_are_told_from_a_bypassed_short_query(tmp_path: Path) -> None:
    """A model that plans nothing, and a query of two words; the prompt is what to look at."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = lambda _: json_text({"strategy": "hybrid", "query_expansions": []})
        await shop.stream(QUERY)
        await shop.stream("red mug")
        found = await _examined(shop, q="red mug")
    assert "1 queries were short and got plain hits" in found["empty categories"]["found"]
    assert "2 words are fewer than short_query_words 4" in found["query: plan"]["found"]
    empty, degraded = found["empty categories"]["level"], found["degraded"]["level"]
    assert "warn" in {empty, degraded}


async def test_what_keeps_the_disk_from_being_written_is_named(tmp_path: Path) -> None:
    """The data folder is gone from under the server."""
    async with open_shop(tmp_path / "data") as shop:
        await shop.stream("red mug")
        (tmp_path / "data").rename(tmp_path / "moved")
        found = await _examined(shop)
        (tmp_path / "moved").rename(tmp_path / "data")
    assert found["disk"]["level"] == "fail"
    assert "it cannot be written to: No such file or directory" in found["disk"]["found"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"q": "tents"}, "q needs the index that it would be asked in"),
        ({"querry": "tents"}, "'querry' is unknown or stands twice"),
        ({"index": ""}, "index must have 1 to 1000 characters"),
        ({"model": "maybe"}, "model 'maybe' is neither true nor false"),
    ],
)
async def test_a_question_that_cannot_be_read_is_refused(
    tmp_path: Path, asked: dict[str, str], message: str
) -> None:
    """400, and what would be right."""
    async with open_shop(tmp_path) as shop:
        answer = await shop.client.get(DIAGNOSIS, params=asked)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_argument")
    assert message in answer.json()["message"]


async def test_a_tenant_learns_nothing_of_the_machine(tmp_path: Path) -> None:
    """Where the data is and how full the disk is, is told to operators alone."""
    async with open_shop(tmp_path) as shop:
        office = shop.services.office
        await office.administration.create_account("mine", actor="test")
        tenant = await office.keys.create("mine", "secret", {}, actor="test")
        operator = await office.keys.create("mine", "secret", {"operator": True}, actor="test")
        told = [
            (await shop.client.get(DIAGNOSIS, headers={"authorization": f"Bearer {key.token}"})).text
            for key in (tenant, operator)
        ]
    assert str(tmp_path) not in told[0]
    assert " GB free" not in told[0]
    assert "it can be written to" in told[0]
    assert str(tmp_path) in told[1]
