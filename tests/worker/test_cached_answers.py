"""Answers from the cache, and one plan for everybody who asks the same at once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.event_stream import Frame, frames
from tests.support.scripted_gemini import Call, Gate
from tests.support.scripted_gemini.scenarios import gated_text, json_text
from tests.support.shop import AGENTIC, Shop
from tests.worker.test_agentic_search import modelled_shop

pytestmark = pytest.mark.anyio

QUERY = "something warm for cold nights outside"
PLAN = {
    "query_expansions": [["red tent", "Red Tents", 0.9], ["warm boots", "Boots", 0.8]],
    "query_complements": ["head torch"],
}
SUMMARY = "Take the [red tent](<p:tent-0>) and [nothing](<p:unknown-1>)."


def _joined(events: list[Frame], field: str) -> str:
    return "".join(event.data[field] for event in events if event.name == "delta" and field in event.data)


def _labels(events: list[Frame]) -> set[str]:
    return {item["category"] for event in events for item in event.data.get("categoryHits", [])}


def _receipt(events: list[Frame]) -> dict[str, Any]:
    receipt: dict[str, Any] = events[-2].data["receipt"]
    return receipt


def _is_plan(call: Call) -> bool:
    return "responseMimeType" in call.body.get("generationConfig", {})


async def _stored(shop: Shop) -> None:
    """Wait until what is being stored is stored."""
    await shop.services.wait_until.settle()  # type: ignore[attr-defined]


async def test_an_equal_query_is_answered_from_the_cache_without_the_model(tmp_path: Path) -> None:
    """The stored plan and summary, fresh searches, no model call. Source: flow document, step 3."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.script(json_text(PLAN), json_text(SUMMARY, pieces=4))
        first = await shop.stream(QUERY)
        await _stored(shop)
        made = len(gemini.calls)
        second = await shop.stream(QUERY.upper().replace(" ", "  "))
        assert len(gemini.calls) == made == 2
    assert _receipt(first)["source"] == "llm"
    assert (_receipt(second)["source"], _receipt(second)["cacheTier"]) == ("cached", "edge")
    assert "CACHED_QUERY_LOOKUP" in _receipt(second)["timings"]
    assert "LLM_FIRST_CALL" not in _receipt(second)["timings"]
    assert _labels(second) == _labels(first) == {"Red Tents", "Boots"}
    assert _joined(second, "summary") == _joined(first, "summary")
    assert "<p:tent-0>" in _joined(second, "summary")


async def test_a_cached_answers_hits_and_links_are_those_of_today(tmp_path: Path) -> None:
    """Searches run fresh; a link to a product that is gone becomes plain text. Source: design, cache."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.script(json_text(PLAN), json_text(SUMMARY, pieces=4))
        await shop.stream(QUERY)
        await _stored(shop)
        await shop.services.catalog.delete_documents("demo", "demo", ["tent-0"])
        second = await shop.stream(QUERY)
    assert _receipt(second)["source"] == "cached"
    assert "tent-0" not in json.dumps([event.data for event in second])
    assert "red tent" in _joined(second, "summary")


async def test_another_filter_or_another_number_of_categories_is_another_question(tmp_path: Path) -> None:
    """What shapes the plan is in the key. Source: design, cache."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = lambda call: (
            json_text(PLAN) if "responseMimeType" in str(call.body) else json_text("ok")
        )
        await shop.stream(QUERY)
        await _stored(shop)
        filtered = await shop.stream(QUERY, filter="color:(red)")
        fewer = await shop.stream(QUERY, maxCategories="2")
        larger = await shop.stream(QUERY, categoryResultLimit="20")
    assert [_receipt(events)["source"] for events in (filtered, fewer, larger)] == ["llm", "llm", "cached"]


async def test_equal_questions_at_once_make_one_plan_and_all_hear_it_live(tmp_path: Path) -> None:
    """Followers get the leader's first category before the model has written its second. Source: design."""
    gate = Gate("rest")
    pieces = ['{"query_expansions": [["red tent", "Red Tents", 0.9]', ', ["warm boots", "Boots", 0.8]]}']
    opened = Gate()
    opened.open()
    plan = gated_text(pieces, [opened, gate])
    heard = 0

    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = lambda call: (
            plan if "responseMimeType" in str(call.body) else json_text("Warm things.")
        )

        async def ask() -> list[Frame]:
            nonlocal heard
            seen: list[Frame] = []
            async with shop.client.stream("GET", AGENTIC, params={"q": QUERY}) as response:
                async for frame in frames(response):
                    if "categoryHits" in frame.data and not _labels(seen):
                        heard += 1
                        if heard == 40:
                            gate.open()
                    seen.append(frame)
            return seen

        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            asking = [group.create_task(ask(), name=f"ask:{number}") for number in range(40)]
        plans = [call for call in gemini.calls if _is_plan(call)]
    answers = [task.result() for task in asking]
    assert len(plans) == 1
    assert all(_labels(answer) == {"Red Tents", "Boots"} for answer in answers)
    assert {_joined(answer, "summary") for answer in answers} == {"Warm things."}
    assert sorted(_receipt(answer)["source"] for answer in answers) == ["cached"] * 39 + ["llm"]


