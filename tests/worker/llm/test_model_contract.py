"""The contract of a language model, over real HTTP: every scenario against both clients."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from tests.support.scripted_gemini import Drop, End, Gate, Head, Script, ScriptedGemini, Send, Stall, Wait
from tests.support.scripted_gemini import scenarios as s
from tests.worker.llm.clients import CLIENTS, SCHEMA, OpenModel, asking, developer, outcome, vertex
from worker.llm.language_model import (
    Finish,
    FunctionCall,
    FunctionCallEnd,
    FunctionDeclaration,
    ModelEvent,
    PartialArgument,
    TextDelta,
    Usage,
)
from worker.planning.plan import TokenUsage

pytestmark = pytest.mark.anyio

USAGE = Usage(usage=TokenUsage(input=100, output=40))
STOP = Finish(reason="STOP")


@pytest.fixture
async def server() -> AsyncIterator[ScriptedGemini]:
    """Serve scripts on the loopback."""
    async with ScriptedGemini() as scripted:
        yield scripted


@pytest.fixture(params=sorted(CLIENTS))
def open_model(request: pytest.FixtureRequest) -> OpenModel:
    """Open one of the clients under contract."""
    return CLIENTS[request.param]


def text_of(events: list[ModelEvent]) -> str:
    """Return the text that the events carry."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def text_and_usage(*pieces: str) -> list[ModelEvent]:
    """Return what that many chunks of text say."""
    return [event for piece in pieces for event in (TextDelta(text=piece), USAGE)]


def told_once(said: list[ModelEvent]) -> list[ModelEvent]:
    """Return what chunks say as events: counts that every chunk repeats are one event."""
    events: list[ModelEvent] = []
    for event in said:
        if not isinstance(event, Usage) or event not in events:
            events.append(event)
    return events


LEAVES: list[dict[str, Any]] = [
    {"jsonPath": "$.query_expansions[0][0]", "stringValue": "warm ", "willContinue": True},
    {"jsonPath": "$.query_expansions[0][0]", "stringValue": "tent"},
    {"jsonPath": "$.query_expansions[0][2]", "numberValue": 0.9},
    {"jsonPath": "$.flag", "boolValue": True},
    {"jsonPath": "$.nothing", "nullValue": "NULL_VALUE"},
]
ROW = {"query": "tent", "label": "Tents", "confidence": 0.9}
SIGNED = {"text": "", "thoughtSignature": "c2ln"}
THOUGHT = {"text": "hmm", "thought": True}
LINES = "a\u2028b\u0085c\u00e9\U0001f3d5"

