"""Cuts the body of an answer into its JSON chunks, whatever a gateway has made of it.

A stream of events, one JSON document, or one document a line; compressed or not. What the body begins with
decides, and not what its header calls it: no event stream begins with a bracket.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import orjson

from worker.llm.inflating import MAX_BODY_BYTES, inflater_for
from worker.llm.language_model import ModelError
from worker.llm.sse_decoder import SseDecoder

MAX_ERROR_BYTES = 64_000
"""What is read of a refusal; the status has said most of it."""
DRAIN_SECONDS = 0.5
"""How long the end of a body is waited for that has nothing more to say."""
_MARK = b"\xef\xbb\xbf"
_FIELD = re.compile(rb"(?:data|event|id|retry)?:")
_LONGEST_FIELD = len(b"retry:")
_MOST_HELD = 256
"""How much white space may stand before a body that does not say what it is."""
_LONGEST_INTEGER = 18
"""More digits than any count has; what JSON libraries agree on ends at 19."""


class AnswerPayloads:
    """Takes the bytes of one body and gives the JSON of every chunk that they complete."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._inflater = inflater_for(headers)
        self._is_called_events = "event-stream" in headers.get("content-type", "").lower()
        self._events: SseDecoder | None = None
        self._document: bytearray | None = None
        self._held = b""
        self._bytes = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Return the chunks that these bytes complete.

        Raises:
            ModelError: They are no answer of the model.
        """
        if self._inflater is not None:
            data = self._inflater.inflate(data)
        self._bytes += len(data)
        if self._bytes > MAX_BODY_BYTES:
            raise ModelError("protocol", f"the model's answer exceeds {MAX_BODY_BYTES} bytes")
        if self._events is not None:
            return self._events.feed(data)
        if self._document is None:
            data, self._held = self._held + data, b""
            if not self._is_decided(data):
                self._held = data
                return []
            return self._begin(data)
        self._document += data
        return []

    def end(self) -> list[bytes]:
        """Return the chunks that the end of the body completes.

        Raises:
            ModelError: What came is no answer of the model.
        """
        begun = self._begin(self._held) if self._events is None and self._document is None else []
        if self._events is not None:
            return [*begun, *self._events.flush()]
        body = bytes(self._document or b"").removeprefix(_MARK).strip()
        return _documents(body) if body else []

    def _is_decided(self, data: bytes) -> bool:
        begun = _beginning(data)
        if len(data) > _MOST_HELD or begun[:1] in (b"{", b"["):
            return True
        return not _MARK.startswith(data) and len(begun) >= (1 if self._is_called_events else _LONGEST_FIELD)

    def _begin(self, data: bytes) -> list[bytes]:
        begun = _beginning(data)
        is_document = begun[:1] in (b"{", b"[")
        if not is_document and (self._is_called_events or _FIELD.match(begun)):
            self._events = SseDecoder()
            return self._events.feed(data)
        self._document = bytearray(data)
        return []


def load_json(data: bytes) -> Any:
    """Return the JSON value that `data` holds, without half surrogate pairs and endless integers.

    Raises:
        ModelError: It is not JSON.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        value = json.loads(data.decode("utf-8", "replace"), strict=False, parse_int=_integer)
        # Nothing behind this can write a lone half of a pair.
        whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return json.loads(whole, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        raise ModelError("protocol", "a chunk of the model's stream is not JSON", retryable=True) from error


def error_document(headers: Mapping[str, str], content: bytes) -> Any:
    """Return the JSON that the body of a refusal holds, or None where it is a page, cut or compressed."""
    try:
        inflater = inflater_for(headers)
        return load_json(content if inflater is None else inflater.inflate(content))
    except ModelError:
        return None


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


def _beginning(data: bytes) -> bytes:
    return data.removeprefix(_MARK).lstrip()


def _documents(body: bytes) -> list[bytes]:
    try:
        document = load_json(body)
    except ModelError:
        lines = [line for line in body.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return lines
    chunks = document if isinstance(document, list) else [document]
    return [json.dumps(chunk).encode() for chunk in chunks]
