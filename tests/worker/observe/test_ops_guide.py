"""docs/ops.md names exactly the metrics that there are, and the settings that change at once."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from tests.support.shop import open_shop
from worker.observe.reloading import LIVE

pytestmark = pytest.mark.anyio

GUIDE = (Path(__file__).parents[3] / "docs/ops.md").read_text()


async def test_the_guides_list_of_metrics_is_the_servers(tmp_path: Path) -> None:
    """A family that is not explained is no use; one that is gone misleads."""
    section = GUIDE.partition("## Metrics")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`((?:aisle|process)_\w+)`", row.split("|")[1])}
    labels = {
        re.findall(r"`(\w+)`", row.split("|")[1])[0]: [
            x.strip() for x in row.split("|")[2].split(",") if x.strip()
        ]
        for row in rows
    }
    async with asyncio.timeout(40), open_shop(tmp_path, otlp_endpoint="http://127.0.0.1:9") as shop:
        await shop.stream("something warm for a winter camping trip")
        text = (await shop.client.get("/metrics")).text
    assert listed == set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    for series in re.findall(r"^(aisle_\w+)\{([^}]*)\}", text, re.MULTILINE):
        name = re.sub(r"_(bucket|sum|count)$", "", series[0]) if series[0] not in labels else series[0]
        used = [label for label in re.findall(r"(\w+)=", series[1]) if label != "le"]
        assert labels[name] == used, series[0]


def test_the_guide_names_the_settings_that_change_at_once() -> None:
    """Each of them, in the paragraph about SIGHUP."""
    paragraph = GUIDE.partition("**SIGHUP**")[2].partition("\n* ")[0]
    assert {name for name in re.findall(r"`(\w+)`", paragraph) if name in LIVE} == LIVE