ENDINGS: dict[str, tuple[Script, list[ModelEvent]]] = {
    "text in chunks": (
        s.stream(s.text_chunk('{"a"'), s.text_chunk(": 1}"), s.finished()),
        [*text_and_usage('{"a"', ": 1}"), USAGE, STOP],
    ),
    "finish on the last text": (
        s.stream(s.text_chunk("{}", finish="STOP")),
        [*text_and_usage("{}"), STOP],
    ),
    "whole function call": (
        s.whole_call(),
        [FunctionCall(name="execute_search", args=s.PLAN), USAGE, USAGE, STOP],
    ),
    "parallel calls": (
        s.parallel_calls([ROW, ROW]),
        [
            FunctionCall(name="search_category", args=ROW),
            USAGE,
            FunctionCall(name="search_category", args=ROW),
            USAGE,
            USAGE,
            STOP,
        ],
    ),
    "call without arguments": (
        s.stream(s.sse(s.chunk({"functionCall": {"name": "execute_search"}})), s.finished()),
        [FunctionCall(name="execute_search", args={}), USAGE, USAGE, STOP],
    ),
    "growing arguments": (
        s.partial_args(LEAVES),
        [
            USAGE,
            PartialArgument(
                name="execute_search", path="$.query_expansions[0][0]", value="warm ", will_continue=True
            ),
            USAGE,
            PartialArgument(name="execute_search", path="$.query_expansions[0][0]", value="tent"),
            USAGE,
            PartialArgument(name="execute_search", path="$.query_expansions[0][2]", value=0.9),
            USAGE,
            PartialArgument(name="execute_search", path="$.flag", value=True),
            USAGE,
            PartialArgument(name="execute_search", path="$.nothing", value=None),
            USAGE,
            FunctionCallEnd(),
            USAGE,
            USAGE,
            STOP,
        ],
    ),
    "thoughts and signatures": (
        s.stream(s.sse(s.chunk(THOUGHT)), s.text_chunk("{}"), s.sse(s.chunk(SIGNED, finish="STOP"))),
        [USAGE, *text_and_usage("{}"), USAGE, STOP],
    ),
    "max tokens": (
        s.stream(s.text_chunk('{"a'), s.finished("MAX_TOKENS")),
        [*text_and_usage('{"a'), USAGE, Finish(reason="MAX_TOKENS")],
    ),
    "thinking ate the budget": (
        s.stream(s.sse(s.chunk(finish="MAX_TOKENS"))),
        [USAGE, Finish(reason="MAX_TOKENS")],
    ),
    "candidates empty, missing and without parts": (
        s.stream(
            s.sse({"candidates": []}),
            s.sse({"modelVersion": "scripted"}),
            s.sse({"candidates": [{"content": {"role": "model"}}]}),
            s.text_chunk("{}", finish="STOP"),
        ),
        [*text_and_usage("{}"), STOP],
    ),
    "several candidates": (
        s.stream(
            s.sse(
                {
                    "candidates": [
                        {"index": 0, "content": {"parts": [{"text": "first"}]}, "finishReason": "STOP"},
                        {"index": 1, "content": {"parts": [{"text": "second"}]}, "finishReason": "STOP"},
                    ]
                }
            )
        ),
        [TextDelta(text="first"), STOP],
    ),
    "unusual line ends in text": (
        s.stream(s.text_chunk(LINES), s.finished()),
        [*text_and_usage(LINES), USAGE, STOP],
    ),
    "characters cut by the network": (
        s.byte_by_byte(s.text_chunk(LINES) + s.finished(), 1),
        [*text_and_usage(LINES), USAGE, STOP],
    ),
    "usage after the finish": (
        s.stream(s.text_chunk("{}", finish="STOP"), s.sse({"usageMetadata": s.USAGE})),
        [*text_and_usage("{}"), USAGE, STOP],
    ),
    "one JSON document instead of a stream": (
        [
            Head(content_type="application/json"),
            Send(json.dumps([s.chunk({"text": "{"}), s.chunk({"text": "}"}, finish="STOP")]).encode()),
            End(),
        ],
        [*text_and_usage("{", "}"), STOP],
    ),
    "silence after the finish": (
        [Head(), Send(s.text_chunk("{}", finish="STOP")), Stall()],
        [*text_and_usage("{}"), STOP],
    ),
    "last event without its blank line": (
        s.stream(s.text_chunk("{}"), s.finished().rstrip()),
        [*text_and_usage("{}"), USAGE, STOP],
    ),
}


@pytest.mark.parametrize("scenario", ENDINGS)
async def test_a_good_stream_yields_its_events_and_finishes(
    scenario: str, open_model: OpenModel, server: ScriptedGemini
) -> None:
    """What stands on the wire is what comes out, whichever client reads it."""
    script, expected = ENDINGS[scenario]
    server.script(script)
    async with open_model(vertex(server)) as model:
        events, error = await outcome(model, asking())
    assert error is None
    assert events == told_once(expected)


