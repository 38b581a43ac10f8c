"""What the tests of conversations share: a clock that stands still, and conversations over a fresh file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from conversation import ConversationConfig, Conversations, open_conversations


@dataclass(slots=True)
class StandingClock:
    """A clock that moves when it is told to."""

    seconds: float = 1_000_000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.seconds

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.seconds += seconds


async def until(condition: Callable[[], bool]) -> None:
    """Let others run until `condition` holds, at most five seconds."""
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0)


@pytest.fixture
def clock() -> StandingClock:
    """Give a clock that the test moves."""
    return StandingClock()


@pytest.fixture
def config(tmp_path: Path) -> ConversationConfig:
    """Give the configuration of a fresh file."""
    return ConversationConfig(sqlite_path=tmp_path / "conversations.db")


@pytest.fixture
async def conversations(config: ConversationConfig, clock: StandingClock) -> AsyncIterator[Conversations]:
    """Give open conversations over a fresh file."""
    async with open_conversations(config, clock=clock) as opened:
        yield opened
