"""Metrics: bounded, mergeable, in the format that Prometheus reads, and closed to strangers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from tests.support.scripted_gemini import ScriptedGemini
from tests.support.scripted_gemini.scenarios import json_text
from tests.support.shop import open_shop
from tests.worker.observe.test_completion import one_of_each_kind
from tests.worker.observe.test_observers import a_completion
from worker.observe.exposition import exposition
from worker.observe.metric_families import Counted, Family, Timed, merged, of_worker
from worker.observe.request_metrics import RequestMetrics

pytestmark = pytest.mark.anyio


def values(text: str) -> dict[str, float]:
    """Return the samples of an exposition by their series."""
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return {series: float(value) for series, _, value in (line.rpartition(" ") for line in lines)}


def test_a_histogram_is_written_as_cumulative_buckets_with_sum_and_count() -> None:
    """And labels are escaped. Source: Prometheus exposition formats."""
    timed = Timed("t_seconds", "How long.", ("stage",), buckets=(0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 3.0):
        timed.observe(('a"b\\c\n',), seconds)
    assert exposition([timed.family()]).decode() == (
        "# HELP t_seconds How long.\n"
        "# TYPE t_seconds histogram\n"
        't_seconds_bucket{stage="a\\"b\\\\c\\n",le="0.1"} 2\n'
        't_seconds_bucket{stage="a\\"b\\\\c\\n",le="1.0"} 3\n'
        't_seconds_bucket{stage="a\\"b\\\\c\\n",le="+Inf"} 4\n'
        't_seconds_sum{stage="a\\"b\\\\c\\n"} 3.65\n'
        't_seconds_count{stage="a\\"b\\\\c\\n"} 4\n'
    )


def test_a_counter_never_has_more_series_than_its_bound_and_loses_no_count() -> None:
    """What is one too many is counted together."""
    counted = Counted("c_total", "Counted.", ("word",), max_series=3)
    for number in range(1000):
        counted.add((f"w{number}",))
    samples = counted.family().samples
    assert samples == {("w0",): 1, ("w1",): 1, ("w2",): 1, ("other",): 997}


def test_ten_thousand_error_messages_make_one_series() -> None:
    """No label is what a request said. Source: issue, faults."""
    metrics = RequestMetrics()
    for number in range(10_000):
        metrics.observe(
            replace(
                a_completion(),
                outcome="error",
                error=f"it broke at {number}",
                degraded=f"because of {number}",
                model=f"model {number}",
                tokens={"input": 1},
                warnings=[f"model_failed:kind {number}:m", f"summary_failed:timeout:{number}"],
            )
        )
    families = {family.name: family.samples for family in metrics.families()}
    assert families["aisle_errors_total"] == {("search", "other"): 10_000}
    assert families["aisle_degraded_total"][("other",)] == 10_000
    failed = {labels: count for labels, count in families["aisle_llm_errors_total"].items() if count}
    assert failed == {("other",): 10_000, ("timeout",): 10_000}
    assert families["aisle_tokens_total"] == {("input", "other"): 10_000}
    assert sum(len(samples) for samples in families.values()) < 45


def test_what_no_shopper_waited_for_is_no_request() -> None:
    """A refresh costs tokens and is not traffic."""
    metrics = RequestMetrics()
    metrics.observe(replace(a_completion(), purpose="refresh"))
    families = {family.name: family.samples for family in metrics.families()}
    assert families["aisle_requests_total"] == {}
    assert families["aisle_background_answers_total"] == {("refresh", "ok"): 1}


def test_what_grows_keeps_its_worker_and_a_state_is_the_servers() -> None:
    """So a worker that starts again resets its own series and nobody else's."""
    counted = Counted("c_total", "C.", ("a",))
    counted.add(("x",), 5)
    state = Family(name="s", kind="gauge", help="S.", samples={(): 1.0})
    parts = [[of_worker(family, slot) for family in (counted.family(), state)] for slot in (0, 1)]
    together, states = merged(parts)
    assert (together.labels, together.samples) == (("a", "worker"), {("x", "0"): 5, ("x", "1"): 5})
    assert states.samples == {(): 2.0}


def test_families_of_several_processes_add_up_or_take_the_highest() -> None:
    """Where their labels are equal; what cannot be added is not; and they travel as JSON."""

    def process(requests: int, seconds: float, age: float) -> list[Family]:
        counted, timed = Counted("c_total", "C.", ("a",)), Timed("t_seconds", "T.")
        counted.add(("x",), requests)
        timed.observe((), seconds)
        aged = Family(name="age", kind="gauge", help="A.", samples={(): age}, merge="max")
        return [Family.from_json(family.to_json()) for family in (counted.family(), timed.family(), aged)]

    counted, timed, aged = merged([process(1, 0.002, 7), process(2, 5.0, 3)])
    assert counted.samples == {("x",): 3}
    assert (sum(timed.samples[()][:-1]), timed.samples[()][-1]) == (2, pytest.approx(5.002))
    assert aged.samples == {(): 7}


