"""A run is traced where its account wants it, shown to its account, and runs again to the same answer."""

from __future__ import annotations

import asyncio
import gzip
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted_gemini import Call, Script
from tests.support.scripted_gemini.scenarios import json_text, unavailable
from tests.support.shop import Shop, open_shop
from tests.worker.test_agentic_search import modelled_shop
from worker.background import Background
from worker.trace.replay import compared, replay
from worker.trace.trace_files import TraceFiles, TraceUnreadable, read_trace
from worker.trace.trace_text import trace_text

pytestmark = pytest.mark.anyio

QUERY = "something warm for cold nights outside"
PLAN = {
    "query_expansions": [
        ["tent", "Green Tents", 0.9, "color:(green)"],
        ["boots", "Boots", 0.8, "color:(purple)"],
        ["sleeping bag", "Sleeping Bags", 0.7, ""],
    ],
    "query_complements": ["warm boots"],
}


def _answers(call: Call) -> Script:
    is_plan = "responseMimeType" in call.body.get("generationConfig", {})
    return json_text(PLAN if is_plan else "Take [the tent](<p:tent-1>) or [a boat](<p:boat-9>).")


async def _traced(shop: Shop, query: str = QUERY, **parameters: str) -> dict[str, Any]:
    """Ask with traces on and return the run's trace, once it is kept."""
    settings = {"agentic_config": {"keep_traces": True}}
    await shop.services.office.administration.set_settings("demo", "demo", settings, actor="test")
    events = await shop.stream(query, **parameters)
    run_id = events[-2].data["receipt"]["runId"]
    background = shop.services.wait_until
    assert isinstance(background, Background)
    async with asyncio.timeout(10):
        await background.settle()
    answer = await shop.client.get(f"/api/v1/runs/{run_id}/trace")
    assert answer.status_code == 200, answer.text
    trace: dict[str, Any] = answer.json()
    return trace


async def _without_model(shop: Shop, trace: Mapping[str, Any]) -> tuple[str, ...]:
    return (await replay(shop.services, trace)).differences


async def test_nothing_is_kept_unless_the_account_wants_it(tmp_path: Path) -> None:
    """Opt-in: no folder, no file, a 404 that says how."""
    async with open_shop(tmp_path) as shop:
        events = await shop.stream(QUERY)
        run_id = events[-2].data["receipt"]["runId"]
        answer = await shop.client.get(f"/api/v1/runs/{run_id}/trace")
        assert answer.status_code == 404
        assert "agentic_config.keep_traces" in answer.json()["message"]
        assert not (shop.services.settings.data_dir / "traces").exists()


async def test_a_trace_holds_every_stage_and_no_other_account_sees_it(tmp_path: Path) -> None:
    """Cache decision, prompt version, the model's pieces with times, filters tried, ids, the receipt."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = _answers
        trace = await _traced(shop)
        office = shop.services.office
        await office.administration.create_account("other", actor="test")
        key = await office.keys.create("other", "secret", {}, actor="test")
        refused = await shop.client.get(
            f"/api/v1/runs/{trace['runId']}/trace", headers={"authorization": f"Bearer {key.token}"}
        )
    assert refused.status_code == 404
    assert trace["receipt"]["cache"]["hit"] is False
    assert trace["request"]["q"] == QUERY
    assert trace["request"]["promptVersion"] == 0
    plan, summary = trace["calls"]
    said = "".join(event[2] for event in plan["events"] if event[1] == "text")
    assert '"Green Tents"' in said
    times = [event[0] for event in plan["events"]]
    assert times == sorted(times)
    assert plan["events"][-1][1] == summary["events"][-1][1] == "finish"
    filters = {search["filter"] for search in trace["searches"]}
    assert {"color:(green)", "color:(purple)", None} <= filters
    boots = next(each for each in trace["answer"]["categories"] if each["category"] == "Boots")
    assert boots["filterDropped"] == "color:(purple)"
    assert boots["hits"]
    assert "boat-9" not in trace["answer"]["summary"]
    text = trace_text(trace, width=100, colored=False)
    for part in ("asked", "cache", "decision", "model ", "searches (", "Green Tents", "first hits"):
        assert part in text
    assert "\x1b" not in text


@pytest.mark.parametrize("query", [QUERY, "red mug", "hello there what can you do", "green tents under 30"])
async def test_an_answer_by_rules_replays_to_the_same_answer(tmp_path: Path, query: str) -> None:
    """Short, long, a greeting, demands: none of them has a model."""
    async with open_shop(tmp_path) as shop:
        assert await _without_model(shop, await _traced(shop, query)) == ()


async def test_an_answer_by_a_model_replays_without_it(tmp_path: Path) -> None:
    """Plan, filters, dropped filter and grounded summary come out of the recorded pieces."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = _answers
        trace = await _traced(shop)
        gemini.calls.clear()
        again = await replay(shop.services, trace)
        assert (again.differences, again.notes) == ((), ())
        assert gemini.calls == []


