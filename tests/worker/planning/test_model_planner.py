"""The model planner: what it asks, and that each part of a plan is passed on as it arrives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from search_proxy.caller import Caller
from search_proxy.errors import SearchUnavailable
from search_proxy.models import IndexDescription
from tests.support.scripted_gemini import Gate, Head, Pause, Script, ScriptedGemini, Send, Stall
from tests.support.scripted_gemini import scenarios as s
from tests.worker.planning.scripted_planning import DESCRIPTION, HASTY, REQUEST, model_planner
from worker.llm.prompts import read_prompt
from worker.llm.search_tool import Wire
from worker.planning.facet_context import facet_context
from worker.planning.model_planner import ModelPlanningFailed
from worker.planning.plan import (
    Interaction,
    PlanDecision,
    PlanEvent,
    PlanReport,
    PlanSource,
    QueryComplement,
    QueryExpansion,
    Strategy,
    TokenUsage,
)

pytestmark = pytest.mark.anyio

ROWS = s.PLAN["query_expansions"]
EXPANSIONS = [QueryExpansion(query=q, label=label, confidence=c) for q, label, c in ROWS]
ROW_KEYS = ("query", "label", "confidence")


@pytest.fixture
async def server() -> AsyncIterator[ScriptedGemini]:
    """Serve scripts on the loopback."""
    async with ScriptedGemini(s.json_text()) as scripted:
        yield scripted


def leaves() -> list[dict[str, Any]]:
    """Return the plan's rows as leaves of growing arguments."""
    kinds = ("stringValue", "stringValue", "numberValue")
    return [
        {"jsonPath": f"$.query_expansions[{at}][{slot}]", kinds[slot]: row[slot]}
        for at, row in enumerate(ROWS)
        for slot in range(3)
    ]


WIRES: dict[Wire, Any] = {
    "structured": s.json_text(),
    "function_call": s.whole_call(),
    "parallel_calls": s.parallel_calls([dict(zip(ROW_KEYS, row, strict=True)) for row in ROWS]),
    "partial_args": s.partial_args(leaves()),
}


@pytest.mark.parametrize("wire", WIRES)
async def test_a_plan_is_read_from_each_wire(wire: Wire, server: ScriptedGemini) -> None:
    """The deployment chooses the wire; the events are the same."""
    server.script(WIRES[wire])
    events: list[PlanEvent] = []
    async with model_planner(server, wire=wire) as planner:
        report = await planner.plan(REQUEST, events.append)
    assert [event for event in events if isinstance(event, QueryExpansion)] == EXPANSIONS
    assert report == PlanReport(
        source=PlanSource.LLM, model="gemini-3.5-flash-lite", usage=TokenUsage(input=100, output=40)
    )
    body = server.calls[0].body
    assert ("tools" in body) == (wire != "structured")
    assert ("responseJsonSchema" in body["generationConfig"]) == (wire == "structured")


async def test_an_expansion_is_emitted_while_the_next_is_still_being_written(server: ScriptedGemini) -> None:
    """The gate before the second expansion is shut when the first is out."""
    text = json.dumps(s.PLAN)
    cut = text.index("]") + 1
    gates = [Gate("first"), Gate("second")]
    server.script(s.gated_text([text[:cut], text[cut:]], gates))
    emitted: asyncio.Queue[PlanEvent] = asyncio.Queue()
    async with model_planner(server) as planner, asyncio.timeout(5), asyncio.TaskGroup() as group:
        planned = group.create_task(planner.plan(REQUEST, emitted.put_nowait), name="plan")
        gates[0].open()
        assert await emitted.get() == EXPANSIONS[0]
        assert not gates[1].is_open
        gates[1].open()
        assert await emitted.get() == EXPANSIONS[1]
        await planned


async def test_the_call_is_stable_prefix_then_conversation_then_query(server: ScriptedGemini) -> None:
    """Prompt, format and fields come first; history holds queries and our summaries only."""
    history = (Interaction(query="tents", summary="Showed 12 tents."), Interaction(query="blue", summary=""))
    async with model_planner(server) as planner:
        await planner.plan(replace(REQUEST, history=history), lambda event: None)
    body = server.calls[0].body
    system = body["systemInstruction"]["parts"][0]["text"]
    parts = [read_prompt("base"), read_prompt("format"), read_prompt("filters"), facet_context(DESCRIPTION)]
    assert system == "\n\n".join(parts)
    assert [(each["role"], each["parts"][0]["text"]) for each in body["contents"]] == [
        ("user", "tents"),
        ("model", "Showed 12 tents."),
        ("user", "blue"),
        ("model", "(products were shown)"),
        ("user", "something warm"),
    ]
    assert list(body) == ["systemInstruction", "generationConfig", "contents"]
    properties = list(body["generationConfig"]["responseJsonSchema"]["properties"])
    assert properties[:2] == ["strategy", "query_expansions"]


