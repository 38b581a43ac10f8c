"""The HTTP side of the scripted server: one protocol object per connection, one task per call.

Written on the bare protocol so that a test decides where every chunk begins and knows the moment at
which a client has gone.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import parse_qs, urlsplit

from tests.support.scripted_gemini.steps import (
    Drop,
    End,
    HangUp,
    Head,
    Pause,
    Raw,
    Script,
    Send,
    Stall,
    Step,
    Wait,
)
from tests.support.scripted_gemini.unary import unary_answer


@dataclass(slots=True, kw_only=True)
class Call:
    """One request as it arrived, and what became of it; times are `time.monotonic()`."""

    verb: str
    path: str
    method: str
    model: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: dict[str, Any]
    arrived_at: float
    connection: int
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    gone_at: float | None = None
    ended: bool = False


class ScriptedGemini:
    """Answers each model call with the next script; the last script answers every call after it."""

    def __init__(self, *scripts: Script, host: str = "127.0.0.1", port: int = 0) -> None:
        self.calls: list[Call] = []
        self.warm_ups: list[Call] = []
        self.connections_made = 0
        self.open_connections = 0
        self.choose: Callable[[Call], Script] | None = None
        self.base_url = ""
        self._scripts = list(scripts)
        self._address = (host, port)
        self._arrival = asyncio.Condition()
        self._no_connection = asyncio.Event()
        self._tasks = asyncio.TaskGroup()
        self._running: set[asyncio.Task[None]] = set()
        self._transports: set[asyncio.Transport] = set()

    def script(self, *scripts: Script) -> None:
        """Replace the scripts for the calls to come."""
        self._scripts = list(scripts)

    async def called(self, count: int) -> Call:
        """Wait for the `count`-th call and return it."""
        async with self._arrival:
            await self._arrival.wait_for(lambda: len(self.calls) >= count)
        return self.calls[count - 1]

    async def idle(self) -> None:
        """Wait until no connection is open."""
        await self._no_connection.wait()

    def stop_listening(self) -> None:
        """Refuse new connections from now on."""
        self._server.close()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        await self._tasks.__aenter__()
        self._server = await loop.create_server(lambda: _Connection(self), *self._address)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.base_url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._running:
            task.cancel()
        for transport in tuple(self._transports):
            transport.abort()
        await self._tasks.__aexit__(None, None, None)

    async def _serve(self, call: Call, connection: _Connection) -> None:
        if call.verb == "GET":
            # A worker that starts looks at the model; no test counts that among its calls.
            self.warm_ups.append(call)
        else:
            async with self._arrival:
                self.calls.append(call)
                self._arrival.notify_all()
        for step in self._script_for(call):
            await connection.play(step, call)

    def _script_for(self, call: Call) -> Script:
        if call.verb == "GET":
            return [Head(content_type="application/json"), Send(b'{"name": "models/scripted"}'), End()]
        if call.method not in {"streamGenerateContent", "generateContent"}:
            status, answer = unary_answer(call.method, call.body)
            head = Head(status=status, content_type="application/json")
            return [head, Send(json.dumps(answer).encode()), End()]
        if self.choose is not None:
            return self.choose(call)
        if not self._scripts:
            raise AssertionError("a model call arrived and no script is left for it")
        return self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]

    def count_connections(self, change: int) -> None:
        """Note a connection that was made or lost."""
        self.open_connections += change
        if self.open_connections:
            self._no_connection.clear()
        else:
            self._no_connection.set()

    def start(self, call: Call, connection: _Connection) -> asyncio.Task[None]:
        """Start serving a call; the connection cancels the task when its client has gone."""
        task = self._tasks.create_task(self._serve(call, connection), name=f"scripted:{call.path}")
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task


class _Connection(asyncio.Protocol):
    def __init__(self, server: ScriptedGemini) -> None:
        self._server = server
        self._received = bytearray()
        self._call: Call | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._server._transports.add(self._transport)
        self._server.connections_made += 1
        self._server.count_connections(+1)
        self._number = self._server.connections_made

    def connection_lost(self, exc: Exception | None) -> None:
        self._server._transports.discard(self._transport)
        self._server.count_connections(-1)
        if self._task is not None:
            self._task.cancel()
        if self._call is not None:
            self._call.gone_at = time.monotonic()
            self._call.gone.set()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, rest = bytes(self._received).partition(b"\r\n\r\n")
        if not separator:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = _whole_body(headers, rest)
        if body is None:
            return
        self._received.clear()
        verb, target, _ = first.split(" ", 2)
        self._call = _call(verb, target, headers, body, self._number)
        self._task = self._server.start(self._call, self)

    async def play(self, step: Step, call: Call) -> None:
        """Do one step of the script."""
        if isinstance(step, Head):
            self._write_head(step)
        elif isinstance(step, Send):
            self._transport.write(b"%x\r\n%b\r\n" % (len(step.data), step.data))
            await asyncio.sleep(0)
        elif isinstance(step, Raw):
            self._transport.write(step.data)
            call.ended = step.is_whole
            await asyncio.sleep(0)
        elif isinstance(step, Wait):
            await step.gate.pass_through()
        elif isinstance(step, Stall):
            await asyncio.Event().wait()
        elif isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
        elif isinstance(step, End):
            self._transport.write(b"0\r\n\r\n")
            call.ended = True
            self._call = None
        elif isinstance(step, HangUp):
            self._transport.close()
        elif isinstance(step, Drop):
            self._transport.abort()

    def _write_head(self, head: Head) -> None:
        lines = [f"HTTP/1.1 {head.status} {_phrase(head.status)}", f"Content-Type: {head.content_type}"]
        lines += [f"{name}: {value}" for name, value in head.headers.items()]
        lines += ["Transfer-Encoding: chunked", "", ""]
        self._transport.write("\r\n".join(lines).encode("latin-1"))


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase


def _whole_body(headers: dict[str, str], received: bytes) -> bytes | None:
    if "chunked" not in headers.get("transfer-encoding", ""):
        length = int(headers.get("content-length", "0"))
        return received if len(received) >= length else None
    body, rest = b"", received
    while True:
        size, separator, after = rest.partition(b"\r\n")
        if not separator:
            return None
        length = int(size, 16)
        if length == 0:
            return body
        if len(after) < length + 2:
            return None
        body, rest = body + after[:length], after[length + 2 :]


def _call(verb: str, target: str, headers: dict[str, str], body: bytes, connection: int) -> Call:
    parts = urlsplit(target)
    model, _, method = parts.path.rpartition("/")[2].partition(":")
    return Call(
        verb=verb,
        path=parts.path,
        method=method,
        model=model,
        query=parse_qs(parts.query),
        headers=headers,
        body=json.loads(body) if body else {},
        arrived_at=time.monotonic(),
        connection=connection,
    )
