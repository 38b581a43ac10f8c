"""Whatever the model's server does, a shopper gets hits, a category and an end, over the whole worker.

Each scenario is one that the model's server or a gateway before it is known to do. Asserted for each: what
the shopper receives, what the log line says, and that no connection and no task is left.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from tests.support.event_stream import Frame
from tests.support.scripted_gemini import Script, ScriptedGemini
from tests.support.scripted_gemini import scenarios as s
from tests.support.shop import open_shop

pytestmark = pytest.mark.anyio

WINTER = "something warm for a winter camping trip"
ROWS: list[list[Any]] = [["red tent", "Red Tents", 0.9, ""], ["warm boots", "Warm Boots", 0.8, ""]]
PLAN = {"query_expansions": ROWS}
ONE_ROW = '{"query_expansions": [["red tent", "Red Tents", 0.9]'
TWO_ROWS = ONE_ROW + ', ["warm boots", "Warm Boots", 0.8]'
KEYS = ("query", "label", "confidence", "filter")
LEAVES: list[dict[str, Any]] = [
    {"jsonPath": f"$.query_expansions[{at}][{slot}]", kind: row[slot]}
    for at, row in enumerate(ROWS)
    for slot, kind in enumerate(("stringValue", "stringValue", "numberValue", "stringValue"))
]
OUR_TASKS = ("run:", "category:", "first-hits", "model:", "sse-", "flight")

ANSWERED: dict[str, Script] = {
    "JSON text": s.json_text(PLAN),
    "fence": s.json_text(f"```json\n{TWO_ROWS}]}}\n```"),
    "preamble": s.json_text(f"Here {{you}} go: {TWO_ROWS}]}}"),
    "trailing text": s.json_text(TWO_ROWS + "]} Enjoy!"),
    "NaN": s.json_text(TWO_ROWS.replace("0.8", "NaN") + "]}"),
    "malformed sibling": s.json_text(TWO_ROWS + ', ["x" "X"]]}'),
    "duplicates": s.json_text(TWO_ROWS + ', ["red tent", "Again", 0.5]]}'),
    "whole call": s.whole_call(PLAN),
    "parallel calls": s.parallel_calls([dict(zip(KEYS, row, strict=True)) for row in ROWS]),
    "growing arguments": s.partial_args(LEAVES),
    "gateway lines": s.through_gateway(PLAN),
    "characters cut by the network": s.byte_by_byte(s.text_chunk(TWO_ROWS + "]}") + s.finished(), 3),
    "thoughts": s.stream(
        s.sse(s.chunk({"text": "hm", "thought": True})), s.text_chunk(TWO_ROWS + "]}"), s.finished()
    ),
}

CUT: dict[str, Script] = {
    "MAX_TOKENS": s.stream(s.text_chunk(TWO_ROWS + ', ["x'), s.finished("MAX_TOKENS")),
    "SAFETY in mid-text": s.stream(s.text_chunk(TWO_ROWS), s.finished("SAFETY")),
    "early end": s.early_eof(s.text_chunk(TWO_ROWS)),
    "hung up": s.hung_up(s.text_chunk(TWO_ROWS)),
    "error in mid-stream": s.error_in_stream(s.text_chunk(TWO_ROWS)),
    "stall": s.stalled(s.text_chunk(TWO_ROWS)),
    "stall behind keep-alives": s.stalled(s.text_chunk(TWO_ROWS), *[b": ping\n\n"] * 3),
}

DEAD: dict[str, tuple[Script, str]] = {
    "400 key": (s.bad_key(), "invalid_key"),
    "400 schema": (s.error(400, "bad schema", "INVALID_ARGUMENT"), "invalid_request"),
    "403": (s.error(403, "no", "PERMISSION_DENIED"), "invalid_key"),
    "404": (s.error(404, "no", "NOT_FOUND"), "not_found"),
    "429": (s.rate_limited("20s"), "rate_limited"),
    "500": (s.unavailable(500), "unavailable"),
    "503": (s.unavailable(503), "unavailable"),
    "504": (s.unavailable(504), "unavailable"),
    "HTML 502": (s.html_502(), "unavailable"),
    "error as first event": (s.error_in_stream(), "unavailable"),
    "empty body": (s.stream(), "incomplete"),
    "early end in an expansion": (s.early_eof(s.text_chunk(ONE_ROW[:-3])), "incomplete"),
    "early end after one": (s.early_eof(s.text_chunk(ONE_ROW)), "incomplete"),
    "hung up": (s.hung_up(), "disconnected"),
    "reset": (s.dropped(), "disconnected"),
    "stall": (s.stalled(), "timeout"),
    "cut JSON": (s.stream(b'data: {"candidates"\n\n'), "protocol"),
    "prompt blocked": (s.blocked_prompt(), "blocked"),
    "SAFETY": (s.stream(s.finished("SAFETY")), "blocked"),
    "malformed call": (s.stream(s.finished("MALFORMED_FUNCTION_CALL")), "incomplete"),
    "unexpected call": (s.stream(s.finished("UNEXPECTED_TOOL_CALL")), "incomplete"),
    "bad arguments": (s.whole_call({"query_expansions": {"a": 1}}), "too_few_expansions"),
    "thinking ate the budget": (s.stream(s.sse(s.chunk(finish="MAX_TOKENS"))), "too_few_expansions"),
    "no candidates": (s.stream(s.sse({"candidates": []}), s.finished()), "too_few_expansions"),
    "prose": (s.json_text("I am sorry, I cannot."), "too_few_expansions"),
    "one expansion": (s.json_text(ONE_ROW + "]}"), "too_few_expansions"),
}


async def ask(
    folder: Path,
    script: Script,
    caplog: pytest.LogCaptureFixture,
    *,
    then: Script | None = None,
    **deadlines: float,
) -> tuple[list[Frame], dict[str, Any]]:
    """Return every event of a search whose model plays `script`, `then` another, and the log line's facts.

    Also asserts what holds for each scenario: hits, a category, a summary, the end, and nothing left.
    """
    async with ScriptedGemini(script, *([] if then is None else [then])) as gemini:
        settings: dict[str, Any] = {"gemini_base_url": gemini.base_url, "gemini_api_key": "test-key"}
        settings |= deadlines
        with caplog.at_level(logging.INFO):
            async with open_shop(folder, **settings) as shop, asyncio.timeout(10):
                events = await shop.stream(WINTER)
                for call in gemini.calls:
                    if not call.ended:
                        await call.gone.wait()
                names = {task.get_name() for task in asyncio.all_tasks()}
    assert [name for name in names if name.startswith(OUR_TASKS)] == []
    assert (events[0].name, events[-1].name) == ("init", "stream-end")
    assert any(event.data.get("hits") for event in events)
    assert any(item["hits"] for item in categories(events))
    deltas = [event.data for event in events if event.name == "delta"]
    assert "".join(delta.get("summary", "") for delta in deltas).strip()
    assert not any("error" in delta for delta in deltas)
    completed = [record for record in caplog.records if record.message == "agentic_search_completed"]
    assert len(completed) == 1
    return events, completed[0].__dict__


def categories(events: list[Frame]) -> list[dict[str, Any]]:
    """Return the category items of a stream, in order."""
    return [item for event in events for item in event.data.get("categoryHits", ())]


def receipt(events: list[Frame]) -> dict[str, Any]:
    """Return the receipt, which stands in the last delta."""
    found: dict[str, Any] = events[-2].data["receipt"]
    return found


@pytest.mark.parametrize("scenario", ANSWERED)
async def test_an_answer_in_any_dress_is_the_models(
    scenario: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Every wire and every wrapping gives the model's categories."""
    events, logged = await ask(tmp_path, ANSWERED[scenario], caplog)
    assert {item["category"] for item in categories(events)} == {"Red Tents", "Warm Boots"}
    assert (receipt(events)["source"], logged["source"]) == ("llm", "llm")