async def test_the_accounts_prompt_stands_in_place_of_the_base(server: ScriptedGemini) -> None:
    """The format stays, whatever a merchant writes."""
    async with model_planner(server) as planner:
        await planner.plan(replace(REQUEST, system_prompt="Only sell boats."), lambda event: None)
    system = server.calls[0].body["systemInstruction"]["parts"][0]["text"]
    assert system.startswith(f"Only sell boats.\n\n{read_prompt('format')}")
    assert read_prompt("base") not in system


async def test_without_filters_no_field_is_named(server: ScriptedGemini) -> None:
    """Neither prompt nor schema offers a filter, and one that comes is left out."""
    server.script(s.json_text({"query_expansions": [["a", "A", 1, "color:(red)"]]}))
    events: list[PlanEvent] = []
    async with model_planner(server) as planner:
        report = await planner.plan(replace(REQUEST, allow_filters=False), events.append)
    body = server.calls[0].body
    assert "catalog_fields>\n" not in body["systemInstruction"]["parts"][0]["text"]
    items = body["generationConfig"]["responseJsonSchema"]["properties"]["query_expansions"]["items"]
    assert items["maxItems"] == 3
    assert events == [QueryExpansion(query="a", label="A", confidence=1.0)]
    assert report.warnings == ("unwanted_filter=1",)


async def test_an_index_that_cannot_be_described_is_planned_without_filters(server: ScriptedGemini) -> None:
    """Planning waits for nothing."""

    async def unavailable(caller: Caller, index: str) -> IndexDescription:
        raise SearchUnavailable("down")

    async with model_planner(server, unavailable) as planner:
        report = await planner.plan(REQUEST, lambda event: None)
    assert report.warnings == ("no_facet_context=1",)


async def test_the_rest_of_a_plan_is_passed_on(server: ScriptedGemini) -> None:
    """Complements and strategy follow the expansions."""
    events: list[PlanEvent] = []
    async with model_planner(server) as planner:
        await planner.plan(REQUEST, events.append)
    assert events[3:] == [
        QueryComplement(query="camping stove"),
        PlanDecision(strategy=Strategy.CONTENT_ONLY),
    ]


async def test_a_cut_answer_is_reported_as_incomplete(server: ScriptedGemini) -> None:
    """MAX_TOKENS keeps what was whole, and the answer must not be cached."""
    server.script(s.stream(s.text_chunk(json.dumps(s.PLAN)[:80]), s.finished("MAX_TOKENS")))
    events: list[PlanEvent] = []
    async with model_planner(server) as planner:
        report = await planner.plan(REQUEST, events.append)
    assert events == EXPANSIONS[:1]
    assert (report.complete, report.warnings) == (False, ("plan_cut=1", "max_tokens=1"))


def _paced_then_stalled() -> Script:
    """Send the second chunk well within the gap after the first, then nothing."""
    first, second = (s.text_chunk(piece) for piece in (json.dumps(s.PLAN)[:40], json.dumps(s.PLAN)[40:80]))
    return [Head(), Send(first), Pause(0.03), Send(second), Stall()]


STALLS = {
    "no headers": (s.slow_headers, 0),
    "no first event": (lambda gate: s.stalled(), 0),
    "a gap": (lambda gate: s.stalled(s.text_chunk(json.dumps(s.PLAN)[:80])), 1),
    "a gap after chunks at a pace": (lambda gate: _paced_then_stalled(), 1),
    "keep-alives only": (lambda gate: s.stalled(*[b": ping\n\n"] * 5), 0),
}


@pytest.mark.parametrize("stall", STALLS)
async def test_a_stalled_model_fails_at_its_deadline(stall: str, server: ScriptedGemini) -> None:
    """What came before stays, and the socket is closed."""
    build, came = STALLS[stall]
    server.script(build(Gate("never")))
    events: list[PlanEvent] = []
    deadlines = replace(HASTY, first_event_seconds=60.0) if came else HASTY
    async with model_planner(server, deadlines=deadlines) as planner, asyncio.timeout(5):
        with pytest.raises(ModelPlanningFailed) as caught:
            await planner.plan(REQUEST, events.append)
        assert caught.value.error.kind == "timeout"
        assert events == EXPANSIONS[:came]
        await server.calls[0].gone.wait()


async def test_the_whole_answer_has_a_deadline_of_its_own(server: ScriptedGemini) -> None:
    """A model that keeps sending is stopped all the same."""
    chunks = [s.text_chunk(" ")] * 5
    server.script(s.stalled(*chunks))
    deadlines = replace(HASTY, first_event_seconds=4.0, gap_seconds=4.0, total_seconds=0.05)
    async with model_planner(server, deadlines=deadlines) as planner, asyncio.timeout(5):
        with pytest.raises(ModelPlanningFailed) as caught:
            await planner.plan(REQUEST, lambda event: None)
    assert caught.value.error.kind == "timeout"
