"""Answers that no document describes: a shopper gets hits, a category and an end from each of them.

What is asserted for every scenario stands in `test_failing_model.ask`.
"""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted_gemini import End, HangUp, Head, Pause, Raw, Script, Send, Stall
from tests.support.scripted_gemini import scenarios as s
from tests.worker.llm.test_failing_model import PLAN, ROWS, TWO_ROWS, ask, categories, receipt

pytestmark = pytest.mark.anyio

TEXT = json.dumps(PLAN)
WHOLE = s.text_chunk(TEXT) + s.finished()
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
DEEP = "[" * 10_000 + "]" * 10_000


def compressed(coding: str, body: bytes) -> Script:
    """Answer with a body in that coding, in pieces that end anywhere."""
    pieces = [Send(body[at : at + 7]) for at in range(0, len(body), 7)]
    return [Head(headers={"Content-Encoding": coding}), *pieces, End()]


def dripping(data: bytes, pause_seconds: float) -> Script:
    """Answer a byte at a time, for ever."""
    steps = [step for byte in data for step in (Send(bytes([byte])), Pause(pause_seconds))]
    return [Head(), *steps, Stall()]


def late_events() -> Script:
    """Send the head, let time pass, then answer as if nothing had been."""
    return [Head(), Pause(0.05), Send(WHOLE), End()]


def slow_head() -> Script:
    """Let time pass before the status line."""
    return [Pause(0.05), Head(), Send(WHOLE), End()]


def usage_of(counts: Any) -> Script:
    """Answer with these counts of tokens."""
    return s.stream(s.sse(s.chunk({"text": TEXT}, finish="STOP", usageMetadata=counts)))


