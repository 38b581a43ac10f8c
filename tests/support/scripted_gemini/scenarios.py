"""Scripts for everything that the model's server, or a gateway before it, is known to do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.scripted_gemini.steps import Drop, End, Gate, HangUp, Head, Script, Send, Stall, Step, Wait

PLAN: dict[str, Any] = {
    "query_expansions": [
        ["4 season tent", "Tents", 0.95],
        ["winter sleeping bag", "Sleeping Bags", 0.9],
        ["insulated sleeping pad", "Sleeping Pads", 0.8],
    ],
    "query_complements": ["camping stove"],
    "strategy": "content_only",
}
"""A small plan that asks for three categories."""

USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 40, "totalTokenCount": 140}


def sse(payload: Mapping[str, Any]) -> bytes:
    """Return one SSE event of that JSON."""
    return b"data: " + json.dumps(payload, ensure_ascii=False).encode() + b"\r\n\r\n"


def chunk(*parts: Mapping[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    """Return one response chunk with these parts; `more` goes beside the candidates."""
    candidate: dict[str, Any] = {"index": 0}
    if parts:
        candidate["content"] = {"role": "model", "parts": list(parts)}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "scripted"} | more


def text_chunk(text: str, finish: str | None = None) -> bytes:
    """Return the SSE event of one piece of text."""
    return sse(chunk({"text": text}, finish=finish))


def finished(reason: str = "STOP") -> bytes:
    """Return the SSE event of a last chunk that has nothing but its reason."""
    return sse(chunk({"text": ""}, finish=reason))


def split(text: str, pieces: int) -> list[str]:
    """Cut `text` into about that many equal pieces."""
    size = max(1, -(-len(text) // pieces))
    return [text[start : start + size] for start in range(0, len(text), size)]


def stream(*data: bytes) -> Script:
    """Send these bytes, one HTTP chunk each, and end properly."""
    return [Head(), *(Send(each) for each in data), End()]


def json_text(answer: Any = None, pieces: int = 6) -> Script:
    """Answer with JSON text in so many chunks; a string is sent as it is."""
    text = answer if isinstance(answer, str) else json.dumps(PLAN if answer is None else answer)
    return stream(*(text_chunk(piece) for piece in split(text, pieces)), finished())


def gated_text(pieces: Sequence[str], gates: Sequence[Gate]) -> Script:
    """Send each piece of text behind its own gate, then finish; missing gates stand open."""
    steps: list[Step] = [Head()]
    for number, piece in enumerate(pieces):
        if number < len(gates):
            steps.append(Wait(gates[number]))
        steps.append(Send(text_chunk(piece)))
    return [*steps, Send(finished()), End()]


def whole_call(args: Any = None, name: str = "execute_search") -> Script:
    """Answer with one whole function call."""
    call = {"functionCall": {"name": name, "args": PLAN if args is None else args, "id": "call-1"}}
    return stream(sse(chunk(call | {"thoughtSignature": "c2ln"})), finished())


def parallel_calls(rows: Sequence[Mapping[str, Any]]) -> Script:
    """Answer with one `search_category` call per row, each in a chunk of its own."""
    calls = [sse(chunk({"functionCall": {"name": "search_category", "args": dict(row)}})) for row in rows]
    return stream(*calls, finished())


def partial_args(leaves: Sequence[Mapping[str, Any]], name: str = "execute_search") -> Script:
    """Answer with a function call whose arguments grow leaf by leaf."""
    opening = sse(chunk({"functionCall": {"name": name, "willContinue": True}, "thoughtSignature": "c2ln"}))
    grown = [sse(chunk({"functionCall": {"partialArgs": [leaf], "willContinue": True}})) for leaf in leaves]
    return stream(opening, *grown, sse(chunk({"functionCall": {}})), finished())


def error(status: int, message: str, code: str, details: Sequence[Any] = (), **headers: str) -> Script:
    """Refuse the call with Google's error body."""
    body = {"error": {"code": status, "message": message, "status": code, "details": list(details)}}
    return [
        Head(status=status, content_type="application/json", headers=headers),
        Send(json.dumps(body).encode()),
        End(),
    ]


def rate_limited(retry_delay: str | None = "2s") -> Script:
    """Answer 429, with RetryInfo unless `retry_delay` is None."""
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": retry_delay}
    details = [] if retry_delay is None else [info]
    return error(429, "quota exceeded", "RESOURCE_EXHAUSTED", details)


def unavailable(status: int = 503) -> Script:
    """Answer 500, 503 or 504."""
    names = {500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}
    return error(status, "the model is overloaded", names[status])


def bad_key() -> Script:
    """Answer 400 as for a key that is not valid."""
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    return error(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT", [info])


def html_502() -> Script:
    """Answer as a proxy does whose upstream is gone."""
    page = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
    return [Head(status=502, content_type="text/html"), Send(page), End()]


def error_in_stream(*before: bytes, status: int = 503) -> Script:
    """Send these events, then an error as an event."""
    body = {"error": {"code": status, "message": "overloaded mid-stream", "status": "UNAVAILABLE"}}
    return stream(*before, sse(body))


def stalled(*before: bytes) -> Script:
    """Send these events, then nothing more."""
    return [Head(), *(Send(each) for each in before), Stall()]


def slow_headers(gate: Gate) -> Script:
    """Send not even a status line until the gate opens."""
    return [Wait(gate), *json_text()]


def early_eof(*before: bytes) -> Script:
    """Send these events and end the body properly, without a finish reason."""
    return stream(*before)


def hung_up(*before: bytes) -> Script:
    """Send these events and close the connection before the body's end."""
    return [Head(), *(Send(each) for each in before), HangUp()]


def dropped(*before: bytes) -> Script:
    """Send these events and reset the connection."""
    return [Head(), *(Send(each) for each in before), Drop()]


def blocked_prompt() -> Script:
    """Refuse the prompt: no candidates, a block reason."""
    feedback = {"blockReason": "PROHIBITED_CONTENT"}
    return stream(sse({"promptFeedback": feedback, "usageMetadata": USAGE}))


def through_gateway(answer: Any = None) -> Script:
    """Answer with JSON text in chunks dressed as gateways dress them."""
    pieces = split(json.dumps(PLAN if answer is None else answer), 4)
    events = [json.dumps(chunk({"text": piece})).encode() for piece in pieces]
    last = json.dumps(chunk({"text": ""}, finish="STOP")).encode()
    return stream(
        b": keep-alive\n\n",
        b"event: message\nid: 1\ndata: " + events[0] + b"\n\n",
        b"data:" + events[1] + b"\n\nretry: 100\n",
        b": ping\r\n\r\n"
        + b"\r\n".join(b"data: " + line for line in _over_two_lines(events[2]))
        + b"\r\n\r\n",
        b"".join(b"data: " + each + b"\r\r" for each in events[3:]),
        b"data: " + last + b"\n\ndata: [DONE]\n\n",
    )


def _over_two_lines(event: bytes) -> tuple[bytes, bytes]:
    first, _, rest = event.partition(b", ")
    return first + b",", rest


def byte_by_byte(data: bytes, size: int = 1) -> Script:
    """Send these bytes in HTTP chunks of `size`, cutting characters wherever they fall."""
    return stream(*(data[start : start + size] for start in range(0, len(data), size)))
