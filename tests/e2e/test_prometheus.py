"""A real Prometheus scrapes a real server and knows everything that the dashboard and the alerts name."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import subprocess
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.scripted_gemini import ScriptedGemini
from tests.support.scripted_gemini.scenarios import json_text
from tests.support.shop import Shop, open_shop
from tests.worker.observe.test_completion import one_of_each_kind

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="there is no prometheus program"),
]

DEPLOY = Path(__file__).parents[2] / "deploy"
ALERTS = DEPLOY / "prometheus/alerts.yml"
DASHBOARD = json.loads((DEPLOY / "grafana/aisle-dashboard.json").read_text())
PLAN = {"query_expansions": [["tent", "Tents", 0.9], ["stove", "Stoves", 0.8]], "summary": "Two."}
_NAME = re.compile(r"\b(?:aisle|process)_[a-z_]+")


def dashboard_queries() -> list[str]:
    """Return every query of the dashboard, with its variables filled in."""
    targets = [target for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]
    return [target["expr"].replace("$instance", ".*").replace("$__rate_interval", "1m") for target in targets]


def alert_queries() -> list[str]:
    """Return every expression of the alert rules."""
    text = ALERTS.read_text()
    one_line = re.findall(r"expr: (?!>)(.+)", text)
    folded = re.findall(r"expr: >\n((?: {10}.+\n)+)", text)
    return [*one_line, *(" ".join(each.split()) for each in folded)]


@asynccontextmanager
async def prometheus(folder: Path, target: str) -> AsyncIterator[httpx.AsyncClient]:
    """Run a Prometheus that scrapes `target` five times a second; yield a client for its API."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    config = folder / "prometheus.yml"
    config.write_text(
        "global: {scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 1s}\n"
        f"rule_files: ['{ALERTS}']\n"
        f"scrape_configs: [{{job_name: aisle, static_configs: [{{targets: ['{target}']}}]}}]\n"
    )
    process = await asyncio.create_subprocess_exec(
        "prometheus",
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address={address}",
        stdout=DEVNULL,
        stderr=DEVNULL,
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://{address}/api/v1", timeout=10) as client:
            yield client
    finally:
        process.terminate()
        await process.wait()


async def asked(client: httpx.AsyncClient, path: str, **parameters: str) -> Any:
    """Return the data of an answer of Prometheus, once it answers."""
    for _ in range(200):
        try:
            answer = (await client.get(path, params=parameters)).json()
        except (httpx.TransportError, ValueError):
            await asyncio.sleep(0.05)
            continue
        assert answer["status"] == "success", answer
        return answer["data"]
    raise AssertionError("Prometheus never answered")


async def scraped(client: httpx.AsyncClient) -> dict[str, Any]:
    """Return the target once it was scraped after now."""
    before: str | None = None
    for _ in range(400):
        targets = (await asked(client, "/targets"))["activeTargets"]
        if targets and targets[0]["health"] == "up":
            before = before or targets[0]["lastScrape"]
            if targets[0]["lastScrape"] != before:
                found: dict[str, Any] = targets[0]
                return found
        await asyncio.sleep(0.05)
    raise AssertionError("the server was never scraped")


async def _every_kind(shop: Shop, gemini: ScriptedGemini) -> None:
    await one_of_each_kind(shop)
    gemini.script(json_text(["not a plan"]))
    await shop.stream("what should I take for a week in the north")


async def test_everything_that_dashboard_and_alerts_name_exists_and_every_query_is_understood(
    tmp_path: Path,
) -> None:
    """After one request of each kind, by Prometheus itself. Source: issue, metrics."""
    async with asyncio.timeout(90), ScriptedGemini(json_text(PLAN)) as gemini:
        settings = {
            "gemini_base_url": gemini.base_url,
            "gemini_api_key": "k" * 30,
            "otlp_endpoint": "http://127.0.0.1:9",
        }
        async with open_shop(tmp_path / "shop", None, **settings) as shop:
            await _every_kind(shop, gemini)
            target = str(shop.client.base_url).removeprefix("http://").rstrip("/")
            async with prometheus(tmp_path, target) as client:
                found = await scraped(client)
                known = set(await asked(client, "/label/__name__/values"))
                queries = [*dashboard_queries(), *alert_queries()]
                wanted = {name for query in queries for name in _NAME.findall(query)}
                for query in queries:
                    await asked(client, "/query", query=query)
                rules = await asked(client, "/rules")
    assert found["lastError"] == ""
    assert wanted - known == set()
    assert len(wanted) > 25
    health = {rule["name"]: rule["health"] for group in rules["groups"] for rule in group["rules"]}
    assert len(health) == len(alert_queries())
    assert set(health.values()) <= {"ok", "unknown"}


def test_the_alert_rules_fire_when_they_should_and_not_before() -> None:
    """Promtool over the rules' own tests."""
    done = subprocess.run(
        ["promtool", "test", "rules", str(DEPLOY / "prometheus/alerts_test.yml")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    checked = subprocess.run(
        ["promtool", "check", "rules", str(ALERTS)], capture_output=True, text=True, timeout=60
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_panel_of_the_dashboard_has_a_query_and_says_what_it_shows() -> None:
    """And none lies over another."""
    places: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        grid = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(grid["x"], grid["x"] + grid["w"])
            for y in range(grid["y"], grid["y"] + grid["h"])
        }
        assert not cells & places, panel["title"]
        places |= cells
        if panel["type"] != "row":
            assert panel["targets"]
            assert panel["description"]
