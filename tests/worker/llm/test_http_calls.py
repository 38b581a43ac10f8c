"""The HTTP client of the model: connections are kept, bounded, replaced and cut, against real sockets."""

from __future__ import annotations

import asyncio
import base64
import socket
import threading
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from worker.llm.http_calls import CannotConnect, HttpCalls, look_up
from worker.llm.http_connection import CallFailed, HttpConnection
from worker.llm.http_proxy import open_tunnel

pytestmark = pytest.mark.anyio

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


Answer = Callable[[asyncio.Transport], None]


class Server:
    """What arrived at a server, whose every answer the test writes; the last one answers all that follow."""

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self.url = ""
        self.heads: list[bytes] = []
        self.connections = 0
        self.open: set[asyncio.Transport] = set()
        self.all_closed = asyncio.Event()
        self._answers = list(answers)
        self.stop_listening: Callable[[], None] = lambda: None

    def answer(self, head: bytes, transport: asyncio.Transport) -> None:
        """Note a request and answer it."""
        self.heads.append(head)
        (self._answers.pop(0) if len(self._answers) > 1 else self._answers[0])(transport)


class _Connection(asyncio.Protocol):
    def __init__(self, server: Server) -> None:
        self._server = server
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._server.connections += 1
        self._server.open.add(self._transport)
        self._server.all_closed.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.open.discard(self._transport)
        if not self._server.open:
            self._server.all_closed.set()

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            self._server.answer(head + b"\r\n\r\n", self._transport)


@asynccontextmanager
async def answering(*answers: Answer) -> AsyncIterator[Server]:
    """Serve until the block is left, and see every connection closed."""
    server = Server(answers)
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: _Connection(server), "127.0.0.1", 0)
    server.stop_listening = listening.close
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    async with asyncio.timeout(5):
        yield server
        listening.close()
        for transport in server.open:
            transport.abort()
        if server.open:
            await server.all_closed.wait()


def says(data: bytes) -> Answer:
    """Answer these bytes."""
    return lambda transport: transport.write(data)


def says_and_closes(data: bytes) -> Answer:
    """Answer these bytes and close the connection."""

    def answer(transport: asyncio.Transport) -> None:
        transport.write(data)
        transport.close()

    return answer


async def body_of(calls: HttpCalls, url: str) -> bytes:
    """Return the whole body of a GET."""
    body = bytearray()
    async with calls.call(b"GET", f"{url}/x?y=1", {"Accept": "*/*"}) as answer:
        answer.read_into(body.extend)
        await answer.ended()
    return bytes(body)


async def test_calls_in_a_row_share_a_connection() -> None:
    """An answer that was read to its end gives its connection back."""
    async with answering(says(OK)) as server:
        calls = HttpCalls(server.url)
        assert [await body_of(calls, server.url) for _ in range(3)] == [b"hi"] * 3
        calls.close()
    assert server.connections == 1
    assert server.heads[0].startswith(b"GET /x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:")


@pytest.mark.parametrize(
    "answer",
    [
        says_and_closes(OK),
        says(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"),
        says(OK + b"HTTP/1.1 200 OK\r\n"),
    ],
    ids=["closed behind it", "said to close", "more than was asked for"],
)
async def test_a_connection_that_is_no_longer_good_is_replaced(answer: Answer) -> None:
    """The next call does not meet what was left of the one before."""
    async with answering(answer, says(OK)) as server:
        calls = HttpCalls(server.url)
        async with calls.call(b"GET", server.url + "/", {}) as first:
            first.read_into(lambda data: None)
            await first.ended()
        while first.is_open:  # noqa: ASYNC110 - a connection tells nobody that it has been closed
            await asyncio.sleep(0)
        assert await body_of(calls, server.url) == b"hi"
        calls.close()
    assert server.connections == 2


async def test_a_call_waits_for_a_place_and_gets_the_one_that_was_given_up() -> None:
    """The bound holds, and a stopped call frees its place."""
    async with answering(says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), says(OK)) as server:
        calls = HttpCalls(server.url, max_connections=1)
        first = await calls.begin(b"GET", server.url + "/", {})
        async with asyncio.TaskGroup() as group:
            second = group.create_task(body_of(calls, server.url), name="second")
            await asyncio.sleep(0)
            assert len(server.heads) == 1
            calls.end(first)
        assert second.result() == b"hi"
        calls.close()


