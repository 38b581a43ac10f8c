"""A tool loop ends, whatever the model does: with its answer, or with the one of the rules."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted_gemini import Head, Script, ScriptedGemini, Stall
from tests.support.scripted_gemini.scenarios import (
    bad_key,
    blocked_prompt,
    chunk,
    early_eof,
    sse,
    stream,
    text_chunk,
    unavailable,
)
from tests.support.talk import CONVERSE, Said, Talk
from tests.worker.tool_scripts import calls, says, tool_shop

pytestmark = pytest.mark.anyio

RED_TENT = ("keyword_search", {"query": "red tent", "limit": 5})
ASKED = "a red tent for the winter"
BUDGET = {"budgets": {"tokens_per_day": 200}}
"""The first call's 140 tokens leave room for a second, whose 140 leave none for a third."""
DEAR = stream(
    sse(
        chunk(
            {"functionCall": {"name": "keyword_search", "args": {"query": "tent"}}},
            finish="STOP",
            usageMetadata={"promptTokenCount": 900, "candidatesTokenCount": 50},
        )
    )
)


def by_rules(said: Said, reason: str) -> None:
    """Check that the rules answered, and that the receipt says why."""
    assert said.receipt["source"] == "catalog"
    assert f"degraded: {reason}" in said.receipt["warnings"]
    assert said.text
    assert said.categories
    assert said.names[-1] == "stream-end"
    assert "error" not in said.names


