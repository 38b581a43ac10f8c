"""Answers that are wrong in unexpected ways: a list for a word, a word for a number, an error behind the end.

Whatever comes, a client gives events or one `ModelError`, both clients the same, and it lives on.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.event_stream import Frame
from tests.support.scripted_gemini import Drop, End, Head, Pause, Raw, Script, ScriptedGemini, Send, Stall
from tests.support.scripted_gemini import scenarios as s
from tests.support.shop import open_shop
from tests.worker.llm.clients import CLIENTS, asking, developer, outcome
from tests.worker.llm.test_failing_model import OUR_TASKS, PLAN, categories, receipt
from tests.worker.llm.test_http_calls import answering, says
from tests.worker.observe.log_lines import logged_lines
from worker.llm.gemini_chunks import ChunkReader
from worker.llm.gemini_errors import error_from_response
from worker.llm.gemini_request import GeminiEndpoint
from worker.llm.language_model import FunctionCall, ModelError, ModelEvent, TextDelta, Usage

pytestmark = pytest.mark.anyio

CHUNKS = (s.chunk({"text": "wa"}), s.chunk({"text": "rm"}, finish="STOP"))
WHOLE = b"".join(s.sse(each) for each in CHUNKS)
LATE = {"error": {"code": 500, "message": "too late", "status": "INTERNAL"}}
CALL = {"name": "execute_search", "args": PLAN}


def plain(body: bytes, content_type: str | None, **headers: str) -> Script:
    """Answer with that body, cut every nine bytes, under that name."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    lines += [] if content_type is None else [f"content-type: {content_type}"]
    head = "\r\n".join(["HTTP/1.1 200 OK", *lines, "transfer-encoding: chunked", "", ""])
    return [Raw(head.encode()), *(Send(body[at : at + 9]) for at in range(0, len(body), 9)), End()]


def coded(coding: str, body: bytes) -> Script:
    """Answer with events that are compressed."""
    return plain(body, "text/event-stream", content_encoding=coding)


def raw_deflate(body: bytes) -> bytes:
    """Return the body in deflate without its header, as some servers send it."""
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(body) + compressor.flush()


def beside(**fields: Any) -> Script:
    """Answer as ever, with these fields in every chunk."""
    return s.stream(*(s.sse(each | fields) for each in CHUNKS))


def part(*parts: Any) -> Script:
    """Answer as ever behind a chunk of these parts."""
    return s.stream(s.sse({"candidates": [{"content": {"parts": list(parts)}}]}), WHOLE)


SAID: dict[str, Script] = {
    "gzip in two members": coded("gzip", gzip.compress(WHOLE[:150]) + gzip.compress(WHOLE[150:])),
    "gzip with rubbish behind": coded("gzip", gzip.compress(WHOLE) + b"padding"),
    "gzip behind gateway lines": coded(
        "gzip", gzip.compress(b": hi\n\nid: 1\n" + WHOLE + b"data: [DONE]\n\n")
    ),
    "deflate without its header": coded("deflate", raw_deflate(WHOLE)),
    "deflate": coded("deflate", zlib.compress(WHOLE)),
    "a list of codings": coded("GZIP, identity", gzip.compress(WHOLE)),
    "events called JSON": plain(WHOLE, "application/json"),
    "events called text": plain(b"\xef\xbb\xbf\r\n: hello\r\n\r\n" + WHOLE, "text/plain"),
    "events called nothing": plain(WHOLE, None),
    "a document called events": plain(json.dumps(CHUNKS, indent=1).encode(), "text/event-stream"),
    "a document a line": plain(
        b"\n".join(json.dumps(each).encode() for each in CHUNKS), "application/x-ndjson"
    ),
    "an error behind the finish": s.stream(WHOLE, s.sse(LATE)),
    "an error behind the finish, later": [Head(), Send(WHOLE), Pause(0.01), Send(s.sse(LATE)), End()],
    "a block behind the finish": s.stream(WHOLE, s.finished("SAFETY")),
    "another finish behind the finish": s.stream(WHOLE, s.finished("OTHER")),
    "no JSON behind the finish": s.stream(WHOLE, b"data: {no\n\n"),
    "a finish in small letters": s.stream(s.text_chunk("warm"), s.finished("stop")),
    "words for numbers": beside(usageMetadata={"promptTokenCount": "9", "candidatesTokenCount": 1.5}),
    "a list for the counts": beside(usageMetadata=["many"]),
    "an integer without end": s.stream(WHOLE[:-5] + b',"x":' + b"9" * 5000 + b"}\r\n\r\n"),
    "a word for the feedback": beside(promptFeedback="fine", modelVersion=5, responseId=[1]),
    "no error in the error": beside(error={}),
    "null for the error": beside(error=None),
    "a word for the candidate's number": s.stream(
        s.sse(
            {"candidates": [{"index": "0", "content": {"parts": [{"text": "warm"}]}, "finishReason": "STOP"}]}
        )
    ),
    "candidates of other kinds": s.stream(
        *(s.sse({"candidates": each}) for each in (None, "x", {"0": 1}, [None, 5])), WHOLE
    ),
    "parts of other kinds": part(
        "x", 7, None, {"text": 5}, {"functionCall": "f"}, {"inlineData": {"data": "%"}}
    ),
    "code in no language": part({"executableCode": {"language": 5, "code": [1]}}),
    "content that is text": s.stream(s.sse({"candidates": [{"content": "hi"}]}), WHOLE),
    "a signature that is none": part(
        {"text": "", "thoughtSignature": "***"}, {"text": "", "thoughtSignature": 5}
    ),
    "ratings of new kinds": s.stream(
        s.sse({"candidates": [{"safetyRatings": [{"category": "NEW", "probability": 3}]}]}), WHOLE
    ),
    "NUL in a chunk": s.stream(WHOLE.replace(b'"text": "wa"', b'"text": "wa", "x": "\0"')),
}