async def test_when_the_leader_leaves_a_follower_takes_over(tmp_path: Path) -> None:
    """A leader's leaving costs its followers time, never their answer."""
    never, reached = Gate("never"), Gate("second")
    stalled = gated_text(['{"query_expansions": [', "]}"], [reached, never])
    calls = 0

    def choose(call: Any) -> Any:
        nonlocal calls
        if not _is_plan(call):
            return json_text("Warm things.")
        calls += 1
        return stalled if calls == 1 else json_text(PLAN)

    async with modelled_shop(tmp_path, run_grace_seconds=0.0) as (shop, gemini):
        gemini.choose = choose

        async def follow(followed: asyncio.Event) -> list[Frame]:
            seen: list[Frame] = []
            async with shop.client.stream("GET", AGENTIC, params={"q": QUERY}) as response:
                async for frame in frames(response):
                    seen.append(frame)
                    if "hits" in frame.data:
                        followed.set()
            return seen

        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            leading = await shop.client.send(
                shop.client.build_request("GET", AGENTIC, params={"q": QUERY}), stream=True
            )
            await reached.reached()
            followed = asyncio.Event()
            following = group.create_task(follow(followed), name="follower")
            await followed.wait()
            await leading.aclose()
    assert _labels(following.result()) == {"Red Tents", "Boots"}
    assert _receipt(following.result())["source"] == "llm"


async def test_a_degraded_answer_is_never_stored(tmp_path: Path) -> None:
    """Only complete model answers are kept. Source: design, cache."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.script(json_text('{"query_expansions": [["red tent", "Red Tents", 0.9]', pieces=2))
        await shop.stream(QUERY)
        await _stored(shop)
        gemini.script(json_text(PLAN), json_text(SUMMARY))
        assert _receipt(await shop.stream(QUERY))["source"] == "llm"


async def test_an_approved_answer_is_served_until_it_is_removed(tmp_path: Path) -> None:
    """A merchant's answer outlives prompts and settings, and wins over the model. Source: docs/caching.md."""
    url = "/api/v1/admin/answers/demo"
    approved = {"query_expansions": [["red tent", "Our Tents"]], "summary": "Ask [our tent](<p:tent-0>)."}
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = lambda call: json_text(PLAN if _is_plan(call) else "ok")
        pinned = await shop.client.put(url, params={"q": QUERY}, json=approved)
        settings = {"agentic_config": {"max_categories": 3, "enable_summary": False}}
        await shop.services.office.administration.set_settings("demo", "demo", settings, actor="test")
        served = await shop.stream(QUERY)
        assert gemini.calls == []
        removed = await shop.client.delete(url, params={"q": QUERY})
        gone = await shop.client.get(url, params={"q": QUERY})
        anew = await shop.stream(QUERY)
    assert (pinned.status_code, pinned.json()["pinned"]) == (200, True)
    assert (_labels(served), _joined(served, "summary")) == ({"Our Tents"}, "Ask [our tent](<p:tent-0>).")
    assert (removed.status_code, gone.status_code) == (204, 404)
    assert _receipt(anew)["source"] == "llm"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "not JSON"),
        (b"[]", "must be a JSON object"),
        (b"{}", "query_expansions must be a list of 1 to 6 rows"),
        (b'{"query_expansions": [["a"]]}', "query_expansions[0] must be [query, label"),
        (b'{"query_expansions": [["a", "b", 2]]}', "must be a number from 0 to 1, not 2"),
        (b'{"query_expansions": [["a", "b"]], "colour": 1}', "'colour' is not part of an answer"),
        (b'{"query_expansions": [["a", "b"]], "strategy": "guess"}', "strategy must be one of"),
    ],
)
async def test_a_wrong_approved_answer_is_refused_with_the_place(
    tmp_path: Path, body: bytes, message: str
) -> None:
    """Bad input is a 400 that says where."""
    async with modelled_shop(tmp_path) as (shop, _):
        refused = await shop.client.put("/api/v1/admin/answers/demo", params={"q": QUERY}, content=body)
    assert refused.status_code == 400
    assert message in refused.json()["message"]