HELLO = s.text_chunk("hello")
FAILURES: dict[str, tuple[Script, tuple[str, int | None, bool, float | None], int]] = {
    "key refused": (s.bad_key(), ("invalid_key", 400, False, None), 0),
    "schema refused": (
        s.error(400, "bad schema", "INVALID_ARGUMENT"),
        ("invalid_request", 400, False, None),
        0,
    ),
    "forbidden": (s.error(403, "no", "PERMISSION_DENIED"), ("invalid_key", 403, False, None), 0),
    "no such model": (s.error(404, "no", "NOT_FOUND"), ("not_found", 404, False, None), 0),
    "rate limited": (s.rate_limited("2s"), ("rate_limited", 429, True, 2.0), 0),
    "rate limited without advice": (s.rate_limited(None), ("rate_limited", 429, True, None), 0),
    "rate limited by header": (
        s.error(429, "slow", "RESOURCE_EXHAUSTED", **{"Retry-After": "3"}),
        ("rate_limited", 429, True, 3.0),
        0,
    ),
    "daily quota": (
        s.error(
            429, "quota", "RESOURCE_EXHAUSTED", [{"violations": [{"quotaId": "RequestsPerDayPerProject"}]}]
        ),
        ("rate_limited", 429, False, None),
        0,
    ),
    "internal error": (s.unavailable(500), ("unavailable", 500, True, None), 0),
    "overloaded": (s.unavailable(503), ("unavailable", 503, True, None), 0),
    "upstream deadline": (s.unavailable(504), ("unavailable", 504, True, None), 0),
    "proxy's page": (s.html_502(), ("unavailable", 502, True, None), 0),
    "error in an array": (
        [
            Head(status=503, content_type="application/json"),
            Send(b'[{"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}]'),
            End(),
        ],
        ("unavailable", 503, True, None),
        0,
    ),
    "error as first event": (s.error_in_stream(), ("unavailable", 503, True, None), 0),
    "error in mid-stream": (s.error_in_stream(HELLO), ("unavailable", 503, True, None), 2),
    "clean end without reason": (s.early_eof(HELLO), ("incomplete", None, True, None), 2),
    "empty body": (s.stream(), ("incomplete", None, True, None), 0),
    "closed in mid-body": (s.hung_up(HELLO), ("disconnected", None, True, None), 2),
    "cut JSON": (
        s.stream(HELLO, b'data: {"candidates": [{"content"\n\n'),
        ("protocol", None, True, None),
        2,
    ),
    "arguments that are no object": (
        s.stream(s.sse(s.chunk({"functionCall": {"name": "execute_search", "args": "x"}}))),
        ("protocol", None, True, None),
        0,
    ),
    "event that is no object": (s.stream(HELLO, b"data: [1]\n\n"), ("incomplete", None, True, None), 2),
    "prompt blocked": (s.blocked_prompt(), ("blocked", None, False, None), 1),
    "stopped for safety": (s.stream(HELLO, s.finished("SAFETY")), ("blocked", None, False, None), 2),
    "malformed call": (
        s.stream(s.sse(s.chunk(finish="MALFORMED_FUNCTION_CALL"))),
        ("incomplete", None, True, None),
        1,
    ),
    "unexpected call": (
        s.stream(s.sse(s.chunk(finish="UNEXPECTED_TOOL_CALL"))),
        ("incomplete", None, True, None),
        1,
    ),
}


@pytest.mark.parametrize("scenario", FAILURES)
async def test_a_failed_stream_says_what_failed(
    scenario: str, open_model: OpenModel, server: ScriptedGemini
) -> None:
    """Both clients translate a failure to the same kind, status, retry advice and events before it."""
    script, expected, events_before = FAILURES[scenario]
    server.script(script)
    async with open_model(developer(server)) as model:
        events, error = await outcome(model, asking())
    assert error is not None
    assert (error.kind, error.status, error.retryable, error.retry_after_seconds) == expected
    assert len(events) == events_before
    assert "test-key" not in str(error)


async def test_a_reset_connection_keeps_what_was_read(open_model: OpenModel, server: ScriptedGemini) -> None:
    """The events before a TCP reset stay valid, and the error says that the connection broke."""
    gate = Gate("read")
    server.script([Head(), Send(HELLO), Wait(gate), Drop()])
    async with open_model(developer(server)) as model:
        events, error = await outcome(model, asking(), on_event=gate.open)
    assert error is not None
    assert (error.kind, events) == ("disconnected", text_and_usage("hello"))


