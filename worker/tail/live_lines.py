"""Follows a running server over its stream, and comes back when the connection is lost."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import httpx
import orjson

from worker.tail.tail_filter import TailFilter

Take = Callable[[str, dict[str, Any]], None]

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 10.0
_SILENCE_SECONDS = 60.0
"""A server pings far more often; after this the connection is taken for dead."""


class ServerRefused(Exception):
    """The server has answered that it will not be followed: no use to ask again."""


async def follow_server(url: str, key: str | None, wanted: TailFilter, take: Take) -> None:
    """Hand every `("completion" | "sampled", data)` of a server to `take`, until cancelled.

    Raises:
        ServerRefused: The server said no, in its own words.
    """
    pause = _FIRST_PAUSE
    address = f"{url.rstrip('/')}/api/v1/tail"
    headers = {"accept": "text/event-stream"} | ({} if key is None else {"authorization": f"Bearer {key}"})
    timeout = httpx.Timeout(5.0, read=_SILENCE_SECONDS)
    async with httpx.AsyncClient(headers=headers, timeout=timeout, follow_redirects=False) as client:
        while True:
            try:
                async with client.stream("GET", address, params=tuple(wanted.parameters())) as answer:
                    if answer.status_code in range(300, 500) and answer.status_code != 429:
                        raise ServerRefused(f"{url}: {_message(answer.status_code, await answer.aread())}")
                    answer.raise_for_status()
                    pause = _FIRST_PAUSE
                    sys.stderr.write(f"aisle tail: following {url}\n")
                    await _read(answer, take)
                reason = "the server has ended the stream"
            except httpx.HTTPError as error:
                reason = str(error) or type(error).__name__
            sys.stderr.write(f"aisle tail: {url}: {reason}; trying again in {pause:g} s\n")
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)


async def _read(answer: httpx.Response, take: Take) -> None:
    name = ""
    async for line in answer.aiter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            take(name, orjson.loads(value))


def _message(status: int, body: bytes) -> str:
    try:
        said = orjson.loads(body)["message"]
    except (ValueError, KeyError, TypeError):
        said = "it is no aisle server" if status == 404 else "it will not be followed"
    return f"{said} ({status})"
