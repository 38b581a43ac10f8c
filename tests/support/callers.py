"""Hundreds of shoppers with one question, over plain sockets: as many HTTP clients would be the load."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

from tests.support.shop import AGENTIC

_END = b"\r\n0\r\n\r\n"
_CATEGORY = b'"categoryHits":['


async def hear(url: str, query: str, on_first_category: Callable[[], None]) -> bytes:
    """Ask over GET and return the whole answer, headers included; say when its first category came.

    Raises:
        ConnectionError: The server ended before its answer did.
    """
    where = urlsplit(url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    try:
        asked = f"GET {AGENTIC}?{urlencode({'q': query})} HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n"
        writer.write(asked.encode())
        answer, has_category = b"", False
        while not answer.endswith(_END):
            chunk = await reader.read(65_536)
            if not chunk:
                raise ConnectionError(f"the answer broke off: {answer[-500:]!r}")
            answer += chunk
            if not has_category and _CATEGORY in answer:
                has_category = True
                on_first_category()
        return answer
    finally:
        writer.close()