async def test_what_the_reader_raises_ends_the_call_and_comes_out_of_it() -> None:
    """The connection is cut; no later call meets the rest of the body."""

    def refuse(data: bytes) -> None:
        raise ValueError(f"no {data!r}")

    async with answering(says(OK)) as server:
        calls = HttpCalls(server.url)
        async with calls.call(b"GET", server.url + "/", {}) as answer:
            answer.read_into(refuse)
            with pytest.raises(ValueError, match="no b'hi'"):
                await answer.ended()
        assert not answer.is_open
        assert await body_of(calls, server.url) == b"hi"
        calls.close()


async def test_an_end_that_was_waited_for_in_vain_leaves_the_next_call_alone() -> None:
    """The time that one call gave its end is over with that call."""
    async with answering(says(OK)) as server:
        calls = HttpCalls(server.url)
        async with calls.call(b"GET", server.url + "/", {}) as first:
            first.end_within(0.01)
            first.read_into(lambda data: None)
            await first.ended()
        async with calls.call(b"GET", server.url + "/", {}) as second:
            assert second is first
            await asyncio.sleep(0.05)
            assert second.status == 200
            body = bytearray()
            second.read_into(body.extend)
            await second.ended()
        assert body == b"hi"
        calls.close()


async def test_an_idle_connection_keeps_nothing_of_its_last_answer() -> None:
    """What read it would otherwise live as long as the connection, and all that it knows."""

    class Reader:
        def take(self, data: bytes) -> None:
            """Read nothing."""

    async with answering(says(OK)) as server:
        calls = HttpCalls(server.url)
        reader = Reader()
        alive = weakref.ref(reader)
        async with calls.call(b"GET", server.url + "/", {}) as answer:
            answer.read_into(reader.take)
            await answer.ended()
        del reader
        assert answer.is_open
        assert alive() is None
        calls.close()


async def test_a_header_cannot_carry_another() -> None:
    """A key with a line end in it is refused before anything is sent."""
    async with answering(says(OK)) as server:
        calls = HttpCalls(server.url)
        with pytest.raises(CannotConnect, match="holds a line end"):
            await calls.begin(b"GET", server.url + "/", {"x-goog-api-key": "k\r\nx-more: 1"})
    assert server.heads == []


async def test_closing_ends_what_is_being_read() -> None:
    """Nobody waits for a body whose client has been closed."""
    async with answering(says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")) as server:
        calls = HttpCalls(server.url)
        async with calls.call(b"GET", server.url + "/", {}) as answer:
            answer.read_into(lambda data: None)
            calls.close()
            with pytest.raises(CallFailed, match="cut off"):
                await answer.ended()


async def test_a_proxy_is_asked_for_the_whole_url_with_its_users_password() -> None:
    """Without TLS there is nothing to tunnel."""
    async with answering(says(OK)) as proxy:
        calls = HttpCalls("http://model.invalid", proxy=proxy.url.replace("//", "//me:p%40ss@"))
        assert await body_of(calls, "http://model.invalid") == b"hi"
        calls.close()
    assert proxy.heads[0].startswith(b"GET http://model.invalid/x?y=1 HTTP/1.1\r\nHost: model.invalid\r\n")
    assert base64.b64encode(b"me:p@ss") in proxy.heads[0]


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        (says(b"HTTP/1.1 200 Connection established\r\n\r\n"), None),
        (says(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), "407"),
        (says_and_closes(b"HTTP/1.1"), "did not answer"),
        (says(b"x" * 20_000), "did not answer"),
    ],
    ids=["opened", "refused", "hung up", "endless"],
)
async def test_a_tunnel_is_open_or_its_refusal_is_said(answer: Answer, refusal: str | None) -> None:
    """TLS goes through a proxy that has agreed to it, and through no other."""
    loop = asyncio.get_running_loop()
    async with answering(answer) as proxy:
        address = urlsplit(proxy.url)
        sock = socket.socket()
        sock.setblocking(False)
        await loop.sock_connect(sock, (address.hostname, address.port))
        with sock:
            if refusal is None:
                await open_tunnel(sock, address, "model.example", 443)
            else:
                with pytest.raises(CallFailed, match=refusal):
                    await open_tunnel(sock, address, "model.example", 443)
    assert proxy.heads[0].startswith(b"CONNECT model.example:443 HTTP/1.1\r\nHost: model.example:443\r\n")


