"""What a shopper who leaves has cost, in the budget and in the log line, as far as the model has said it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.event_stream import frames
from tests.support.scripted_gemini import Call, Script, ScriptedGemini
from tests.support.scripted_gemini import scenarios as s
from tests.support.shop import AGENTIC, open_shop
from tests.worker.llm.test_failing_model import PLAN, WINTER
from tests.worker.observe.log_lines import logged_lines

pytestmark = pytest.mark.anyio

STALLED_PLAN = s.stalled(s.text_chunk('{"query_expansions": [["red tent", "Red Tents", 0.9]'))
STALLED_SUMMARY = s.stalled(s.text_chunk("Take the red tent and "))


@pytest.mark.parametrize(
    ("plan", "summary", "until", "tokens"),
    [
        (STALLED_PLAN, STALLED_SUMMARY, "categoryHits", 140),
        (s.json_text(PLAN), STALLED_SUMMARY, "summary", 280),
    ],
    ids=["in mid-plan", "in mid-summary"],
)
async def test_a_shopper_who_leaves_has_used_tokens(
    plan: Script, summary: Script, until: str, tokens: int, tmp_path: Path
) -> None:
    """The budget and the log line count what the model has counted up to then."""

    def choose(call: Call) -> Script:
        return plan if "responseMimeType" in call.body["generationConfig"] else summary

    async with ScriptedGemini() as gemini, asyncio.timeout(20):
        gemini.choose = choose
        settings: dict[str, Any] = {"gemini_base_url": gemini.base_url, "gemini_api_key": "k"}
        settings |= {"model_gap_seconds": 10.0, "run_grace_seconds": 0.0}
        with logged_lines() as lines:
            async with open_shop(tmp_path, **settings) as shop:
                async with shop.client.stream("GET", AGENTIC, params={"q": WINTER}) as response:
                    async for frame in frames(response):
                        if frame.name == "delta" and until in frame.data:
                            break
                await gemini.calls[-1].gone.wait()
    (line,) = lines.completions()
    assert (line["outcome"], sum(line["tokens"].values())) == ("canceled", tokens)
    assert shop.services.budget.spent_today("demo") == tokens
