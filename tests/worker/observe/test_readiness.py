"""`/readyz` names each part with its state; a model that is down degrades and does not unready."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.shop import open_shop

pytestmark = pytest.mark.anyio


async def test_every_part_has_a_state_and_a_draining_process_is_not_ready(tmp_path: Path) -> None:
    """And a model breaker that is open is `degraded, still ready`. Source: contract, health."""
    model = {"gemini_base_url": "http://127.0.0.1:9", "gemini_api_key": "k" * 30}
    async with asyncio.timeout(40), open_shop(tmp_path, None, **model) as shop:
        await shop.stream("something warm for a winter camping trip")
        for breaker in shop.services.breakers.values():
            for _ in range(5):
                breaker.failed("unavailable")
        ready = await shop.client.get("/readyz")
        metrics = (await shop.client.get("/metrics")).text
        shop.services.runs.drain(10.0)
        leaving = await shop.client.get("/readyz")
    told = ready.json()
    assert (ready.status_code, told["status"], told["model"]["state"]) == (200, "ready", "degraded")
    assert {"model", "search", "cache", "conversations", "settings", "log", "workers", "listeners"} <= set(
        told
    )
    assert (told["cache"]["state"], told["log"]["state"]) == ("ok", "ok")
    assert 'aisle_model_breaker_open{model="gemini-3.5-flash-lite"} 1' in metrics
    assert (leaving.status_code, leaving.json()["status"]) == (503, "not ready")
