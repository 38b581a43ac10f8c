"""Reads server-sent events frame by frame, as they come."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import orjson


@dataclass(frozen=True, slots=True)
class Frame:
    """One server-sent event."""

    id: str
    name: str
    data: dict[str, Any]


async def frames(response: httpx.Response) -> AsyncIterator[Frame]:
    """Yield every event of a streamed response; comments and `retry` are passed over."""
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        elif "data" in fields:
            yield Frame(fields.get("id", ""), fields.get("event", "message"), orjson.loads(fields["data"]))
            fields = {}