async def test_nothing_listening_is_unavailable(open_model: OpenModel, server: ScriptedGemini) -> None:
    """A refused connection is told apart from a broken one."""
    server.stop_listening()
    async with open_model(developer(server)) as model:
        events, error = await outcome(model, asking())
    assert error is not None
    assert (error.kind, error.retryable, events) == ("unavailable", True, [])


async def test_the_models_own_words_on_a_finish_are_kept(
    open_model: OpenModel, server: ScriptedGemini
) -> None:
    """`finishMessage` reaches the error, on the Developer API too."""
    malformed = s.chunk(finish="MALFORMED_FUNCTION_CALL")
    malformed["candidates"][0]["finishMessage"] = "call was: print(1)"
    server.script(s.stream(s.sse(malformed)))
    async with open_model(developer(server)) as model:
        _, error = await outcome(model, asking())
    assert str(error) == "the model stopped with MALFORMED_FUNCTION_CALL: call was: print(1)"


async def test_what_a_gateway_adds_is_ignored(open_model: OpenModel, server: ScriptedGemini) -> None:
    """Comments, ids, event names, a missing blank and [DONE] change nothing."""
    server.script(s.through_gateway())
    async with open_model(developer(server)) as model:
        events, error = await outcome(model, asking())
    assert error is None
    assert json.loads(text_of(events)) == s.PLAN
    assert events[-1] == STOP


@pytest.mark.parametrize("gates_open", [0, 1, 2])
async def test_an_event_is_yielded_before_the_next_is_sent(
    gates_open: int, open_model: OpenModel, server: ScriptedGemini
) -> None:
    """Streaming is real: a later gate is still shut when the earlier text is read."""
    gates = [Gate(str(number)) for number in range(3)]
    server.script(s.gated_text(["a", "b", "c"], gates))
    for gate in gates[: gates_open + 1]:
        gate.open()
    async with open_model(developer(server)) as model, asyncio.timeout(5):
        seen = ""
        async with aclosing(model.stream(asking())) as stream:  # type: ignore[type-var]
            async for event in stream:
                seen += event.text if isinstance(event, TextDelta) else ""
                if seen == "abc"[: gates_open + 1]:
                    break
    assert [gate.is_open for gate in gates] == [number <= gates_open for number in range(3)]


def in_camel_case(value: Any) -> Any:
    """Return JSON with its keys in camel case; Google reads `thinking_level` as `thinkingLevel`."""
    if isinstance(value, dict):
        return {re.sub(r"_(\w)", lambda m: m[1].upper(), key): in_camel_case(v) for key, v in value.items()}
    return [in_camel_case(each) for each in value] if isinstance(value, list) else value


FUNCTION = FunctionDeclaration(name="execute_search", description="Searches.", parameters=SCHEMA)
CALLS = {
    "JSON text": (developer, asking(temperature=0.5)),
    "plain text": (developer, asking(response_schema=None)),
    "function": (developer, asking(response_schema=None, functions=(FUNCTION,))),
    "growing arguments": (
        vertex,
        asking(response_schema=None, functions=(FUNCTION,), stream_function_arguments=True),
    ),
}


@pytest.mark.parametrize("call", CALLS)
async def test_both_clients_send_the_same_call(call: str, server: ScriptedGemini) -> None:
    """Path, key and body are equal, so that the model cannot tell the clients apart."""
    where, request = CALLS[call]
    server.script(s.json_text())
    sent = []
    for number, open_client in enumerate(CLIENTS.values(), 1):
        async with open_client(where(server)) as model:
            await outcome(model, request)
        seen = await server.called(number)
        sent.append((seen.path, seen.query, seen.headers["x-goog-api-key"], in_camel_case(seen.body)))
    assert sent[0] == sent[1]
    assert sent[0][3]["generationConfig"]["thinkingConfig"] == {"thinkingLevel": "MINIMAL"}