REFUSED: dict[str, tuple[Script, str]] = {
    "nothing": ([Raw(b"HTTP/1.1 204 No Content\r\n\r\n", is_whole=True)], "protocol"),
    "not modified": ([Raw(b"HTTP/1.1 304 Not Modified\r\n\r\n", is_whole=True)], "protocol"),
    "a number for the violations": (s.error(429, "q", "X", [{"violations": 5}]), "rate_limited"),
    "details of other kinds": (s.error(429, "q", "X", [5, None, [[]], {"reason": [1]}]), "rate_limited"),
    "an overload whose body does not come": ([Head(status=503), Send(b'{"err'), Stall()], "unavailable"),
    "a bad request cut off": ([Head(status=400), Send(b'{"err'), Drop()], "invalid_request"),
    "an error page without end": (
        [Head(status=500), *[Send(b"x" * 30_000)] * 5, Stall()],
        "unavailable",
    ),
    "a compressed refusal": (
        [
            Head(status=400, content_type="application/json", headers={"Content-Encoding": "gzip"}),
            Send(gzip.compress(b'{"error": {"message": "API key not valid"}}')),
            End(),
        ],
        "invalid_key",
    ),
    "a list for the finish": (
        s.stream(s.sse({"candidates": [{"finishReason": ["STOP"]}]})),
        "incomplete",
    ),
    "a table for the finish": (s.stream(s.sse({"candidates": [{"finishReason": {"a": 1}}]})), "incomplete"),
    "a list for the block": (s.stream(s.sse({"promptFeedback": {"blockReason": ["x"]}})), "blocked"),
    "a list for the error": (s.stream(s.sse({"error": [1]})), "unavailable"),
    "a huge code for the error": (s.stream(s.sse({"error": {"code": 10**30}})), "unavailable"),
    "success for the error": (s.stream(s.sse({"error": {"code": 200}})), "unavailable"),
    "gzip of nothing for ever": (coded("gzip", gzip.compress(b"") * 300), "protocol"),
    "gzip cut off": (coded("gzip", gzip.compress(WHOLE)[:60]), "incomplete"),
}


@pytest.mark.parametrize("client", CLIENTS)
async def test_what_can_be_read_is_read_by_both_clients(client: str) -> None:
    """A whole answer stays whole whatever stands beside it, and it is worth no error."""
    async with ScriptedGemini() as server, CLIENTS[client](developer(server)) as model:
        for scenario, script in SAID.items():
            server.script(script)
            events, error = await outcome(model, asking())
            said = "".join(event.text for event in events if isinstance(event, TextDelta))
            assert (said, error) == ("warm", None), scenario


