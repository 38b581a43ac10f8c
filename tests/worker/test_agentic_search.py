"""The flow of an agentic search, over real HTTP, with the real engine and a scripted model."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.event_stream import Frame, frames
from tests.support.scripted_gemini import Gate, ScriptedGemini
from tests.support.scripted_gemini.scenarios import gated_text, json_text
from tests.support.shop import AGENTIC, Shop, open_shop

pytestmark = pytest.mark.anyio

_FACETS = '{"facets": {"fields": {"nope": {"type": "string"}}}}'
_SORT = '{"sortBy": {"fields": [{"fieldName": "nope"}]}}'
SUMMARY = json_text("Warm things for cold nights.", pieces=3)
WINTER = "something warm for a winter camping trip"


@asynccontextmanager
async def modelled_shop(folder: Path, **overrides: Any) -> AsyncIterator[tuple[Shop, ScriptedGemini]]:
    """A shop whose model is the scripted server."""
    async with ScriptedGemini() as gemini:
        settings = {"gemini_base_url": gemini.base_url, "gemini_api_key": "test-key"} | overrides
        async with open_shop(folder, **settings) as shop:
            yield shop, gemini


def _merged(events: list[Frame], field: str) -> list[Any]:
    return [event.data[field] for event in events if event.name == "delta" and field in event.data]


async def test_without_a_model_the_catalog_answers_the_whole_stream(tmp_path: Path) -> None:
    """First hits, categories with hits, a summary, a receipt, and the end. Source: docs/wire-format.md."""
    async with open_shop(tmp_path) as shop:
        events = await shop.stream(WINTER)
    assert (events[0].name, events[0].data) == ("init", {"categories": True, "summary": True})
    assert (events[-1].name, events[-1].data) == ("stream-end", {})
    run_id = events[0].id.rpartition("-")[0]
    assert [event.id for event in events] == [f"{run_id}-{number}" for number in range(1, len(events) + 1)]
    categories = [item for items in _merged(events, "categoryHits") for item in items]
    assert len(categories) >= 3
    assert all(len(item["hits"]) >= 3 for item in categories)
    assert len({item["category"].casefold() for item in categories}) == len(categories)
    assert "".join(_merged(events, "summary")).strip()
    receipt = events[-2].data["receipt"]
    assert (receipt["source"], receipt["runId"], receipt["model"]) == ("catalog", run_id, None)
    assert {"E2E", "INITIAL_MARQO_SEARCH", "CATEGORY_SEARCH_TOTAL"} <= set(receipt["timings"])
    assert "LLM_FIRST_CALL" not in receipt["timings"]


async def test_the_first_category_arrives_while_later_expansions_have_not_been_sent(tmp_path: Path) -> None:
    """A category's search fires at its closing bracket. Source: flow document, step 6."""
    gates = [Gate("open"), Gate("second"), Gate("rest")]
    pieces = [
        '{"query_expansions": [["red tent", "Red Tents", 0.9]',
        ', ["warm boots", "Boots", 0.8]',
        ', ["mug", "Mugs", 0.7]], "query_complements": ["head torch"]}',
    ]
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.script(gated_text(pieces, gates), SUMMARY)
        async with (
            asyncio.timeout(10),
            shop.client.stream("GET", AGENTIC, params={"q": WINTER}) as response,
        ):
            stream = frames(response)
            gates[0].open()
            first = await _next_category(stream)
            assert (first["category"], gates[1].is_open) == ("Red Tents", False)
            gates[1].open()
            second = await _next_category(stream)
            assert (second["category"], gates[2].is_open) == ("Boots", False)
            gates[2].open()
            rest = [frame async for frame in stream]
    assert [item["category"] for items in _merged(rest, "categoryHits") for item in items] == ["Mugs"]
    assert _merged(rest, "queryComplements") == [["head torch"]]
    assert rest[-2].data["receipt"]["source"] == "llm"
    assert rest[-1].name == "stream-end"


async def _next_category(stream: AsyncIterator[Frame]) -> dict[str, Any]:
    async for frame in stream:
        if "categoryHits" in frame.data:
            item: dict[str, Any] = frame.data["categoryHits"][0]
            return item
    raise AssertionError("the stream ended without another category")


async def test_a_filter_that_finds_nothing_is_dropped_and_the_clients_own_filter_stays(
    tmp_path: Path,
) -> None:
    """Zero hits drop the agent's part alone, marked. Source: flow document, step 7."""
    plan = {
        "query_expansions": [
            ["tent", "Dear Tents", 0.9, "price:[5000 TO *]"],
            ["boots", "Green Boots", 0.8, "color:(green)"],
            ["mug", "Broken", 0.7, "color:((("],
        ]
    }
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.script(gated_text([json.dumps(plan)], []), SUMMARY)
        events = await shop.stream(WINTER, filter="brand:(Fellhorn)")
    found = {item["category"]: item for items in _merged(events, "categoryHits") for item in items}
    assert found["Dear Tents"]["filterDropped"] is True
    assert found["Dear Tents"]["originalFilter"] == "price:[5000 TO *]"
    assert found["Dear Tents"]["appliedFilter"] == "brand:(Fellhorn)"
    assert found["Broken"]["filterDropped"] is True
    assert "filterDropped" not in found["Green Boots"]
    assert found["Green Boots"]["hits"]
    for item in found.values():
        assert all(int(hit["_id"].rpartition("-")[2]) % 2 == 1 for hit in item["hits"])


