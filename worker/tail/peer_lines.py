"""Follows the other worker processes of this server, so that a tail of one is a tail of all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

import orjson

from worker.observe.peers import PeerFailed, PeerRefused, Peers
from worker.tail.followers import CannotFollow, Follower, Followers
from worker.tail.tail_filter import TailFilter, TailRefused, read_tail_filter

logger = logging.getLogger(__name__)

CALL = "tail"

_PING_SECONDS = 5.0
_AGAIN_SECONDS = 1.0


def answer_peers(peers: Peers, followers: Followers) -> None:
    """Let the other processes follow this one."""

    async def answering(argument: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        try:
            wanted = read_tail_filter([(name, value) for name, value in argument["filter"]])
            with followers.following(wanted) as follower:
                yield b""  # noqa: ASYNC119 (the peer's side closes this generator)
                async with aclosing(follower.lines(_PING_SECONDS)) as batches:
                    async for lines in batches:
                        text = b"".join(line + b"\n" for line in lines) or b"\n"
                        yield text  # noqa: ASYNC119 (as above)
        except (TailRefused, CannotFollow) as error:
            raise PeerRefused(str(error)) from error

    peers.answer(CALL, answering)


async def follow_peer(peers: Peers, slot: int, wanted: TailFilter, follower: Follower) -> None:
    """Offer `follower` what a peer's requests were, until cancelled; a peer that has gone is asked again."""
    argument = {"filter": wanted.parameters()}
    clock = asyncio.get_running_loop().time
    while True:
        try:
            async with peers.calling(slot, CALL, argument) as answer:
                while line := await answer.readline():
                    if line.strip():
                        _offer(follower, line.strip(), clock())
        except PeerFailed as error:
            logger.info("tail_peer_failed", extra={"slot": slot, "error": str(error)})
        await asyncio.sleep(_AGAIN_SECONDS)


def _offer(follower: Follower, line: bytes, now: float) -> None:
    if line.startswith(b'{"event":"tail_sampled"'):
        follower.left_out(orjson.loads(line)["skipped"])
    else:
        follower.offer(line.decode(), now)
