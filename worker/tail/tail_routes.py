"""`GET /api/v1/tail`: an account's finished requests as server-sent events; everybody's for an operator.

A follower that does not read is cut after the send timeout. Events are `completion` with a log line as data,
and `sampled` with the number of lines that were left out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from search_proxy.accounts.grant import Grant
from search_proxy.caller import Caller
from search_proxy.gateway_errors import Refusal
from worker.services import Services
from worker.sse import client_gone
from worker.tail.followers import CannotFollow, Follower, Followers
from worker.tail.peer_lines import follow_peer
from worker.tail.tail_filter import TailFilter, TailRefused, read_tail_filter

logger = logging.getLogger(__name__)


def tail_routes(services_of: Callable[[], Services], followers_of: Callable[[], Followers]) -> APIRouter:
    """Return the route; the door has asked for a secret key."""
    router = APIRouter(tags=["operations"])

    @router.get("/api/v1/tail", summary="Follow the account's finished requests")
    async def tail(request: Request) -> Response:
        caller: Caller = request.state.caller
        wanted = _read(request)
        grant: Grant = request.state.grant
        # The open key of a demo is whoever sits at this machine.
        sees_all = grant.operator or caller.key_kind == "open"
        return TailStream(services_of(), followers_of(), wanted if sees_all else _own(wanted, caller))

    return router


class TailStream(Response):
    """A response that follows this process and its peers until the client leaves."""

    def __init__(self, services: Services, followers: Followers, wanted: TailFilter) -> None:
        super().__init__()
        self._services = services
        self._followers = followers
        self._wanted = wanted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Write lines until the client leaves, does not read in time, or the server stops."""
        try:
            with self._followers.following(self._wanted) as follower:
                await self._follow(follower, receive, send)
        except CannotFollow as error:
            await Refusal(429, str(error)).response()(scope, receive, send)

    async def _follow(self, follower: Follower, receive: Receive, send: Send) -> None:
        peers = self._services.peers
        async with asyncio.TaskGroup() as group:
            writer = group.create_task(self._write(follower, send), name="tail-writer")
            watcher = group.create_task(client_gone(receive), name="tail-watcher")
            followed = [
                group.create_task(follow_peer(peers, slot, self._wanted, follower), name=f"tail-peer:{slot}")
                for slot in peers.others
            ]
            await asyncio.wait({writer, watcher}, return_when=asyncio.FIRST_COMPLETED)
            for task in (writer, watcher, *followed):
                task.cancel()

    async def _write(self, follower: Follower, send: Send) -> None:
        limit = self._services.settings.sse_send_timeout_seconds
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await _send(send, b": following\n\n", limit)
            async with aclosing(follower.lines(self._services.settings.sse_ping_seconds)) as batches:
                async for lines in batches:
                    frames = b"".join(map(_frame, lines)) or b": ping\n\n"
                    await _send(send, frames, limit)
            await send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            logger.info("tail_follower_too_slow")
        except OSError:
            # The server says so when the client has left; the watcher sees it too.
            return


_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


async def _send(send: Send, body: bytes, limit_seconds: float) -> None:
    async with asyncio.timeout(limit_seconds):
        await send({"type": "http.response.body", "body": body, "more_body": True})


def _frame(line: bytes) -> bytes:
    name = b"sampled" if line.startswith(b'{"event":"tail_sampled"') else b"completion"
    return b"event: %s\ndata: %s\n\n" % (name, line)


def _read(request: Request) -> TailFilter:
    try:
        return read_tail_filter(request.query_params.multi_items())
    except TailRefused as error:
        raise Refusal(400, str(error)) from error


def _own(wanted: TailFilter, caller: Caller) -> TailFilter:
    """Return the filter within what the key may see; what it names beyond that is refused."""
    account, indexes = caller.account_id, caller.indexes
    others = wanted.accounts - {account}
    if others:
        raise Refusal(403, f"this key follows account {account!r} alone, not {_listed(others)}")
    if indexes is not None and wanted.indexes - indexes:
        beyond = _listed(wanted.indexes - indexes)
        raise Refusal(403, f"this key follows index {_listed(indexes)}, not {beyond}")
    seen = wanted.indexes if indexes is None else wanted.indexes or indexes
    return replace(wanted, accounts=frozenset({account}), indexes=seen)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))
