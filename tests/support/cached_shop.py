"""A shop whose cache is made to fail: asks over HTTP, and reads what receipt and log line say of it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.event_stream import Frame
from tests.support.scripted_gemini import Call, ScriptedGemini
from tests.support.scripted_gemini.scenarios import json_text
from tests.support.shop import Shop, open_shop
from tests.worker.observe.log_lines import LineList, logged_lines

QUERY = "something warm for cold nights outside"
OTHER = "something warm for a winter camping trip"
PLAN = {"query_expansions": [["red tent", "Red Tents", 0.9], ["warm boots", "Boots", 0.8]]}
SUMMARY = "Take the [red tent](<p:tent-0>)."

_GUIDE = Path(__file__).resolve().parents[2] / "docs" / "caching.md"

GENEROUS = {"cache_edge_budget_seconds": 5.0, "cache_table_budget_seconds": 5.0}
"""Where a test is not about budgets: a busy machine must not turn hits into misses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What came of one question: where the answer came from, and what was said of the cache."""

    source: str
    tier: str | None
    reason: str
    steps: tuple[str, ...]

    @property
    def from_cache(self) -> bool:
        """Whether a stored answer was served."""
        return self.source == "cached"


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedShop:
    """A shop, its model, and the lines that it logs."""

    shop: Shop
    gemini: ScriptedGemini
    lines: LineList

    async def ask(self, query: str = QUERY, **parameters: str) -> Heard:
        """Ask; check that the answer is whole, and that receipt, log line and guide say the same."""
        events = await self.shop.stream(query, **parameters)
        _check_whole(events)
        receipt = events[-2].data["receipt"]
        line = next(line for line in self.lines.completions() if line["run_id"] == receipt["runId"])
        assert line["cache"] == receipt["cache"]
        assert line.get("cache_tier") == receipt["cacheTier"]
        assert re.search(rf"^\|[^|]*`{receipt['cache']['reason']}`", _GUIDE.read_text(), re.MULTILINE)
        return Heard(
            source=receipt["source"],
            tier=receipt["cacheTier"],
            reason=receipt["cache"]["reason"],
            steps=tuple(receipt["cache"]["steps"]),
        )

    async def settle(self) -> None:
        """Wait until what is being stored, read or refreshed has ended."""
        await self.shop.services.wait_until.settle()  # type: ignore[attr-defined]
        await self.shop.services.cache.settle()

    def failures(self) -> set[tuple[str, str]]:
        """Return tier and error of every failure that was logged."""
        return {
            (record["tier"], record["error"])
            for record in self._read()
            if record["event"] == "cache_tier_failed"
        }

    def _read(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines.lines]

    def stored(self) -> list[tuple[str, str]]:
        """Return what table and edge said to each answer that was to be kept."""
        return [
            (record["table"], record["edge"]) for record in self._read() if record["event"] == "answer_stored"
        ]


@asynccontextmanager
async def cached_shop(folder: Path, **overrides: Any) -> AsyncIterator[CachedShop]:
    """Open a shop with a model that always plans, and with its log."""
    async with ScriptedGemini() as gemini:
        gemini.choose = _answer
        settings = {"gemini_base_url": gemini.base_url, "gemini_api_key": "test-key"} | overrides
        with logged_lines() as lines:
            async with open_shop(folder, **settings) as shop:
                yield CachedShop(shop=shop, gemini=gemini, lines=lines)


def _answer(call: Call) -> Any:
    is_plan = "responseMimeType" in call.body.get("generationConfig", {})
    return json_text(PLAN) if is_plan else json_text(SUMMARY, pieces=3)


def _check_whole(events: list[Frame]) -> None:
    deltas = [event.data for event in events if event.name == "delta"]
    assert events[0].name == "init"
    assert events[-1].name == "stream-end"
    assert any(delta.get("hits") for delta in deltas)
    categories = [item for delta in deltas for item in delta.get("categoryHits", [])]
    assert {item["category"] for item in categories} == {"Red Tents", "Boots"}
    assert all(item["hits"] for item in categories)
    assert "red tent" in "".join(delta.get("summary", "") for delta in deltas)
    assert not any("error" in delta for delta in deltas)