@pytest.mark.parametrize("scenario", CUT)
async def test_a_cut_answer_keeps_the_models_categories(
    scenario: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Two expansions are a plan; the receipt says that something was missing."""
    deadlines = {"model_gap_seconds": 0.2} if "stall" in scenario else {}
    events, logged = await ask(tmp_path, CUT[scenario], caplog, then=None, **deadlines)
    assert {item["category"] for item in categories(events)} == {"Red Tents", "Warm Boots"}
    assert (receipt(events)["source"], logged["source"]) == ("llm", "llm")
    assert receipt(events)["warnings"]


@pytest.mark.parametrize("scenario", DEAD)
async def test_a_dead_model_leaves_the_catalogs_categories(
    scenario: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The rules take over in the same stream, and receipt and log say why."""
    script, reason = DEAD[scenario]
    deadlines = {"model_first_chunk_seconds": 0.2} if scenario == "stall" else {}
    events, logged = await ask(tmp_path, script, caplog, then=None, **deadlines)
    labels = [item["category"].casefold() for item in categories(events)]
    assert len(labels) == len(set(labels)) >= 2
    assert (receipt(events)["source"], logged["source"]) == ("catalog", "catalog")
    assert any(reason in warning for warning in receipt(events)["warnings"])
    assert "test-key" not in str(receipt(events))
