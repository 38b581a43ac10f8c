"""Runs across worker processes: who comes back for a run may reach another process than the one that has it.

That process asks its peers for the run and passes on what comes, events and all; the run stays where it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from worker.observe.peers import PeerFailed, PeerRefused, Peers
from worker.run import EventsLost
from worker.run_registry import RunRegistry
from worker.sse import RETRY_MS, STREAM_HEADERS, client_gone

_STREAM, _STOP, _FORGET = "run", "stop-run", "forget-conversation"


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedRun:
    """A run as somebody asks for it: the account's own, from the event after `after`.

    `rights` are those of the caller who asks.
    """

    run_id: str
    account_id: str
    rights: str
    index: str
    after: int = 0


def answer_for_runs(peers: Peers, runs: RunRegistry) -> None:
    """Let peers stream, stop and forget the runs of this process."""

    async def stream(argument: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        wanted = WantedRun(**argument)
        run = runs.find(wanted.run_id, wanted.account_id, wanted.rights)
        if run is None or run.index != wanted.index or not run.has_events_after(wanted.after):
            raise PeerRefused("there is no such run")
        runs.subscribe(run)
        try:
            yield b""
            seq = wanted.after
            while True:
                try:
                    events = run.pending_after(seq)
                except EventsLost:
                    return
                if events:
                    seq = events[-1].seq
                    yield b"".join(event.frame(run.id) for event in events)
                elif run.finished:
                    return
                else:
                    await run.wait_for_news(seq)
        finally:
            runs.unsubscribe(run)

    async def stop(argument: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        wanted = WantedRun(**argument)
        run = runs.find(wanted.run_id, wanted.account_id, wanted.rights)
        if run is None or run.index != wanted.index:
            raise PeerRefused("there is no such run")
        run.stop("stopped")
        yield b""

    async def forget(argument: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        runs.forget_conversation(argument["account_id"], argument["conversation_id"])
        yield b""

    peers.answer(_STREAM, stream)
    peers.answer(_STOP, stop)
    peers.answer(_FORGET, forget)


async def stop_at_peer(peers: Peers, wanted: WantedRun) -> bool:
    """Stop a run of another process; return whether one had it."""
    for slot in peers.others:
        try:
            await peers.ask(slot, _STOP, asdict(wanted))
        except PeerFailed:
            continue
        return True
    return False


async def forget_at_peers(peers: Peers, account_id: str, conversation_id: str) -> None:
    """Let the other processes let go of what finished runs of a conversation have said."""
    if peers.others:
        await peers.ask_all(_FORGET, {"account_id": account_id, "conversation_id": conversation_id})


class PeerRunStream(Response):
    """The stream of a run that another process has; 204 where none has it."""

    def __init__(
        self,
        peers: Peers,
        runs: RunRegistry,
        wanted: WantedRun,
        *,
        ping_seconds: float,
        send_timeout_seconds: float,
    ) -> None:
        super().__init__(headers={**STREAM_HEADERS, "x-aisle-run-id": wanted.run_id})
        self._peers = peers
        self._runs = runs
        self._wanted = wanted
        self._ping_seconds = ping_seconds
        self._send_timeout_seconds = send_timeout_seconds
        self._has_started = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Find the run and write it until its end, or until the client has left."""
        for slot in self._peers.others:
            try:
                async with self._peers.calling(slot, _STREAM, asdict(self._wanted)) as answer:
                    self._runs.resumes["at_peer"] += 1
                    await self._pass_on(answer, receive, send)
            except PeerFailed:
                pass
            if self._has_started:
                return
        self._runs.resumes["nothing_left"] += 1
        await Response(status_code=204)(scope, receive, send)

    async def _pass_on(self, answer: asyncio.StreamReader, receive: Receive, send: Send) -> None:
        async with asyncio.TaskGroup() as group:
            writer = group.create_task(self._write(answer, send), name="peer-run-writer")
            watcher = group.create_task(client_gone(receive), name="peer-run-watcher")
            await asyncio.wait({writer, watcher}, return_when=asyncio.FIRST_COMPLETED)
            writer.cancel()
            watcher.cancel()

    async def _write(self, answer: asyncio.StreamReader, send: Send) -> None:
        headers = [header for header in self.raw_headers if header[0] != b"content-length"]
        self._has_started = True
        try:
            await self._send(send, {"type": "http.response.start", "status": 200, "headers": headers})
            await self._send(send, _body(b"retry: %d\n\n" % RETRY_MS))
            piece = b""
            while (piece := await self._next(answer, piece)) != b"":
                await self._send(send, _body(piece))
            await self._send(send, _body(b"", more=False))
        except OSError:
            # The client has left or does not read, or the peer has gone: who still wants the run asks again.
            return

    async def _send(self, send: Send, message: dict[str, Any]) -> None:
        async with asyncio.timeout(self._send_timeout_seconds):
            await send(message)

    async def _next(self, answer: asyncio.StreamReader, last: bytes) -> bytes:
        """Return what comes next; a ping where nothing has come for a while, but never inside an event."""
        while True:
            try:
                async with asyncio.timeout(self._ping_seconds):
                    return await answer.read(64 * 1024)
            except TimeoutError:
                if last.endswith(b"\n\n") or not last:
                    return b": ping\n\n"


def _body(chunk: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.response.body", "body": chunk, "more_body": more}
