"""What an account sets is what its shoppers get, without a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from search_proxy.accounts.prompt_text import SAFETY_BLOCK
from tests.support.event_stream import Frame
from tests.support.scripted_gemini import Call, Script, ScriptedGemini
from tests.support.scripted_gemini.scenarios import json_text
from tests.support.shop import AGENTIC, Shop
from tests.worker.test_agentic_search import modelled_shop

pytestmark = pytest.mark.anyio

QUERY = "something warm for cold nights outside"
PLAN = {
    "query_expansions": [["tent", "Green Tents", 0.9, "color:(green)"], ["boots", "Boots", 0.8, ""]],
    "summary": "The plan's own words.",
}


def _is_plan(call: Call) -> bool:
    return "responseMimeType" in call.body.get("generationConfig", {})


def _answers(call: Call) -> Script:
    return json_text(PLAN if _is_plan(call) else "Words of a second call.")


async def _asked(shop: Shop, gemini: ScriptedGemini, settings: dict[str, Any]) -> list[Frame]:
    """Set the account's settings and ask."""
    gemini.choose = _answers
    await shop.services.office.administration.set_settings("demo", "demo", settings, actor="test")
    gemini.calls.clear()
    return await shop.stream(QUERY)


def _summary(events: list[Frame]) -> str:
    return "".join(str(event.data["summary"]) for event in events[1:] if "summary" in event.data)


def _receipt(events: list[Frame]) -> dict[str, Any]:
    receipt: dict[str, Any] = events[-2].data["receipt"]
    return receipt


async def test_a_feature_that_is_off_answers_400_and_on_again_answers(tmp_path: Path) -> None:
    """The feature flag is checked first. Source: flow document, step 2."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = _answers
        set_settings = shop.services.office.administration.set_settings
        await set_settings("demo", "*", {"feature_flags": {"agentic_search": False}}, actor="test")
        refused = await shop.client.get(AGENTIC, params={"q": QUERY})
        await set_settings("demo", "*", {"feature_flags": {"agentic_search": True}}, actor="test")
        answered = await shop.client.get(AGENTIC, params={"q": QUERY})
    assert (refused.status_code, refused.json()["code"]) == (400, "feature_disabled")
    assert answered.status_code == 200


async def test_without_the_second_call_the_plans_own_summary_is_sent_at_once(tmp_path: Path) -> None:
    """`enable_summary` off: one model call, one delta of text. Source: docs/wire-format.md."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        events = await _asked(shop, gemini, {"agentic_config": {"enable_summary": False}})
        assert len(gemini.calls) == 1
    assert events[0].data == {"categories": True, "summary": False}
    assert _summary(events) == "The plan's own words."


async def test_the_accounts_model_is_asked_with_its_prompt_and_the_safety_rules_last(tmp_path: Path) -> None:
    """Models and prompts are the account's; the locked rules follow every merchant text."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        prompts = shop.services.office.prompts
        version = await prompts.new("demo", "demo", {"voice": "Speak like a calm guide"}, note="", actor="m")
        await prompts.publish("demo", "demo", version.version, actor="m")
        settings = {"agentic_config": {"models": {"plan": "gemini-test-model"}}}
        events = await _asked(shop, gemini, settings)
        system = json.dumps(gemini.calls[0].body["systemInstruction"])
        assert {call.model for call in gemini.calls} == {"gemini-test-model"}
    assert "calm guide" in system
    assert system.index("calm guide") < system.index(SAFETY_BLOCK.splitlines()[0])
    assert (_receipt(events)["promptVersion"], _receipt(events)["model"]) == (1, "gemini-test-model")


async def test_the_model_sees_facets_and_may_filter_only_where_the_account_allows_it(tmp_path: Path) -> None:
    """`filter_facets`: all fields, some, or none. Source: flow document, step 6."""
    seen: dict[str, tuple[bool, bool, Any]] = {}
    async with modelled_shop(tmp_path) as (shop, gemini):
        for name, facets in {
            "all": {"enabled": True},
            "some": {"enabled": True, "fields": ["brand"]},
            "none": {"enabled": False},
        }.items():
            events = await _asked(shop, gemini, {"agentic_config": {"filter_facets": facets}})
            system = json.dumps(gemini.calls[0].body["systemInstruction"])
            items = [item for event in events for item in event.data.get("categoryHits", [])]
            tents = next(item for item in items if item["category"] == "Green Tents")
            seen[name] = ("Fellhorn" in system, "green" in system, tents["appliedFilter"])
    assert seen == {
        "all": (True, True, "color:(green)"),
        "some": (True, False, None),
        "none": (False, False, None),
    }


async def test_an_account_without_tokens_is_answered_by_the_catalog(tmp_path: Path) -> None:
    """A spent budget never asks the model and says so. Source: design, model."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        events = await _asked(shop, gemini, {"agentic_config": {"budgets": {"tokens_per_day": 0}}})
        assert gemini.calls == []
    assert _receipt(events)["source"] == "catalog"
    assert "budget_spent" in _receipt(events)["warnings"]


async def test_defaults_of_the_account_shape_the_answer(tmp_path: Path) -> None:
    """Category count, results and the short-query threshold are settings."""
    settings = {
        "agentic_config": {"max_categories": 1, "category_result_limit": 2, "short_query_words": 1},
    }
    async with modelled_shop(tmp_path) as (shop, gemini):
        await _asked(shop, gemini, settings)
        events = await shop.stream("tent")
    items = [item for event in events for item in event.data.get("categoryHits", [])]
    assert [len(item["hits"]) for item in items] == [2]


async def test_the_share_of_sessions_that_is_cached_is_the_accounts(tmp_path: Path) -> None:
    """`cached_query_percentage` 0 looks nothing up, and the receipt says why."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        await _asked(shop, gemini, {"cached_query_percentage": 0})
        await shop.services.wait_until.settle()  # type: ignore[attr-defined]
        events = await shop.stream(QUERY, sessionId="s")
    assert _receipt(events)["source"] == "llm"
    assert _receipt(events)["cache"]["reason"] == "session"
