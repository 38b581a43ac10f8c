"""A numbered event of a run, and how it looks on the wire.

Events are encoded once, when they are emitted, whoever reads them and however often.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson


class EventName(StrEnum):
    """The events of both streams. Source: flow document, step 10."""

    INIT = "init"
    DELTA = "delta"
    MESSAGE = "message"
    CATEGORY_HITS = "category-hits"
    CONVERSATION_ID = "conversation-id"
    ERROR = "error"
    STREAM_END = "stream-end"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: `seq` counts from 1 within its run, `json` is one line of UTF-8 JSON."""

    seq: int
    name: EventName
    json: bytes

    @classmethod
    def of(cls, seq: int, name: EventName, data: Mapping[str, Any]) -> Event:
        """Encode `data`; a value JSON cannot hold is a programming error and raises TypeError."""
        encoded = orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS)
        # orjson keeps the whole of its write buffer, 1 KB or more, for as long as its result lives.
        return cls(seq, name, bytes(memoryview(encoded)))

    @property
    def data(self) -> dict[str, Any]:
        """The event's data, decoded again."""
        decoded: dict[str, Any] = orjson.loads(self.json)
        return decoded

    def frame(self, run_id: str) -> bytes:
        """Return the server-sent event: id, name, one data line, blank line."""
        return b"id: %b-%d\nevent: %b\ndata: %b\n\n" % (
            run_id.encode(),
            self.seq,
            self.name.encode(),
            self.json,
        )


@dataclass(slots=True, eq=False)
class SharedEvents:
    """Encoded events that many runs emit and keep together; `holders` counts the finished ones that do."""

    events: tuple[tuple[EventName, bytes], ...]
    holders: int = 0

    @property
    def size(self) -> int:
        """How many bytes they take, however many runs have them."""
        return sum(len(data) for _, data in self.events)
