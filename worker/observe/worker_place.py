"""Which of a server's worker processes this one is, as its supervisor told it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPlace:
    """One process's place among the workers of a server.

    `folder` is shared by them and by nobody else; None where the process serves alone. `listen_fd` is the
    socket that they all accept from, and `life_fd` ends when their supervisor has.
    """

    slot: int = 0
    workers: int = 1
    folder: Path | None = None
    listen_fd: int | None = None
    life_fd: int | None = None

    @property
    def is_first(self) -> bool:
        """Whether this process does what only one of them should, such as resuming jobs."""
        return self.slot == 0

    def as_text(self) -> str:
        """Return the place as one command-line argument."""
        return f"{self.slot}/{self.workers}/{self.listen_fd}/{self.life_fd}:{self.folder}"

    @classmethod
    def from_text(cls, text: str) -> WorkerPlace:
        """Return the place that `as_text` wrote.

        Raises:
            ValueError: It did not.
        """
        numbers, _, folder = text.partition(":")
        slot, workers, listen_fd, life_fd = (int(number) for number in numbers.split("/"))
        return cls(slot=slot, workers=workers, folder=Path(folder), listen_fd=listen_fd, life_fd=life_fd)


ALONE = WorkerPlace()
