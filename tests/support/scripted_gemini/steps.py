"""What a script is made of: bytes to send, gates to wait at, and the ways in which a server can fail."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


class Gate:
    """Holds a script until a test opens it; knows whether the script has reached it."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self._opened = asyncio.Event()
        self._reached = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether the test has opened the gate."""
        return self._opened.is_set()

    def open(self) -> None:
        """Let the script go on."""
        self._opened.set()

    async def reached(self) -> None:
        """Wait until the script stands at the gate."""
        await self._reached.wait()

    async def pass_through(self) -> None:
        """Stand at the gate until it opens; only scripts call this."""
        self._reached.set()
        await self._opened.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The status line and headers; the body that follows is chunked."""

    status: int = 200
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Send:
    """Bytes of the body, in an HTTP chunk of their own."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes as they are, head included, for what is no chunked answer; `is_whole` where they end one."""

    data: bytes
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Stand at a gate until the test opens it."""

    gate: Gate


@dataclass(frozen=True, slots=True)
class Stall:
    """Send nothing more and keep the connection."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Let time pass, for benches and manual runs; tests use gates."""

    seconds: float


@dataclass(frozen=True, slots=True)
class End:
    """End the body properly; the connection stays usable."""


@dataclass(frozen=True, slots=True)
class HangUp:
    """Close the connection in the middle of the body, in order."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Reset the connection."""


Step = Head | Send | Raw | Wait | Stall | Pause | End | HangUp | Drop
Script = Sequence[Step]