async def test_a_short_query_gets_plain_hits_and_no_model_call(tmp_path: Path) -> None:
    """Fewer than four words bypass the model. Source: flow document, step 4."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        events = await shop.stream("red tent")
        assert gemini.calls == []
    assert events[0].data == {"categories": False, "summary": False}
    assert _merged(events, "hits")[0][0]["productTitle"].startswith("Red tent")
    assert _merged(events, "categoryHits") == []
    assert events[-2].data["receipt"]["source"] == "short_query_bypass"


async def test_a_client_that_leaves_takes_its_run_and_its_model_call_with_it(tmp_path: Path) -> None:
    """After the grace no task, socket or model call of that run is left. Source: design 1."""
    gate = Gate("never")
    async with modelled_shop(tmp_path) as (shop, gemini):
        pieces = ['{"query_expansions": [["red tent", "Red Tents", 0.9]', "]}"]
        gemini.script(gated_text(pieces, [_opened(), gate]), SUMMARY)
        async with asyncio.timeout(10):
            async with shop.client.stream("GET", AGENTIC, params={"q": WINTER}) as response:
                run = shop.services.runs.find(response.headers["x-aisle-run-id"], "demo", "owner")
                await _next_category(frames(response))
                await gate.reached()
            await gemini.calls[0].gone.wait()
            assert run is not None
            assert [event.name async for event in run.events()][-1] == "stream-end"
            names = [task.get_name() for task in asyncio.all_tasks()]
        assert not [name for name in names if name.startswith(("run:", "category:", "first-hits:", "sse-"))]
        assert (await shop.stream("red tent"))[-1].name == "stream-end"


def _opened() -> Gate:
    gate = Gate("open")
    gate.open()
    return gate


async def test_a_reconnect_goes_on_in_the_same_run_without_another_model_call(tmp_path: Path) -> None:
    """`Last-Event-ID` resumes exactly where it was; a finished run has nothing more to say: 204."""
    gate = Gate("rest")
    pieces = ['{"query_expansions": [["red tent", "Red Tents", 0.9]', ', ["mug", "Mugs", 0.7]]}']
    async with modelled_shop(tmp_path, run_grace_seconds=5.0) as (shop, gemini):
        gemini.script(gated_text(pieces, [_opened(), gate]), SUMMARY)
        async with asyncio.timeout(10):
            async with shop.client.stream("GET", AGENTIC, params={"q": WINTER}) as response:
                seen: list[Frame] = []
                async for frame in frames(response):
                    seen.append(frame)
                    if "categoryHits" in frame.data:
                        break
            headers = {"last-event-id": seen[-1].id}
            async with shop.client.stream("GET", AGENTIC, params={"q": "x"}, headers=headers) as response:
                gate.open()
                seen += [frame async for frame in frames(response)]
        assert [int(frame.id.rpartition("-")[2]) for frame in seen] == list(range(1, len(seen) + 1))
        assert len([call for call in gemini.calls if "query_expansions" in json.dumps(call.body)]) == 1
        again = await shop.client.get(AGENTIC, params={"q": WINTER}, headers={"last-event-id": seen[-1].id})
        unknown = await shop.client.get(AGENTIC, params={"q": WINTER}, headers={"last-event-id": "nobody-3"})
        assert (again.status_code, unknown.status_code) == (204, 204)


async def test_a_stop_ends_the_stream_and_the_model_call_at_once(tmp_path: Path) -> None:
    """`DELETE runs/{id}` stops the bill. Source: docs/wire-format.md."""
    gate = Gate("never")
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.script(gated_text(["{", "}"], [_opened(), gate]), SUMMARY)
        async with (
            asyncio.timeout(10),
            shop.client.stream("GET", AGENTIC, params={"q": WINTER}) as response,
        ):
            stream = frames(response)
            await gate.reached()
            run_id = response.headers["x-aisle-run-id"]
            stopped = await shop.client.delete(f"/api/v1/indexes/demo/runs/{run_id}")
            assert stopped.status_code == 204
            assert [frame async for frame in stream][-1].name == "stream-end"
            await gemini.calls[0].gone.wait()
        assert (await shop.client.delete("/api/v1/indexes/demo/runs/unknown")).status_code == 404


async def test_post_answers_the_whole_as_one_object_or_streams_when_asked(tmp_path: Path) -> None:
    """POST is the aggregate of the stream, or the stream itself. Source: docs/wire-format.md."""
    async with open_shop(tmp_path) as shop:
        whole = (await shop.client.post(AGENTIC, json={"q": WINTER, "suggestFilters": True})).json()
        streamed = await shop.client.post(
            AGENTIC, json={"q": WINTER}, headers={"accept": "text/event-stream"}
        )
    assert len(whole["categoryHits"]) >= 3
    assert whole["hits"]
    assert whole["summary"]
    assert whole["source"] == "catalog"
    assert whole["suggestedFilters"]
    assert whole["processingTimeMs"] > 0
    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert "event: stream-end" in streamed.text


async def test_one_line_says_how_the_search_went_and_holds_no_query(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """`agentic_search_completed` with source and timings; the query only as a hash. Source: flow document."""
    caplog.set_level(logging.INFO)
    async with open_shop(tmp_path) as shop:
        await shop.stream(WINTER)
    lines = [record for record in caplog.records if record.getMessage() == "agentic_search_completed"]
    assert len(lines) == 1
    facts = lines[0].__dict__
    assert (facts["source"], facts["outcome"], facts["account"], facts["index"]) == (
        "catalog",
        "ok",
        "demo",
        "demo",
    )
    assert {"E2E", "INITIAL_MARQO_SEARCH", "TIME_TO_FIRST_CATEGORY"} <= set(facts["timings"])
    assert WINTER not in str(facts)


@pytest.mark.parametrize(
    ("path", "parameters", "status", "message"),
    [
        (AGENTIC, {"q": ""}, 400, "q must not be empty"),
        (AGENTIC, {}, 400, "q is required"),
        (AGENTIC, {"q": "x" * 10_000}, 400, "at most 1000"),
        (AGENTIC, {"payload": "%%%"}, 400, "not base64"),
        (AGENTIC, {"q": "warm", "maxCategories": "0"}, 400, "maxCategories"),
        (AGENTIC, {"q": "warm", "categoryResultLimit": "1000"}, 400, "less than or equal to 100"),
        (AGENTIC, {"q": "warm", "filter": "colour:(red)"}, 400, "unknown field 'colour'"),
        (AGENTIC, {"q": "warm", "filter": "color:(red"}, 400, "position"),
        (AGENTIC, {"q": "warm", "searchSettings": '{"limit": 0}'}, 400, "limit"),
        (AGENTIC, {"q": "warm", "searchSettings": '{"filter": "nope:1"}'}, 400, "unknown field 'nope'"),
        (AGENTIC, {"q": "warm", "searchSettings": _FACETS}, 400, "searchSettings.facets names unknown field"),
        (AGENTIC, {"q": "warm", "searchSettings": _SORT}, 400, "searchSettings.sortBy names unknown field"),
        (AGENTIC, {"q": "wa\ufffdrm"}, 400, "not valid UTF-8"),
        (AGENTIC.replace("demo", "nowhere"), {"q": "warm"}, 404, "does not exist"),
    ],
)
async def test_bad_input_is_refused_before_the_first_byte(
    tmp_path: Path, path: str, parameters: dict[str, str], status: int, message: str
) -> None:
    """The right 4xx with a message, in the error shape. Source: docs/wire-format.md, errors."""
    async with open_shop(tmp_path) as shop:
        response = await shop.client.get(path, params=parameters)
    assert response.status_code == status
    assert set(response.json()) == {"message", "code", "type", "link"}
    assert message in response.json()["message"]


async def test_a_payload_over_64_kib_is_too_large_in_the_url_and_in_the_body(tmp_path: Path) -> None:
    """Both ways in have the same limit. Source: docs/wire-format.md."""
    async with open_shop(tmp_path) as shop:
        assert shop.client.base_url.port is not None
        reader, writer = await asyncio.open_connection("127.0.0.1", shop.client.base_url.port)
        # Written by hand: the usual clients refuse to send a URL of this length.
        writer.write(f"GET {AGENTIC}?payload={'A' * 90_000} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        async with asyncio.timeout(5):
            assert b" 413 " in await reader.readline()
        writer.close()
        posted = await shop.client.post(AGENTIC, json={"q": "warm", "userId": "x" * 70_000})
    assert (posted.status_code, posted.json()["code"]) == (413, "payload_too_large")


async def test_a_method_that_a_path_does_not_take_is_refused_in_the_shape_of_every_error(
    tmp_path: Path,
) -> None:
    """405 like every other refusal. Source: docs/wire-format.md, errors."""
    async with open_shop(tmp_path) as shop:
        refused = await shop.client.put(AGENTIC, json={"q": "warm"})
    assert refused.status_code == 405
    assert set(refused.json()) == {"message", "code", "type", "link"}
