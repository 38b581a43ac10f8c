"""The summary begins when its ground is known, while the rest of the plan still comes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.event_stream import Frame, frames
from tests.support.scripted_gemini import Call, Gate, Script
from tests.support.scripted_gemini.scenarios import gated_text, json_text
from tests.support.shop import AGENTIC, Shop
from tests.worker.test_agentic_search import modelled_shop

pytestmark = pytest.mark.anyio

QUERY = "something warm for cold nights outside"
EXPANSIONS = '{"query_expansions": [["red tent", "Red Tents", 0.9], ["warm boots", "Boots", 0.8]]'
REST = ', "query_complements": ["head torch"], "message": "too late"}'
SUMMARY = "Take the [red tent](<p:tent-0>)."


class HeldPlan:
    """A model that holds back what follows the expansions until `gate` opens."""

    def __init__(self, expansions: str = EXPANSIONS, rest: str = REST) -> None:
        self.gate = Gate("rest of the plan")
        opened = Gate("open")
        opened.open()
        self._plan = gated_text([expansions, rest], [opened, self.gate])

    def __call__(self, call: Call) -> Script:
        """Return the plan for the call that asks for JSON, the summary for the other."""
        asks_for_plan = "responseMimeType" in call.body.get("generationConfig", {})
        return self._plan if asks_for_plan else json_text(SUMMARY, pieces=4)


def _summary(events: list[Frame]) -> str:
    return "".join(
        event.data["summary"] for event in events if event.name == "delta" and "summary" in event.data
    )


async def _ask(shop: Shop, model: HeldPlan, *, opens_at: str, **parameters: str) -> list[Frame]:
    """Read a stream; the held part of the plan follows when the text `opens_at` has been read."""
    events: list[Frame] = []
    async with shop.client.stream("GET", AGENTIC, params={"q": QUERY, **parameters}) as response:
        async for frame in frames(response):
            events.append(frame)
            if opens_at in json.dumps(frame.data, ensure_ascii=False):
                model.gate.open()
    return events


async def test_the_summary_is_written_before_the_plan_has_ended(tmp_path: Path) -> None:
    """Its words are read while what follows the expansions is still held back."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = model = HeldPlan()
        events = await _ask(shop, model, opens_at="tent](<p:tent-0>)")
    assert _summary(events) == SUMMARY
    receipt: dict[str, Any] = events[-2].data["receipt"]
    assert (receipt["source"], receipt["warnings"]) == ("llm", [])
    assert any(event.data.get("queryComplements") == ["head torch"] for event in events)
    assert receipt["tokens"]["input"] == 200


async def test_as_many_categories_as_asked_for_are_ground_enough(tmp_path: Path) -> None:
    """The list need not close when nothing in it could be searched any more."""
    held = HeldPlan(EXPANSIONS.removesuffix("]"), ', ["steel mug", "Mugs", 0.5]]}')
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = held
        events = await _ask(shop, held, opens_at="tent](<p:tent-0>)", maxCategories="2")
    labels = {item["category"] for event in events for item in event.data.get("categoryHits", [])}
    assert (labels, _summary(events)) == ({"Red Tents", "Boots"}, SUMMARY)


async def test_a_plan_with_too_few_categories_is_filled_up_before_the_summary(tmp_path: Path) -> None:
    """One category is no ground: those of the catalog come first, and the rules write."""
    held = HeldPlan('{"query_expansions": [["red tent", "Red Tents", 0.9]]', "}")
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = held
        events = await _ask(shop, held, opens_at="Red Tents")
        assert len(gemini.calls) == 1
    order = [
        name
        for event in events
        for name in ("categoryHits", "summary")
        if name in event.data and event.name == "delta"
    ]
    assert order.index("summary") > max(at for at, name in enumerate(order) if name == "categoryHits")
    assert order.count("categoryHits") >= 2


async def test_a_follower_hears_the_summary_and_the_late_rest_of_the_plan(tmp_path: Path) -> None:
    """Equal questions share the plan; its parts after the first words of the summary reach both."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = model = HeldPlan()
        async with asyncio.TaskGroup() as group:
            streams = [
                group.create_task(_ask(shop, model, opens_at="tent](<p:tent-0>)"), name=f"shopper:{number}")
                for number in range(2)
            ]
        assert len(gemini.calls) == 2
    for stream in streams:
        events = stream.result()
        assert _summary(events) == SUMMARY
        assert any(event.data.get("queryComplements") == ["head torch"] for event in events)