@pytest.mark.parametrize("client", CLIENTS)
async def test_what_is_no_answer_has_a_name_and_the_next_call_is_answered(client: str) -> None:
    """Both clients call it the same, nobody waits for a body that does not come, and the client lives on."""
    async with ScriptedGemini() as server, CLIENTS[client](developer(server)) as model:
        for scenario, (script, kind) in REFUSED.items():
            server.script(script, s.stream(WHOLE))
            _, error = await outcome(model, asking())
            again, no_error = await outcome(model, asking())
            assert (error and error.kind, no_error) == (kind, None), scenario
            assert TextDelta(text="wa") in again, scenario


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_redirect_takes_the_key_nowhere(client: str) -> None:
    """Another host is never asked, whatever the status and wherever it points."""
    async with (
        ScriptedGemini(s.stream(WHOLE)) as elsewhere,
        ScriptedGemini() as server,
        CLIENTS[client](developer(server)) as model,
    ):
        for status in (301, 302, 303, 307, 308):
            server.script([Head(status=status, headers={"Location": elsewhere.base_url + "/x"}), End()])
            _, error = await outcome(model, asking())
            assert error is not None
            assert (error.kind, error.status) == ("protocol", status)
    assert elsewhere.connections_made == 0


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_redirect_takes_the_key_nowhere_at_the_start_either(client: str) -> None:
    """The call that warms a client up carries the key as well."""
    async with ScriptedGemini() as elsewhere:
        moved = (
            f"HTTP/1.1 302 Found\r\nLocation: {elsewhere.base_url}/x\r\nContent-Length: 0\r\n\r\n".encode()
        )
        async with answering(says(moved)) as server:
            async with CLIENTS[client](GeminiEndpoint(base_url=server.url)) as model:
                await model.warm_up("gemini-3.5-flash-lite")
            assert len(server.heads) == 1
    assert elsewhere.connections_made == 0


COUNTS: list[tuple[Any, int]] = [(-5, 0), (2**64 - 1, 1_000_000_000), ("9", 0), (True, 1), (1.5, 0)]


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_count_of_tokens_is_never_negative_and_never_absurd(client: str) -> None:
    """A count below zero would be a gift to the budget; one beyond 64 bits ends whoever writes it down."""
    async with ScriptedGemini() as server, CLIENTS[client](developer(server)) as model:
        for told, counted in COUNTS:
            server.script(beside(usageMetadata={"promptTokenCount": told, "candidatesTokenCount": 7}))
            events, _ = await outcome(model, asking())
            counts = [event.usage for event in events if isinstance(event, Usage)]
            assert (counts[-1].input, counts[-1].output) == (counted, 7), told


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_whole_call_that_says_it_goes_on_is_a_whole_call(client: str) -> None:
    """Its arguments are there; the empty call behind it ends it."""
    script = s.stream(
        s.sse(s.chunk({"functionCall": CALL | {"willContinue": True}})),
        s.sse(s.chunk({"functionCall": {}})),
        s.finished(),
    )
    async with ScriptedGemini(script) as server, CLIENTS[client](developer(server)) as model:
        events, _ = await outcome(model, asking())
    assert [event.args for event in events if isinstance(event, FunctionCall)] == [PLAN]


KILLERS: dict[str, Script] = {
    "counts beyond 64 bits": beside(
        usageMetadata={"promptTokenCount": 2**64 - 1, "thoughtsTokenCount": 2**63}
    ),
    "violations": s.error(429, "q", "RESOURCE_EXHAUSTED", [{"violations": 5}]),
    "finish": s.stream(s.sse({"candidates": [{"finishReason": {"a": []}}]})),
    "leaves": s.stream(
        s.sse(s.chunk({"functionCall": {"name": "x", "partialArgs": 5, "willContinue": True}}))
    ),
    "half a pair in the message": [
        Head(status=500, content_type="application/json"),
        Send(b'{"error": {"code": 500, "message": "x \\ud83d y"}}'),
        End(),
    ],
    "half a pair in a growing summary": s.stream(
        s.sse(s.chunk({"functionCall": {"name": "execute_search", "willContinue": True}})),
        b'data: {"candidates": [{"content": {"parts": [{"functionCall": {"partialArgs": '
        b'[{"jsonPath": "$.summary", "stringValue": "hi \\ud83d"}]}}]}, "finishReason": "STOP"}]}\n\n',
    ),
}