FAILURES: dict[str, tuple[list[Script], Mapping[str, Any], str, int]] = {
    "the last step calls again": (
        [calls(RED_TENT), calls(("keyword_search", {"query": "blue tent"}))],
        {"tools": {"max_steps": 2}},
        "tool_steps_spent",
        2,
    ),
    "too many tokens": ([DEAR], {"tools": {"max_tokens": 1000}}, "tool_tokens_spent", 1),
    "nothing said": ([calls(RED_TENT), says(" ")], {}, "empty_answer", 2),
    "overloaded in mid-loop": ([calls(RED_TENT), unavailable()], {}, "unavailable", 3),
    "key refused in mid-loop": ([calls(RED_TENT), bad_key()], {}, "invalid_key", 2),
    "blocked": ([blocked_prompt()], {}, "blocked", 1),
    "cut in mid-answer": ([calls(RED_TENT), early_eof(text_chunk("A te"))], {}, "incomplete", 3),
    "budget spent in mid-loop": (
        [calls(RED_TENT), calls(("keyword_search", {"query": "blue tent"}))],
        BUDGET,
        "budget_spent",
        2,
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_the_rules_answer_where_the_loop_cannot(failure: str, tmp_path: Path) -> None:
    """What was shown stays, the rules search and speak, the receipt says what it cost."""
    scripts, config, reason, asked = FAILURES[failure]
    tools = config.get("tools")
    rest = {name: value for name, value in config.items() if name != "tools"}
    async with tool_shop(tmp_path, tools, agentic_config=rest) as (shop, gemini):
        gemini.script(*scripts)
        said = await Talk(shop.client).say(ASKED)
        made = len(gemini.calls)
    by_rules(said, reason)
    assert made == asked
    assert "tools" in said.receipt


async def test_the_last_tokens_are_kept_for_the_answer(tmp_path: Path) -> None:
    """A call costs no less than the one before: while two of them fit, the model may search."""
    wanted = [calls(("keyword_search", {"query": f"tent {number}"})) for number in range(6)]
    async with tool_shop(tmp_path, {"max_steps": 12, "max_tokens": 1000}) as (shop, gemini):
        gemini.script(*wanted, says("Six of them."))
        said = await Talk(shop.client).say(ASKED)
        modes = [one.body["toolConfig"]["functionCallingConfig"]["mode"] for one in gemini.calls]
    assert modes == ["AUTO"] * 6 + ["NONE"]
    assert said.text == "Six of them."


async def test_a_loop_that_takes_too_long_is_ended_and_its_call_given_up(tmp_path: Path) -> None:
    """The model's connection closes, what was found stays, the rules answer."""
    async with tool_shop(tmp_path, {"max_seconds": 1.0}) as (shop, gemini):
        gemini.script(calls(RED_TENT), [Head(), Stall()])
        said = await Talk(shop.client).say(ASKED)
        async with asyncio.timeout(5):
            await gemini.calls[1].gone.wait()
    by_rules(said, "tool_deadline")
    assert said.receipt["tools"][0]["name"] == "keyword_search"


async def test_with_no_budget_left_no_model_is_asked(tmp_path: Path) -> None:
    """The account's own limit. Source: design 12."""
    async with tool_shop(tmp_path, agentic_config={"budgets": {"tokens_per_day": 0}}) as (shop, gemini):
        gemini.script(says("never"))
        said = await Talk(shop.client).say(ASKED)
        assert gemini.calls == []
    by_rules(said, "budget_spent")


async def test_a_step_that_failed_by_chance_is_asked_once_more(tmp_path: Path) -> None:
    """In mid-loop too: nothing of the step was shown yet."""
    async with tool_shop(tmp_path) as (shop, gemini):
        gemini.script(calls(RED_TENT), unavailable(), says("A [tent](<p:tent-0>)."))
        said = await Talk(shop.client).say(ASKED)
        asked = [call.body["contents"] for call in gemini.calls]
    assert said.text == "A [tent](<p:tent-0>)."
    assert asked[1] == asked[2]
    assert said.receipt["source"] == "llm"
    assert any(one.startswith("model_failed:unavailable") for one in said.receipt["warnings"])


async def test_the_model_that_answered_first_keeps_the_loop(tmp_path: Path) -> None:
    """The second of the chain is asked where the first fails, and from then on it alone."""
    models = {"models": {"plan": "gemini-first", "fallback": "gemini-second"}}

    def chosen(call: Any) -> Script:
        if "gemini-first" in call.path:
            return bad_key()
        return says("Done.") if len(gemini.calls) > 2 else calls(RED_TENT)

    gemini: ScriptedGemini
    async with tool_shop(tmp_path, agentic_config=models) as (shop, gemini):
        gemini.choose = chosen
        said = await Talk(shop.client).say(ASKED)
        paths = [call.path for call in gemini.calls]
    assert ["gemini-first" in path for path in paths] == [True, False, False]
    assert said.receipt["model"] == "gemini-second"
    assert said.text == "Done."


async def test_a_shopper_who_leaves_ends_the_loop(tmp_path: Path) -> None:
    """The call in flight is given up with its run. Source: design, runs."""
    async with tool_shop(tmp_path) as (shop, gemini), asyncio.timeout(10):
        gemini.script(calls(RED_TENT), [Head(), Stall()])
        async with shop.client.stream("POST", CONVERSE, json={"q": ASKED}):
            call = await gemini.called(2)
        await call.gone.wait()


async def test_with_every_tool_switched_off_the_model_plans_as_without_them(tmp_path: Path) -> None:
    """There is nothing to loop over; the best hits are still not handed over."""
    off = dict.fromkeys(
        ("keyword_search", "semantic_search", "filter_documents", "fused_search", "search")
        + ("get_document", "read", "web_search", "fetch_page"),
        False,
    )
    async with tool_shop(tmp_path, off, agentic_config={"passive_context": True}) as (shop, gemini):
        gemini.script(says('{"query_expansions": [["red tent", "Tents", 0.9]], "summary": "Tents."}'))
        said = await Talk(shop.client).say(ASKED)
        sent = gemini.calls[0].body
    assert [one["name"] for one in sent["tools"][0]["functionDeclarations"]] == ["execute_search"]
    assert "<top_hits>" not in sent["contents"][-1]["parts"][-1]["text"]
    assert "tools" not in said.receipt
    assert said.text == "Tents."


async def test_arguments_that_no_json_should_hold_end_no_turn(tmp_path: Path) -> None:
    """Half a surrogate pair, a number beyond 64 bits, lists in lists: a sentence, then the answer."""
    deep: Any = "x"
    for _ in range(60):
        deep = [deep]
    odd = {"query": "tent \ud800", "limit": 10**30, "filter": {"fields": {"color": deep}}}
    async with tool_shop(tmp_path) as (shop, gemini):
        call = json.dumps(chunk({"functionCall": {"name": "keyword_search", "args": odd}}, finish="STOP"))
        gemini.script(stream(f"data: {call}\r\n\r\n".encode()), says("It is a tent."))
        said = await Talk(shop.client).say(ASKED)
        sent = gemini.calls[1].body["contents"]
    assert said.text == "It is a tent."
    assert [one["error"] for one in said.receipt["tools"]] == ["invalid"]
    assert sent[-2]["parts"][0]["functionCall"]["args"]["query"] == "tent ?"