async def test_every_kind_of_request_is_counted_with_its_source_and_outcome(tmp_path: Path) -> None:
    """The list of docs/ops.md, from real requests."""
    async with asyncio.timeout(40), open_shop(tmp_path) as shop:
        await one_of_each_kind(shop)
        answer = await shop.client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    seen = values(answer.text)
    requests = {series: value for series, value in seen.items() if series.startswith("aisle_requests_total")}
    assert requests == {
        'aisle_requests_total{path="agentic-search",source="catalog",outcome="ok"}': 1,
        'aisle_requests_total{path="agentic-search",source="short_query_bypass",outcome="ok"}': 1,
        'aisle_requests_total{path="chat-suggestions",source="catalog",outcome="ok"}': 1,
        'aisle_requests_total{path="chat-suggestions",source="error",outcome="error"}': 1,
        'aisle_requests_total{path="converse",source="catalog",outcome="ok"}': 1,
        'aisle_requests_total{path="search",source="search",outcome="error"}': 1,
        'aisle_requests_total{path="search",source="search",outcome="ok"}': 1,
    }
    assert seen['aisle_stage_seconds_count{stage="INITIAL_MARQO_SEARCH"}'] == 2
    assert seen['aisle_time_to_first_event_seconds_count{path="converse"}'] == 1
    assert seen['aisle_http_responses_total{kind="catalog",status="400"}'] == 1
    assert seen["aisle_open_streams"] == 0
    assert seen["process_resident_memory_bytes"] > 10_000_000
    assert seen["aisle_ready_processes"] == 1


async def test_a_failing_model_is_counted_by_kind_and_its_tokens_by_type(tmp_path: Path) -> None:
    """Kinds are those of docs/model.md."""
    plan = {"query_expansions": [["tent", "Tents", 0.9], ["stove", "Stoves", 0.8]], "summary": "Two."}
    async with (
        asyncio.timeout(40),
        ScriptedGemini(json_text(plan)) as gemini,
        open_shop(tmp_path, None, gemini_base_url=gemini.base_url, gemini_api_key="k" * 30) as shop,
    ):
        await shop.stream("something warm for a winter camping trip")
        gemini.script(json_text(["not a plan"]))
        await shop.stream("what should I take for a week in the north")
        seen = values((await shop.client.get("/metrics")).text)
    assert seen['aisle_requests_total{path="agentic-search",source="llm",outcome="ok"}'] == 1
    assert seen['aisle_requests_total{path="agentic-search",source="catalog",outcome="degraded"}'] == 1
    assert sum(value for series, value in seen.items() if series.startswith("aisle_degraded_total")) == 1
    assert sum(value for series, value in seen.items() if series.startswith("aisle_tokens_total")) > 0
    assert any(series.startswith("aisle_model_breaker_open{model=") for series in seen)


async def test_metrics_are_for_this_machine_and_an_operators_key(tmp_path: Path) -> None:
    """A foreign name for the loopback is a stranger; so is any other key. Source: docs/ops.md."""
    foreign = {"host": "shop.example.com"}
    async with asyncio.timeout(40), open_shop(tmp_path) as shop:
        keys = shop.services.office.keys
        plain = (await keys.create("demo", "secret", {}, actor="test")).token
        operator = (await keys.create("demo", "secret", {"operator": True}, actor="test")).token

        async def ask(**headers: str) -> httpx.Response:
            return await shop.client.get("/metrics", headers=headers)

        assert (await ask()).status_code == 200
        refused = await ask(**foreign)
        assert refused.status_code == 401
        assert "operator's secret key" in refused.json()["message"]
        assert (await ask(**foreign, authorization=f"Bearer {plain}")).status_code == 401
        assert (await ask(**foreign, authorization=f"Bearer {operator}x")).status_code == 401
        assert (await ask(**foreign, authorization=f"Bearer {operator}")).status_code == 200
        assert (await ask(**foreign, **{"x-api-key": operator})).status_code == 200
    async with asyncio.timeout(40), open_shop(tmp_path, metrics_open=True) as shop:
        assert (await shop.client.get("/metrics", headers=foreign)).status_code == 200


async def test_accounts_are_named_only_where_the_operator_wants_them(tmp_path: Path) -> None:
    """`AISLE_METRICS_BY_ACCOUNT`."""
    async with asyncio.timeout(40), open_shop(tmp_path, metrics_by_account=True) as shop:
        await shop.stream("tent")
        text = (await shop.client.get("/metrics")).text
    assert 'source="short_query_bypass",outcome="ok",account="demo"} 1' in text


async def test_a_limit_that_refuses_is_counted_by_its_scope(tmp_path: Path) -> None:
    """`aisle_rate_limited_total`."""
    async with asyncio.timeout(40), open_shop(tmp_path) as shop:
        few = {"requests_per_minute": 1}
        key = (await shop.services.office.keys.create("demo", "publishable", few, actor="test")).token
        statuses = []
        for _ in range(8):
            answer = await shop.client.post(
                "/api/v1/indexes/demo/search", json={"q": "tent"}, headers={"x-api-key": key}
            )
            statuses.append(answer.status_code)
        seen = values((await shop.client.get("/metrics")).text)
    assert statuses.count(429) == 3
    assert seen['aisle_rate_limited_total{scope="key"}'] == 3
    assert seen['aisle_http_responses_total{kind="catalog",status="429"}'] == 3


async def test_an_answer_that_comes_whole_tells_its_stages_in_a_header(tmp_path: Path) -> None:
    """`Server-Timing`, for the tools of a browser. Source: W3C Server Timing."""
    async with asyncio.timeout(40), open_shop(tmp_path) as shop:
        query = {"q": "something warm for a winter camping trip"}
        whole = await shop.client.post("/api/v1/indexes/demo/agentic-search", json=query)
        plain = await shop.client.post("/api/v1/indexes/demo/search", json=query)
        version = (await shop.client.get("/version")).json()
    named = {entry.partition(";")[0].strip() for entry in whole.headers["server-timing"].split(",")}
    assert {"answer", "search", "plan", "categories", "total"} <= named
    assert {"search", "total"} == {
        entry.partition(";")[0].strip() for entry in plain.headers["server-timing"].split(",")
    }
    assert (version["name"], version["logSchema"]) == ("aisle", 1)
