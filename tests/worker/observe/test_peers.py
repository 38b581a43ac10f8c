"""Processes of one server ask each other over Unix sockets."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from worker.observe.peers import PeerFailed, PeerRefused, Peers, open_peers
from worker.observe.worker_place import WorkerPlace

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def two_peers(folder: Path) -> AsyncIterator[tuple[Peers, Peers]]:
    """Yield the two peers of a server of two workers."""
    first = WorkerPlace(slot=0, workers=2, folder=folder)
    second = WorkerPlace(slot=1, workers=2, folder=folder)
    async with asyncio.timeout(20), open_peers(first) as one, open_peers(second) as other:
        yield one, other


async def _echo(argument: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
    yield f"said {argument['word']}".encode()


async def test_a_peer_answers_what_it_was_asked_and_its_socket_is_its_users_alone(tmp_path: Path) -> None:
    """A name, an argument, an answer; mode 0600."""
    async with two_peers(tmp_path) as (one, other):
        other.answer("echo", _echo)
        assert await one.ask(1, "echo", {"word": "yes"}) == b"said yes"
        assert await one.ask_all("echo", {"word": "all"}) == {1: b"said all"}
        assert stat.S_IMODE((tmp_path / "worker-1.sock").stat().st_mode) == 0o600


async def test_what_a_peer_does_not_know_or_refuses_says_so(tmp_path: Path) -> None:
    """And an answer that fails tells no inside."""

    async def refusing(_: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        raise PeerRefused("not here")
        yield b""

    async def failing(_: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        raise ZeroDivisionError("secret")
        yield b""

    async with two_peers(tmp_path) as (one, other):
        other.answer("refusing", refusing)
        other.answer("failing", failing)
        with pytest.raises(PeerFailed, match="worker 1: there is no call 'nothing'"):
            await one.ask(1, "nothing")
        with pytest.raises(PeerFailed, match="worker 1: not here"):
            await one.ask(1, "refusing")
        with pytest.raises(PeerFailed, match="its log says why"):
            await one.ask(1, "failing")


async def test_a_stream_ends_at_the_peer_when_its_reader_leaves(tmp_path: Path) -> None:
    """Closing the iterator is seen on the other side."""
    ended = asyncio.Event()

    async def forever(_: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        try:
            yield b"first"
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with two_peers(tmp_path) as (one, other):
        other.answer("forever", forever)
        async with one.calling(1, "forever") as answer:
            seen = await answer.readexactly(5)
        await ended.wait()
        assert seen == b"first"


async def test_a_peer_that_is_silent_or_gone_costs_its_bound(tmp_path: Path) -> None:
    """The others still answer. Source: issue, several workers."""

    async def silent(_: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        await asyncio.Event().wait()
        yield b""

    async with two_peers(tmp_path) as (one, other):
        other.answer("silent", silent)
        with pytest.raises(PeerFailed, match="within 0.05 s"):
            await one.ask(1, "silent", timeout_seconds=0.05)
    alone = Peers(WorkerPlace(slot=0, workers=3, folder=tmp_path))
    assert await alone.ask_all("echo") == {}


async def test_a_folder_whose_path_is_too_long_for_a_socket_still_serves(tmp_path: Path) -> None:
    """Reached through the folder's descriptor."""
    folder = tmp_path / ("d" * 120)
    os.mkdir(folder)
    async with two_peers(folder) as (one, other):
        other.answer("echo", _echo)
        assert await one.ask(1, "echo", {"word": "far"}) == b"said far"


async def test_a_process_that_serves_alone_has_nobody_to_ask() -> None:
    """No socket, no folder."""
    async with open_peers(WorkerPlace()) as peers:
        assert peers.others == ()
        assert await peers.ask_all("echo") == {}
        with pytest.raises(PeerFailed, match="serves alone"):
            await peers.ask(1, "echo")


def test_a_place_travels_as_one_argument() -> None:
    """Written by the supervisor, read by the worker."""
    place = WorkerPlace(slot=1, workers=4, folder=Path("/data/a:b"), listen_fd=5, life_fd=6)
    assert WorkerPlace.from_text(place.as_text()) == place