@pytest.mark.parametrize("client", CLIENTS)
async def test_no_answer_ends_a_server(client: str, tmp_path: Path) -> None:
    """One server meets them all: every shopper gets an answer, every answer a line, and nothing is left."""
    scripts = [*KILLERS.values(), *SAID.values(), *(script for script, _ in REFUSED.values())]
    async with ScriptedGemini() as gemini, asyncio.timeout(40):
        chosen: dict[str, Any] = {"gemini_base_url": gemini.base_url, "gemini_api_key": "k"}
        with logged_lines() as lines:
            async with open_shop(tmp_path, gemini_client=client, **chosen) as shop:
                for number, script in enumerate(scripts):
                    gemini.script(script)
                    _check(await shop.stream(f"something warm for winter camping trip {number}"))
                    for call in gemini.calls:
                        if not call.ended:
                            await call.gone.wait()
                    gemini.calls.clear()
                    for breaker in shop.services.breakers.values():
                        breaker.succeeded()
                gemini.script(s.json_text(PLAN))
                events = await shop.stream("something warm for the last camping trip")
                names = {task.get_name() for task in asyncio.all_tasks()}
    assert receipt(events)["source"] == "llm"
    assert [name for name in names if name.startswith(OUR_TASKS)] == []
    assert len(lines.completions()) == len(scripts) + 1


def _check(events: list[Frame]) -> None:
    assert (events[0].name, events[-1].name) == ("init", "stream-end")
    assert any(event.data.get("hits") for event in events)
    assert any(item["hits"] for item in categories(events))
    assert not any("error" in event.data for event in events)
    assert all(0 <= count < 2**40 for count in receipt(events)["tokens"].values())


_WORDS = st.sampled_from(
    [
        "STOP",
        "SAFETY",
        "execute_search",
        "$.query_expansions[0][0]",
        "$.x",
        "text",
        "",
        "1s",
        "\ud83d",
        "PerDay",
    ]
)
_NAMES = st.sampled_from(
    [
        *("candidates", "content", "parts", "text", "thought", "functionCall", "name", "args", "partialArgs"),
        *("jsonPath", "stringValue", "numberValue", "willContinue", "finishReason", "finishMessage", "index"),
        *("usageMetadata", "promptTokenCount", "promptFeedback", "blockReason", "error", "code", "message"),
        *("details", "violations", "quotaId", "retryDelay", "reason", "id", "thoughtSignature"),
    ]
)
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.integers(min_value=400, max_value=599), _WORDS
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_NAMES, inner, max_size=6)),
    max_leaves=12,
)


def _shaped(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return chunks that have the shape of real ones down to where the surprises begin."""
    part = st.dictionaries(_NAMES, inner, max_size=4)
    call = st.fixed_dictionaries({"functionCall": part})
    candidate = st.fixed_dictionaries(
        {"content": st.fixed_dictionaries({"parts": st.lists(st.one_of(part, call), max_size=3)})},
        optional={"finishReason": inner, "index": inner, "finishMessage": inner},
    )
    return st.fixed_dictionaries(
        {"candidates": st.lists(candidate, max_size=2)},
        optional={"usageMetadata": part, "promptFeedback": part, "error": inner},
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.dictionaries(_NAMES, _VALUES, max_size=5), _shaped(_VALUES)), max_size=4))
def test_no_chunk_makes_anything_but_events_or_one_model_error(chunks: list[dict[str, Any]]) -> None:
    """Any JSON under any of the names that are read."""
    reader = ChunkReader()
    events: list[ModelEvent] = []
    try:
        for each in chunks:
            events += reader.read(each)
        reader.end()
    except ModelError as error:
        orjson.dumps(str(error))
    for event in events:
        if isinstance(event, Usage):
            assert 0 <= event.usage.input <= 1_000_000_000


@settings(max_examples=60, deadline=None)
@given(st.integers(min_value=100, max_value=999), _VALUES, st.one_of(st.none(), st.text()))
def test_no_refusal_makes_anything_but_one_model_error(status: int, body: Any, header: str | None) -> None:
    """Any status, any body, any `Retry-After`."""
    for form in (body, {"error": body}, {"error": {"details": [body], "message": body}}):
        error = error_from_response(status, form, header)
        assert isinstance(error, ModelError)
        orjson.dumps(str(error))
        assert error.retry_after_seconds is None or error.retry_after_seconds >= 0
