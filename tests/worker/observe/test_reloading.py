"""Settings that change under a running server: each live one is held to it, the rest is named."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from tests.support.shop import settings_for
from worker.bootstrap import open_services
from worker.observe.reloading import LIVE, reloaded
from worker.settings import Settings, SettingsError

pytestmark = pytest.mark.anyio

CHANGED: dict[str, Any] = {
    "metrics_open": True,
    "run_total_seconds": 7.0,
    "sse_ping_seconds": 3.0,
    "sse_send_timeout_seconds": 4.0,
    "tokens_per_day": 1234,
}


async def test_each_live_setting_comes_into_use_and_the_others_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The services of the next request have them; the budget knows its limit. Source: docs/ops.md."""
    assert set(CHANGED) == LIVE
    caplog.set_level(logging.WARNING)
    settings = settings_for(tmp_path)
    async with asyncio.timeout(20), open_services(settings) as services:
        new = settings.model_copy(update=CHANGED | {"model": "another", "port": 9})
        after = reloaded(services, lambda: new)
        assert {name: getattr(after.settings, name) for name in LIVE} == CHANGED
        assert after.settings.model == settings.model
        assert after.budget.tokens_per_day == 1234
        assert after.runs is services.runs
    told = next(record for record in caplog.records if record.message == "settings_reloaded").__dict__
    assert (told["in_use"], told["need_restart"]) == (sorted(CHANGED), ["model", "port"])


async def test_settings_that_cannot_be_used_change_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says what is wrong with them."""

    def broken() -> Settings:
        raise SettingsError("AISLE_PORT: too high")

    async with asyncio.timeout(20), open_services(settings_for(tmp_path)) as services:
        assert reloaded(services, broken) is services
    assert [record.__dict__["error"] for record in caplog.records if "reloaded" in record.message] == [
        "AISLE_PORT: too high"
    ]
