"""The body of one streamed answer: from its bytes to events, whatever a gateway has made of it.

A stream of events, or one JSON document; plain, or compressed although that was not asked for.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from worker.llm.gemini_chunks import ChunkReader
from worker.llm.language_model import Finish, ModelError, ModelEvent
from worker.llm.sse_decoder import SseDecoder

MAX_BODY_BYTES = 8_000_000
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS


class AnswerBody:
    """Takes bytes as they come and gives the events that they complete to `give`."""

    def __init__(self, headers: Mapping[str, str], give: Callable[[ModelEvent], None]) -> None:
        self._give = give
        self._reader = ChunkReader()
        self._events = SseDecoder() if "event-stream" in headers.get("content-type", "").lower() else None
        self._document = bytearray()
        self._bytes = 0
        self._inflate: Any = None
        coding = headers.get("content-encoding", "identity").strip().lower()
        if coding in ("gzip", "x-gzip", "deflate"):
            self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
        elif coding not in ("identity", ""):
            raise ModelError(
                "protocol", f"the model's answer is compressed with {coding[:20]!r}", retryable=True
            )

    @property
    def has_finish(self) -> bool:
        """Whether the model has said why it stopped."""
        return self._reader.finish is not None

    def take(self, data: bytes) -> None:
        """Take the next bytes.

        Raises:
            ModelError: They are no answer of the model, or say that it failed.
        """
        if self._inflate is not None:
            data = self._inflated(data)
        self._bytes += len(data)
        if self._bytes > MAX_BODY_BYTES:
            raise ModelError("protocol", f"the model's answer exceeds {MAX_BODY_BYTES} bytes")
        if self._events is None:
            self._document += data
            return
        for payload in self._events.feed(data):
            self._read(_load(payload))

    def end(self) -> None:
        """Take the end of the body.

        Raises:
            ModelError: As `take`.
        """
        if self._events is not None:
            for payload in self._events.flush():
                self._read(_load(payload))
        elif self._document.strip():
            document = _load(bytes(self._document).removeprefix(b"\xef\xbb\xbf"))
            for chunk in document if isinstance(document, list) else [document]:
                self._read(chunk)

    def finish(self) -> Finish:
        """Return how the answer ended.

        Raises:
            ModelError: Nothing said why the model stopped, so the answer may be cut.
        """
        return self._reader.end()

    def _read(self, chunk: Any) -> None:
        for event in self._reader.read(chunk if isinstance(chunk, dict) else {}):
            self._give(event)

    def _inflated(self, data: bytes) -> bytes:
        try:
            inflated: bytes = self._inflate.decompress(data, MAX_BODY_BYTES + 1)
        except zlib.error as error:
            raise ModelError("protocol", "the model's answer is not as compressed as it says") from error
        return inflated


def _load(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        raise ModelError("protocol", "a chunk of the model's stream is not JSON", retryable=True) from error
