"""A clock that moves when a test says so."""

from __future__ import annotations


class FakeClock:
    """Call it for the time in seconds; `advance` moves it, backwards too."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Move the time."""
        self.now += seconds