async def test_a_connection_that_is_gone_fails_the_call_at_once() -> None:
    """A call on a connection that was closed meanwhile does not wait."""
    connection = HttpConnection()
    connection.send(b"GET / HTTP/1.1\r\n\r\n")
    with pytest.raises(CallFailed, match="was closed"):
        await connection.answered()


async def test_a_server_that_has_moved_is_found_at_its_new_address() -> None:
    """Addresses are remembered while they are good; one that refuses is looked up again."""
    looked_up, last = list[int](), b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"
    async with answering(says_and_closes(last)) as old, answering(says(OK)) as new:
        ports = [urlsplit(each.url).port or 0 for each in (old, new)]

        def resolve(host: str, port: int) -> list[Any]:
            looked_up.append(ports[min(len(looked_up), 1)])
            return look_up("127.0.0.1", looked_up[-1])

        calls = HttpCalls("http://model.example", resolve=resolve)
        assert await body_of(calls, "http://model.example") == b"hi"
        assert await body_of(calls, "http://model.example") == b"hi"
        assert len(looked_up) == 1
        old.stop_listening()
        with pytest.raises(CannotConnect):
            await body_of(calls, "http://model.example")
        assert await body_of(calls, "http://model.example") == b"hi"
        calls.close()
    assert looked_up == ports


async def test_a_name_server_that_hangs_takes_one_thread_and_no_more() -> None:
    """Callers give up one after the other; the next ones wait for the same answer."""
    asked, may_answer = list[str](), threading.Event()
    async with answering(says(OK)) as server:
        port = urlsplit(server.url).port or 0

        def resolve(host: str, _: int) -> list[Any]:
            asked.append(host)
            may_answer.wait(5)
            return look_up("127.0.0.1", port)

        calls = HttpCalls("http://model.example", resolve=resolve)
        for _ in range(8):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.005):
                    await body_of(calls, "http://model.example")
        may_answer.set()
        assert await body_of(calls, "http://model.example") == b"hi"
        calls.close()
    assert asked == ["model.example"]


def closes(transport: asyncio.Transport) -> None:
    """Answer nothing and close the connection."""
    transport.close()


async def test_a_kept_connection_that_dies_under_a_call_is_replaced_by_a_new_one() -> None:
    """The server closed it in that moment and has not begun an answer: nobody is told."""
    async with answering(says(OK), closes, says(OK)) as server:
        calls = HttpCalls(server.url)
        assert [await body_of(calls, server.url) for _ in range(2)] == [b"hi"] * 2
        calls.close()
    assert (server.connections, len(server.heads)) == (2, 3)


@pytest.mark.parametrize(
    ("answers", "heads"),
    [
        ((closes, says(OK)), 1),
        ((says(OK), closes, closes), 3),
        ((says(OK), says_and_closes(b"HTTP/1.1 2")), 2),
    ],
    ids=["a new connection", "the new one as well", "an answer had begun"],
)
async def test_a_call_is_not_made_again_and_again(answers: tuple[Answer, ...], heads: int) -> None:
    """A second time is for a connection that had been kept, and for no other."""
    async with answering(*answers) as server:
        calls = HttpCalls(server.url)
        if heads > 1:
            assert await body_of(calls, server.url) == b"hi"
        with pytest.raises(CallFailed):
            await body_of(calls, server.url)
        calls.close()
    assert len(server.heads) == heads


async def test_a_server_that_closes_behind_every_answer_is_no_trouble() -> None:
    """Calls that follow one another at once meet the end of the connection before them."""
    async with answering(says_and_closes(OK)) as server:
        calls = HttpCalls(server.url, max_connections=1)
        assert [await body_of(calls, server.url) for _ in range(40)] == [b"hi"] * 40
        calls.close()
    assert server.connections == 40
