"""The completion line: its written schema, and what may never stand in it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.event_stream import frames
from tests.support.scripted_gemini import Gate, ScriptedGemini
from tests.support.scripted_gemini.scenarios import gated_text, json_text
from tests.support.shop import AGENTIC, Shop, open_shop
from tests.worker.observe.log_lines import logged_lines
from worker.observe.completion import SCHEMA_VERSION, Completion
from worker.timing import Stage

pytestmark = pytest.mark.anyio

WINTER = "something warm for a winter camping trip"
SCHEMA = json.loads((Path(__file__).parents[3] / "docs/log-schema.json").read_text())
KEY = "AIza" + "S" * 35


def check(line: dict[str, Any]) -> None:
    """Hold a line to the written schema."""
    jsonschema.Draft202012Validator(SCHEMA).validate(line)


def test_the_written_schema_names_exactly_the_fields_and_stages_of_the_record() -> None:
    """A field or stage that one has and the other lacks is found here."""
    written = set(SCHEMA["properties"]) - {"time", "level", "event", "logger"}
    assert written == {each.name for each in fields(Completion)} - {"event", "at"}
    assert set(SCHEMA["properties"]["timings"]["properties"]) == {stage.value for stage in Stage}
    assert SCHEMA["properties"]["schema"]["const"] == SCHEMA_VERSION


async def one_of_each_kind(shop: Shop) -> None:
    """Make a request of every kind, and some that fail."""
    await shop.stream(WINTER)
    await shop.stream("tent")
    base = "/api/v1/indexes/demo"
    await shop.client.post(f"{base}/search", json={"q": "tent"})
    await shop.client.post(f"{base}/search", json={"q": "tent", "filter": "nowhere:(red)"})
    await shop.client.post(f"{base}/agentic-search/converse", json={"q": "show me tents"})
    for document in ("tent-1", "nothing"):
        asked = {"documentId": document, "sessionId": "s", "userId": "u"}
        await shop.client.post(f"{base}/agentic-search/chat-suggestions", json=asked)


async def test_every_kind_of_request_writes_one_line_of_the_schema(tmp_path: Path) -> None:
    """Real lines of real requests, answered and failed. Source: issue, the log line."""
    with logged_lines() as log:
        async with asyncio.timeout(30), open_shop(tmp_path) as shop:
            await one_of_each_kind(shop)
    lines = log.completions()
    for line in lines:
        check(line)
    kinds = sorted((line["event"], line["outcome"]) for line in lines)
    assert kinds == [
        ("agentic_search_completed", "ok"),
        ("agentic_search_completed", "ok"),
        ("chat_suggestions_completed", "error"),
        ("chat_suggestions_completed", "ok"),
        ("converse_completed", "ok"),
        ("search_completed", "error"),
        ("search_completed", "ok"),
    ]
    planned, plain = (line for line in lines if line["event"] == "agentic_search_completed")
    assert (planned["source"], plain["source"]) == ("catalog", "short_query_bypass")
    assert {"TIME_TO_FIRST_EVENT", "TIME_TO_FIRST_HITS", "TIME_TO_FIRST_CATEGORY"} <= set(planned["timings"])
    assert "TIME_TO_FIRST_CATEGORY" not in plain["timings"]
    failed = next(
        line for line in lines if line["event"] == "search_completed" and line["outcome"] == "error"
    )
    assert failed["error"] == "invalid_field_name"


async def test_a_models_answer_tells_its_model_and_tokens_and_a_failing_one_is_degraded(
    tmp_path: Path,
) -> None:
    """`degraded` says why the rules stood in."""
    plan = {"query_expansions": [["tent", "Tents", 0.9], ["stove", "Stoves", 0.8]], "summary": "Two."}
    with logged_lines() as log:
        async with asyncio.timeout(30), ScriptedGemini(json_text(plan)) as gemini:
            settings: dict[str, Any] = {"gemini_base_url": gemini.base_url, "gemini_api_key": KEY}
            async with open_shop(tmp_path, **settings) as shop:
                await shop.stream(WINTER)
                gemini.script(json_text(["not a plan"]))
                await shop.stream("what should I take for a week in the north")
    answered, degraded = log.completions()
    check(answered)
    check(degraded)
    assert (answered["source"], answered["outcome"]) == ("llm", "ok")
    assert answered["model"]
    assert answered["tokens"]["input"] > 0
    assert (degraded["source"], degraded["outcome"]) == ("catalog", "degraded")


async def test_no_line_holds_a_query_a_key_or_a_conversation(tmp_path: Path) -> None:
    """The words of a shopper are hashed unless the account opts in. Source: design, operations."""
    with logged_lines() as log:
        async with asyncio.timeout(30), open_shop(tmp_path) as shop:
            await shop.stream(WINTER)
            await shop.client.post("/api/v1/indexes/demo/search", json={"q": WINTER})
            await shop.client.post(f"{AGENTIC}/converse", json={"q": WINTER})
    assert len(log.completions()) == 3
    assert WINTER not in "".join(log.lines)
    assert len({line["query_hash"] for line in log.completions()}) == 1


async def test_an_account_that_opts_in_has_its_queries_in_the_lines_without_keys(tmp_path: Path) -> None:
    """`agentic_config.log_queries`; what looks like a key is still taken out."""
    with logged_lines() as log:
        async with asyncio.timeout(30), open_shop(tmp_path) as shop:
            opted = {"agentic_config": {"log_queries": True}}
            answer = await shop.client.put("/api/v1/admin/settings/*", json=opted)
            assert answer.status_code == 200, answer.text
            await shop.stream(WINTER)
            await shop.client.post("/api/v1/indexes/demo/search", json={"q": f"{WINTER} {KEY}"})
    planned, plain = log.completions()
    check(planned)
    assert planned["query"] == WINTER
    assert plain["query"].startswith(WINTER)
    assert KEY not in "".join(log.lines)


async def test_an_answer_that_nobody_waits_for_any_more_is_canceled_and_says_by_whom(tmp_path: Path) -> None:
    """The client leaves, or stops the run; the model call ends with it."""
    never = Gate("never")
    script = gated_text(["{", "}"], [Gate("closed"), never])
    with logged_lines() as log:
        async with asyncio.timeout(40), ScriptedGemini(script, script) as gemini:
            slow: dict[str, Any] = {"model_first_chunk_seconds": 60, "model_total_seconds": 60}
            settings = {"gemini_base_url": gemini.base_url, "gemini_api_key": KEY} | slow
            async with open_shop(tmp_path, None, **settings) as shop:
                ended = asyncio.Semaphore(0)
                shop.services.observers.add("ended", lambda _: ended.release())
                for stops in (False, True):
                    asked = {"q": f"{WINTER} {stops}"}
                    async with shop.client.stream("GET", AGENTIC, params=asked) as response:
                        async for _ in frames(response):
                            break
                        if stops:
                            run = response.headers["x-aisle-run-id"]
                            await shop.client.delete(f"/api/v1/indexes/demo/runs/{run}")
                    await ended.acquire()
    told = [(line["outcome"], line["error"]) for line in log.completions()]
    assert sorted(told) == [("canceled", "client_gone"), ("canceled", "stopped")]
    for line in log.completions():
        check(line)