async def test_an_answer_from_the_cache_replays_as_one(tmp_path: Path) -> None:
    """Its plan is in the trace; its searches run again."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = _answers
        first = await _traced(shop)
        second = await _traced(shop)
        assert second["answer"]["source"] == "cached"
        assert first["answer"]["source"] == "llm"
        assert await _without_model(shop, second) == ()


async def test_a_model_that_failed_fails_again_in_the_same_way(tmp_path: Path) -> None:
    """The rules take over once more."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = lambda _: unavailable(503)
        trace = await _traced(shop)
        assert trace["calls"][0]["events"][-1][1] == "error"
        assert trace["outcome"] == "degraded"
        assert await _without_model(shop, trace) == ()


async def test_a_changed_index_is_named_with_what_it_changed(tmp_path: Path) -> None:
    """A product that has gone, and a price filter that now finds more."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = _answers
        trace = await _traced(shop)
        await shop.services.catalog.delete_documents("demo", "demo", ["tent-1"])
        again = await replay(shop.services, trace)
    assert any("the index has changed" in note for note in again.notes)
    assert any("Green Tents" in each and "gone tent-1" in each for each in again.differences)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"calls": 7}, "a part of it is of another kind than it should be"),
        ({"request": {}}, "a part of it has no 'converses'"),
        ({"answer": None}, "a part of it is of another kind than it should be"),
        ({"searches": None, "calls": [{"model": 1}]}, "a part of it "),
    ],
)
async def test_a_trace_of_another_shape_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    """By one sentence, never by a traceback or the name of an exception."""
    async with open_shop(tmp_path) as shop:
        trace = await _traced(shop, "red mug")
        if change.get("calls") == [{"model": 1}]:
            change["request"] = trace["request"] | {"q": None}
        with pytest.raises(TraceUnreadable) as refused:
            await replay(shop.services, trace | change)
    assert str(refused.value).startswith(f"the trace cannot be replayed: {said}")
    assert "Error" not in str(refused.value)


async def test_values_of_a_trace_that_do_not_fit_are_named(tmp_path: Path) -> None:
    """A setting by its name and rule, a filter by where it breaks."""
    async with open_shop(tmp_path) as shop:
        trace = await _traced(shop, "red mug")
        request = trace["request"]
        settings = request["settings"] | {"agentic_config": {"max_steps": 1, "short_query_words": "many"}}
        with pytest.raises(TraceUnreadable, match="agentic_config.short_query_words: input should be"):
            await replay(shop.services, trace | {"request": request | {"settings": settings}})
        with pytest.raises(TraceUnreadable, match="position"):
            await replay(shop.services, trace | {"request": request | {"filter": "color:("}})


def test_differences_are_written_as_the_trace_has_them() -> None:
    """As JSON, which can be looked up in the file; what is not there is nothing."""
    category = {"category": "Mugs", "query": "mug", "filterDropped": False, "hits": [], "totalHits": 1}
    then = {
        "source": "llm",
        "complements": ["red mug"],
        "expansions": [],
        "hits": [],
        "summary": "",
        "categories": [{**category, "appliedFilter": None, "error": None}],
    }
    filtered = {**category, "appliedFilter": "color:(red)", "error": None}
    now = then | {"complements": [], "categories": [filtered]}
    assert compared(then, now) == [
        'complements: then ["red mug"], now []',
        "category 'Mugs': appliedFilter then nothing, now \"color:(red)\"",
    ]


def test_old_and_large_traces_go_and_damaged_files_say_so(tmp_path: Path) -> None:
    """Bounded in bytes and time; the newest stay."""
    files = TraceFiles(tmp_path, keep_seconds=1000, max_bytes=3000)
    for number in range(20):
        noise = os.urandom(400).hex()
        files.write(f"{number:08x}", {"format": 1, "noise": noise})
        written = time.time() - 100 + number
        os.utime(tmp_path / f"{number:08x}.json.gz", (written, written))
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert 2 <= len(kept) <= 7
    assert kept[-1].startswith(f"{19:08x}")
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 3000
    os.utime(tmp_path / kept[-1], (1, 1))
    assert files.read(f"{19:08x}") is None
    assert files.read("../../etc/passwd") is None
    with pytest.raises(TraceUnreadable, match="neither unpacked nor read"):
        read_trace(gzip.compress(b"{")[:-4])
    with pytest.raises(TraceUnreadable, match="of a format that this version reads"):
        read_trace(b'{"format": 2}')