ANSWERED: dict[str, Script] = {
    "slow head": slow_head(),
    "slow first byte": late_events(),
    "byte order mark": s.stream(b"\xef\xbb\xbf" + WHOLE),
    "line ends of three kinds": s.stream(
        WHOLE.replace(b"\r\n\r\n", b"\n\r\n", 1).replace(b"\r\n\r\n", b"\r\r")
    ),
    "everything in one chunk": s.stream(b"".join([WHOLE, b": bye\n\n", b"data: [DONE]\n\n"])),
    "a byte a chunk": s.byte_by_byte(WHOLE),
    "gzip": compressed("gzip", gzip.compress(WHOLE)),
    "deflate": compressed("deflate", zlib.compress(WHOLE)),
    "interim answers": [
        Raw(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"),
        Head(),
        Send(WHOLE),
        End(),
    ],
    "length instead of chunks": [
        Raw(SSE_HEAD + b"content-length: %d\r\n\r\n" % len(WHOLE) + WHOLE, is_whole=True),
    ],
    "body as long as the connection": [Raw(SSE_HEAD + b"\r\n" + WHOLE), HangUp()],
    "trailers behind the body": [
        Raw(
            SSE_HEAD
            + b"transfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\nx-late: yes\r\n\r\n" % (len(WHOLE), WHOLE),
            is_whole=True,
        ),
    ],
    "one JSON document with a mark": [
        Head(content_type="application/json"),
        Send(b"\xef\xbb\xbf" + json.dumps([s.chunk({"text": TEXT}, finish="STOP")]).encode()),
        End(),
    ],
    "usage missing": s.stream(
        s.sse({"candidates": [{"content": {"parts": [{"text": TEXT}]}, "finishReason": "STOP"}]})
    ),
    "usage of another kind": usage_of(["many"]),
    "counts that are no counts": usage_of({"promptTokenCount": "9", "candidatesTokenCount": None}),
    "two candidates": s.stream(
        s.sse(
            {
                "candidates": [
                    {"index": 1, "content": {"parts": [{"text": "no plan"}]}, "finishReason": "SAFETY"},
                    {"index": 0, "content": {"parts": [{"text": TEXT}]}, "finishReason": "STOP"},
                ]
            }
        )
    ),
    "duplicate keys": s.json_text(f'{TWO_ROWS}], "query_expansions": []}}'),
    "confidence beyond numbers": s.json_text(TWO_ROWS.replace("0.8", "1e999") + "]}"),
    "deep nesting behind the rows": s.json_text(f'{TWO_ROWS}], "note": {DEEP}}}'),
    "deep nesting among the rows": s.json_text(f"{TWO_ROWS}, {DEEP}]}}"),
    "null around the rows": s.json_text(
        json.dumps({"strategy": None, "message": None, "query_expansions": [None, *ROWS, None], "x": None})
    ),
    "rows with words for numbers": s.json_text(TWO_ROWS.replace("0.8", '"high"') + "]}"),
    "parts of unknown kinds": s.stream(
        s.sse(s.chunk({"executableCode": {"code": "1"}}, {"inlineData": {"data": "AA"}}, {"text": TEXT}, {})),
        s.finished(),
    ),
    "silence behind the finish": [Head(), Send(WHOLE), Stall()],
    "rubbish behind the finish": [Head(), Send(WHOLE), Raw(b"not a chunk\r\n"), HangUp()],
}

DEAD: dict[str, tuple[Script, str]] = {
    "page for an answer": (
        [Head(content_type="text/html"), Send(b"<html>Log in</html>"), End()],
        "protocol",
    ),
    "nothing for an answer": ([Raw(SSE_HEAD + b"content-length: 0\r\n\r\n", is_whole=True)], "incomplete"),
    "204": ([Raw(b"HTTP/1.1 204 No Content\r\n\r\n", is_whole=True)], "protocol"),
    "redirect": (
        [Head(status=302, headers={"Location": "http://127.0.0.1:1/"}), Send(b""), HangUp()],
        "protocol",
    ),
    "head, then silence": ([Head(), Stall()], "timeout"),
    "a drop, then a drop": (dripping(b": " + b"." * 400, 0.01), "timeout"),
    "an event of megabytes": (
        [Head(), *[Send(b"data: " + b"x" * 600_000)] * 3, Stall()],
        "protocol",
    ),
    "not HTTP": ([Raw(b"220 smtp.example ESMTP\r\n"), Stall()], "disconnected"),
    "a switch of protocols": (
        [Raw(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n"), Stall()],
        "disconnected",
    ),
    "endless headers": (
        [Raw(b"HTTP/1.1 200 OK\r\n" + b"x-more: %b\r\n" % (b"y" * 1000) * 100), Stall()],
        "disconnected",
    ),
    "a chunk's size that is none": (
        [Raw(SSE_HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n"), Stall()],
        "disconnected",
    ),
    "gzip that is none": (compressed("gzip", WHOLE), "protocol"),
    "an unknown coding": (compressed("br", WHOLE), "protocol"),
    "a bomb": (compressed("gzip", gzip.compress(b"data: " + b" " * 20_000_000)), "protocol"),
    "expansions null": (s.json_text('{"query_expansions": null}'), "too_few_expansions"),
    "a plan of nothing but depth": (s.json_text('{"query_expansions": ' + DEEP + "}"), "too_few_expansions"),
    "a chunk of nothing but depth": (s.stream(b"data: " + DEEP.encode() + b"\n\n"), "protocol"),
    "a call of another name": (s.whole_call(PLAN, name="delete_shop"), "too_few_expansions"),
    "arguments as text": (s.whole_call(json.dumps(PLAN)), "protocol"),
    "an error that is text": (s.stream(s.sse({"error": "overloaded"})), "unavailable"),
    "an answer in a list": (s.stream(b"data: [[]]\n\n", s.finished()), "too_few_expansions"),
    "come back tomorrow": (
        s.error(429, "slow", "RESOURCE_EXHAUSTED", **{"Retry-After": "Wed, 21 Oct 2071 07:28:00 GMT"}),
        "rate_limited",
    ),
}


@pytest.mark.parametrize("scenario", ANSWERED)
async def test_a_strange_answer_is_still_the_models(
    scenario: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What can be read is read, however it was sent."""
    events, logged = await ask(tmp_path, ANSWERED[scenario], caplog)
    assert {item["category"] for item in categories(events)} == {"Red Tents", "Warm Boots"}
    assert (receipt(events)["source"], logged["source"]) == ("llm", "llm")


@pytest.mark.parametrize("scenario", DEAD)
async def test_what_cannot_be_read_leaves_the_catalogs_categories(
    scenario: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """No answer keeps the shopper waiting beyond its deadline, and receipt and log say why."""
    script, reason = DEAD[scenario]
    deadlines = {"model_first_chunk_seconds": 0.2} if "silence" in scenario or "drop" in scenario else {}
    events, logged = await ask(tmp_path, script, caplog, then=None, **deadlines)
    assert len({item["category"].casefold() for item in categories(events)}) >= 2
    assert (receipt(events)["source"], logged["source"]) == ("catalog", "catalog")
    assert any(reason in warning for warning in receipt(events)["warnings"])


async def test_a_date_to_come_back_at_that_is_past_is_taken_at_its_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """`Retry-After` may be a date; one that has passed means at once, and the second attempt answers."""
    refusal = s.error(429, "slow", "RESOURCE_EXHAUSTED", **{"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})
    events, logged = await ask(tmp_path, refusal, caplog, then=s.json_text(PLAN))
    assert (receipt(events)["source"], logged["source"]) == ("llm", "llm")
