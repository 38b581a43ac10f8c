"""A server is followed over real HTTP: by whom, how far, and until when."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.event_stream import Frame, frames
from tests.support.shop import Shop, open_shop
from tests.worker.tail.completions import completion

pytestmark = pytest.mark.anyio

TAIL = "/api/v1/tail"


async def _follow(
    stack: AsyncExitStack, shop: Shop, parameters: dict[str, str] | None = None, key: str | None = None
) -> Any:
    """Return an iterator over a tail's events that is connected already."""
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    answer = await stack.enter_async_context(
        shop.client.stream("GET", TAIL, params=parameters or {}, headers=headers)
    )
    assert answer.status_code == 200, await answer.aread()
    return frames(answer)


async def test_a_follower_sees_a_request_as_its_log_line(tmp_path: Path) -> None:
    """The whole line, with its stages."""
    async with open_shop(tmp_path) as shop, AsyncExitStack() as stack:
        events = await _follow(stack, shop, {"source": "short_query_bypass"})
        await shop.stream("something warm for cold nights outside")
        await shop.stream("red mug")
        async with asyncio.timeout(5):
            event: Frame = await anext(events)
    assert event.name == "completion"
    line = event.data
    assert (line["event"], line["source"]) == ("agentic_search_completed", "short_query_bypass")
    assert line["timings"]["E2E"] > 0
    assert "query" not in line


async def test_a_key_follows_its_own_account_and_an_operators_key_all(tmp_path: Path) -> None:
    """What happens at another shop is not in any byte, and asking for it is refused."""
    async with open_shop(tmp_path) as shop, AsyncExitStack() as stack:
        office = shop.services.office
        await office.administration.create_account("mine", actor="test")
        mine = await office.keys.create("mine", "secret", {}, actor="test")
        operator = await office.keys.create("mine", "secret", {"operator": True}, actor="test")
        refused = await shop.client.get(
            TAIL, params={"account": "demo"}, headers={"authorization": f"Bearer {mine.token}"}
        )
        own = await _follow(stack, shop, key=mine.token)
        every = await _follow(stack, shop, {"account": "demo"}, key=operator.token)
        await shop.stream("red mug")
        async with asyncio.timeout(5):
            seen = await anext(every)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await anext(own)
    assert (refused.status_code, refused.json()["message"]) == (
        403,
        "this key follows account 'mine' alone, not 'demo'",
    )
    assert seen.data["account"] == "demo"


async def test_a_filter_that_cannot_be_read_answers_400_and_a_shoppers_key_nothing(tmp_path: Path) -> None:
    """The message names the filter; a publishable key is not for this."""
    async with open_shop(tmp_path) as shop:
        unread = await shop.client.get(TAIL, params={"slower-than": "soon"})
        public = await shop.services.office.keys.create("demo", "publishable", {}, actor="test")
        closed = await shop.client.get(TAIL, headers={"authorization": f"Bearer {public.token}"})
    assert (unread.status_code, unread.json()["code"]) == (400, "invalid_argument")
    assert "slower-than 'soon'" in unread.json()["message"]
    assert closed.status_code == 403


async def test_a_follower_that_does_not_read_is_cut_and_requests_go_on(tmp_path: Path) -> None:
    """Its socket's buffers fill, the send times out, the server lets it go."""
    async with open_shop(tmp_path, sse_send_timeout_seconds=0.3) as shop:
        port = shop.client.base_url.port
        assert port is not None
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        with deaf:
            await asyncio.to_thread(deaf.connect, ("127.0.0.1", port))
            deaf.sendall(f"GET {TAIL} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n".encode())
            await asyncio.to_thread(deaf.recv, 16)
            observers = shop.services.observers
            async with asyncio.timeout(30):
                while "tail" in observers.names:
                    observers.observe(completion(query="long " * 20_000))
                    answered = await shop.stream("red mug")
                    assert answered[-1].name == "stream-end"


async def test_a_stopping_server_ends_its_tails(tmp_path: Path) -> None:
    """The stream comes to its end instead of holding the shutdown up."""
    async with open_shop(tmp_path) as shop, AsyncExitStack() as stack:
        events = await _follow(stack, shop)
        shop.drain(0.0)
        async with asyncio.timeout(5):
            assert [event async for event in events] == []
