"""An answer that has ended is let go at once, with every product in it, not at some garbage collection."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted_gemini import ScriptedGemini
from tests.support.scripted_gemini import scenarios as s
from tests.support.shop import open_shop
from worker.answer import Answer

pytestmark = pytest.mark.anyio

PLAN = {"query_expansions": [["red tent", "Red Tents", 0.9], ["warm boots", "Warm Boots", 0.8]]}


async def test_no_answer_outlives_its_stream(tmp_path: Path) -> None:
    """Neither a cycle nor an idle connection to the model keeps one."""
    async with ScriptedGemini(s.json_text(PLAN)) as gemini:
        settings: dict[str, Any] = {"gemini_base_url": gemini.base_url, "gemini_api_key": "test-key"}
        async with open_shop(tmp_path, **settings) as shop, asyncio.timeout(10):
            gc.collect()
            gc.disable()
            try:
                events = [
                    await shop.stream(f"something warm for winter trip {number}") for number in range(3)
                ]
                await shop.services.wait_until.settle()  # type: ignore[attr-defined]
                kept = [each for each in gc.get_objects() if isinstance(each, Answer)]
            finally:
                gc.enable()
    assert [answer[-2].data["receipt"]["source"] for answer in events] == ["llm"] * 3
    assert kept == []
