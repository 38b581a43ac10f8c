"""The model and the search engine of a benchmark, on the loop of its clients, and what they saw of a stream.

Both are protocols that write prepared bytes at absolute times, so that lateness does not add up. They tell
streams apart by the last word of a shopper's query, which the plan repeats in its first category:
`trip bbbcdf` and `tent bbbcdf`. It is a number in letters, because digits are read as prices and sizes.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import orjson

from bench.exact_timers import ExactTimers
from bench.mock_search import found_products
from tests.support.scripted_gemini.paced import SUMMARY, Pace, PacedModel
from tests.support.scripted_gemini.scenarios import chunk, finished, split, text_chunk

SEARCH_SECONDS = 0.03
_PACE = Pace()
_LETTERS = str.maketrans("0123456789", "bcdfghjklm")
_PLACE = "bbbbbb"
_ASKED = re.compile(rb"trip ([b-m]{6})")
_CATEGORY = re.compile(rb"tent ([b-m]{6})")
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\n%b\r\n\r\n"
_STREAM_HEAD = _HEAD % (b"text/event-stream", b"transfer-encoding: chunked")
_LAST_CHUNK = b"0\r\n\r\n"


def numbered_query(number: int) -> str:
    """Return a query that nobody else asks."""
    return f"something warm for winter camping trip {f'{number:06d}'.translate(_LETTERS)}"


@dataclass(slots=True)
class Seen:
    """When what of one stream came and went, on `time.perf_counter`; 0 where it did not."""

    model_called: float = 0.0
    category_written: float = 0.0
    search_asked: float = 0.0
    search_answered: float = 0.0


@dataclass(slots=True, kw_only=True)
class Upstreams:
    """Where both listen, and what was seen of each stream by the last word of its query."""

    model_url: str
    search_url: str
    seen: dict[str, Seen] = field(default_factory=dict)

    def of(self, word: str) -> Seen:
        """Return what was seen of a stream, to be added to."""
        return self.seen.setdefault(word, Seen())


@asynccontextmanager
async def open_upstreams() -> AsyncIterator[Upstreams]:
    """Listen until the block is left."""
    loop = asyncio.get_running_loop()
    timers = ExactTimers()
    upstreams = Upstreams(model_url="", search_url="")
    answers, products = _Answers(), _whole(orjson.dumps(found_products()))
    model = await loop.create_server(lambda: _ModelConnection(timers, upstreams, answers), "127.0.0.1", 0)
    search = await loop.create_server(lambda: _SearchConnection(timers, upstreams, products), "127.0.0.1", 0)
    upstreams.model_url, upstreams.search_url = (
        f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in (model, search)
    )
    try:
        yield upstreams
    finally:
        model.close()
        search.close()
        timers.close()


def ideal_seconds() -> float:
    """Return when the first category can be there at the earliest, after the request."""
    return _due_seconds(_Answers().closing_piece) + SEARCH_SECONDS


def _due_seconds(piece: int) -> float:
    return _PACE.first_byte_seconds + piece * _PACE.gap_seconds


class _Answers:
    """The model's answers, as HTTP chunks ready to write."""

    def __init__(self) -> None:
        plan = PacedModel.plan(f" {_PLACE}")
        text = json.dumps(plan)
        self._pieces = split(text, _PACE.plan_chunks)
        size, place = len(self._pieces[0]), text.index(_PLACE)
        self._marked = range(place // size, (place + len(_PLACE) - 1) // size + 1)
        self._place = place - self._marked.start * size
        self.closing_piece = text.index("]") // size
        self._plan = [_framed(text_chunk(piece)) for piece in self._pieces]
        self._end = _framed(finished()) + _LAST_CHUNK
        self.summary = [_framed(text_chunk(piece)) for piece in split(SUMMARY, _PACE.summary_chunks)]
        self.summary.append(self._end)
        self.whole = _whole(json.dumps(chunk({"text": text}, finish="STOP")).encode())
        self.known = _whole(b'{"name": "models/paced"}')

    def plan(self, word: str) -> list[bytes]:
        """Return the plan of the stream of that word, piece by piece."""
        marked = "".join(self._pieces[piece] for piece in self._marked)
        marked = marked[: self._place] + word + marked[self._place + len(word) :]
        frames, size = list(self._plan), len(self._pieces[0])
        for piece in self._marked:
            start = (piece - self._marked.start) * size
            frames[piece] = _framed(text_chunk(marked[start : start + size]))
        frames.append(self._end)
        return frames


class _Connection(asyncio.Protocol):
    """Reads requests, one at a time, and hands on the head and the body of each."""

    def __init__(self, timers: ExactTimers, upstreams: Upstreams) -> None:
        self.timers = timers
        self.upstreams = upstreams
        self._received = b""
        self._missing = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
        if len(body) >= length:
            self._received = b""
            self.asked(head, body, time.perf_counter())

    def asked(self, head: bytes, body: bytes, now: float) -> None:
        raise NotImplementedError

    def write(self, data: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(data)


class _SearchConnection(_Connection):
    """Answers each request with the same products, 30 ms after its last byte."""

    def __init__(self, timers: ExactTimers, upstreams: Upstreams, products: bytes) -> None:
        super().__init__(timers, upstreams)
        self._products = products

    def asked(self, head: bytes, body: bytes, now: float) -> None:
        word = _CATEGORY.search(body)
        if word is None:
            self.timers.call_at(now + SEARCH_SECONDS, lambda: self.write(self._products))
            return
        seen = self.upstreams.of(word[1].decode())
        seen.search_asked = now
        self.timers.call_at(now + SEARCH_SECONDS, lambda: self._answer(seen))

    def _answer(self, seen: Seen) -> None:
        seen.search_answered = time.perf_counter()
        self.write(self._products)


class _ModelConnection(_Connection):
    """Streams a plan to who asks for JSON and a summary to who does not."""

    def __init__(self, timers: ExactTimers, upstreams: Upstreams, answers: _Answers) -> None:
        super().__init__(timers, upstreams)
        self._answers = answers

    def asked(self, head: bytes, body: bytes, now: float) -> None:
        if head.startswith(b"GET"):
            self.write(self._answers.known)
            return
        word = _ASKED.search(body) if b"responseMimeType" in body else None
        if word is None:
            self.write(_STREAM_HEAD)
            self._play(self._answers.summary, now, lambda: None)
            return
        seen = self.upstreams.of(word[1].decode())
        seen.model_called = now
        if b":generateContent" in head:
            whole = self._answers.whole.replace(_PLACE.encode(), word[1])
            self.timers.call_at(now + _due_seconds(_PACE.plan_chunks), lambda: self._write_whole(whole, seen))
            return
        self.write(_STREAM_HEAD)
        self._play(self._answers.plan(word[1].decode()), now, lambda: self._note(seen))

    def _write_whole(self, whole: bytes, seen: Seen) -> None:
        self._note(seen)
        self.write(whole)

    def _play(self, frames: list[bytes], since: float, closing: Callable[[], None]) -> None:
        """Write each frame when it is due; `closing` is called before the one that closes the category."""
        place = 0

        def write_next() -> None:
            nonlocal place
            if self.transport.is_closing():
                return
            if place == self._answers.closing_piece:
                closing()
            self.transport.write(frames[place])
            place += 1
            if place < len(frames):
                self.timers.call_at(since + _due_seconds(place), write_next)

        self.timers.call_at(since + _due_seconds(0), write_next)

    def _note(self, seen: Seen) -> None:
        seen.category_written = time.perf_counter()


def _framed(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _whole(body: bytes) -> bytes:
    return _HEAD % (b"application/json", b"content-length: %d" % len(body)) + body
