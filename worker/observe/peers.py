"""The other worker processes of one server: each listens on a Unix socket in a folder that they share.

With `--workers N` a request may reach any process, while the runs, counts and completions are each process's
own; so a process asks its peers. A call is a name and a JSON argument, its answer a stream of bytes. The
folder is the server's user's alone, and so is the trust: a peer is not asked for a key.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import orjson

from worker.observe.peer_sockets import dialled, listening_at
from worker.observe.worker_place import ALONE, WorkerPlace

logger = logging.getLogger(__name__)

Answering = Callable[[Mapping[str, Any]], AsyncGenerator[bytes, None]]
"""Answers one call in pieces; an empty first piece says "yes, wait for more"."""

MAX_ANSWER_BYTES = 32 * 1024 * 1024
_MAX_CALL_BYTES = 64 * 1024
_DIAL_SECONDS = 1.0


class PeerFailed(Exception):
    """A peer is not there, did not answer in time, or said no; the message is what it said."""


class PeerRefused(Exception):
    """Raised in an `Answering` before its first piece: the caller gets `PeerFailed` with this message."""


class Peers:
    """What this process answers its peers, and what it asks them. Made by `open_peers`."""

    def __init__(self, place: WorkerPlace = ALONE) -> None:
        self.place = place
        self._answers: dict[str, Answering] = {}

    @property
    def others(self) -> tuple[int, ...]:
        """The slots of the other processes; empty where this one is alone."""
        return tuple(slot for slot in range(self.place.workers) if slot != self.place.slot)

    def answer(self, call: str, answering: Answering) -> None:
        """Answer calls of that name from now on."""
        self._answers[call] = answering

    @asynccontextmanager
    async def calling(
        self, slot: int, call: str, argument: Mapping[str, Any] | None = None
    ) -> AsyncIterator[asyncio.StreamReader]:
        """Yield the stream of a peer's answer, once it has agreed to one; leaving ends the peer's work.

        Raises:
            PeerFailed: It is not there, says no, or has gone before its end.
        """
        request = orjson.dumps({"call": call, "argument": argument or {}}) + b"\n"
        try:
            async with dialled(self._socket(slot), _DIAL_SECONDS) as (reader, writer):
                writer.write(request)
                head = orjson.loads(await reader.readline() or b'{"error": "it hung up"}')
                if "error" in head:
                    raise PeerFailed(f"worker {slot}: {head['error']}")
                yield reader
        except (OSError, ValueError) as error:
            raise PeerFailed(f"worker {slot} is not there: {error!r}") from error

    async def ask(
        self,
        slot: int,
        call: str,
        argument: Mapping[str, Any] | None = None,
        *,
        timeout_seconds: float = 2.0,
    ) -> bytes:
        """Return a peer's whole answer.

        Raises:
            PeerFailed: It is not there, says no, takes too long or says too much.
        """
        whole = bytearray()
        try:
            async with asyncio.timeout(timeout_seconds), self.calling(slot, call, argument) as answer:
                while piece := await answer.read(64 * 1024):
                    whole += piece
                    if len(whole) > MAX_ANSWER_BYTES:
                        raise PeerFailed(f"worker {slot} answered with more than {MAX_ANSWER_BYTES} bytes")
        except TimeoutError as error:
            raise PeerFailed(f"worker {slot} did not answer within {timeout_seconds:g} s") from error
        return bytes(whole)

    async def ask_all(
        self, call: str, argument: Mapping[str, Any] | None = None, *, timeout_seconds: float = 2.0
    ) -> dict[int, bytes]:
        """Return the answers of all other processes, asked side by side; who fails is absent and logged."""
        answers: dict[int, bytes] = {}

        async def ask(slot: int) -> None:
            try:
                answers[slot] = await self.ask(slot, call, argument, timeout_seconds=timeout_seconds)
            except PeerFailed as error:
                logger.warning("peer_failed", extra={"call": call, "error": str(error)})

        async with asyncio.TaskGroup() as group:
            for slot in self.others:
                group.create_task(ask(slot), name=f"peer:{slot}:{call}")
        return answers

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until its end, or until the asking side has left."""
        try:
            async with asyncio.timeout(_DIAL_SECONDS):
                line = await reader.readline()
            asked = orjson.loads(line)
            answering = self._answers.get(asked["call"])
        except (OSError, ValueError, KeyError, TypeError, TimeoutError):
            return
        if answering is None:
            writer.write(orjson.dumps({"error": f"there is no call {asked['call']!r}"}) + b"\n")
            return
        async with asyncio.TaskGroup() as group:
            telling = group.create_task(_tell(answering, asked["argument"], writer), name="peer-answer")
            leaving = group.create_task(_until_gone(reader), name="peer-watch")
            await asyncio.wait({telling, leaving}, return_when=asyncio.FIRST_COMPLETED)
            telling.cancel()
            leaving.cancel()

    def _socket(self, slot: int) -> Path:
        if self.place.folder is None:
            raise PeerFailed(f"there is no worker {slot}: this process serves alone")
        return self.place.folder / f"worker-{slot}.sock"


async def _tell(answering: Answering, argument: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
    is_first = True
    try:
        async with aclosing(answering(argument)) as pieces:
            async for piece in pieces:
                if is_first:
                    writer.write(b"{}\n")
                    is_first = False
                writer.write(piece)
                await writer.drain()
        if is_first:
            writer.write(b"{}\n")
        await writer.drain()
    except PeerRefused as refusal:
        writer.write(orjson.dumps({"error": str(refusal)}) + b"\n")
    except OSError:
        return
    except Exception:
        logger.exception("peer_answer_failed")
        if is_first:
            writer.write(b'{"error": "it failed; its log says why"}\n')


async def _until_gone(reader: asyncio.StreamReader) -> None:
    with _ignoring_resets():
        while await reader.read(1024):
            continue


@contextmanager
def _ignoring_resets() -> Any:
    try:
        yield
    except OSError:
        return


@asynccontextmanager
async def open_peers(place: WorkerPlace) -> AsyncIterator[Peers]:
    """Listen for the peers of `place` while the block lasts; alone, listen to nobody."""
    peers = Peers(place)
    if place.folder is None:
        yield peers
        return
    async with listening_at(place.folder / f"worker-{place.slot}.sock", peers.serve):
        yield peers
