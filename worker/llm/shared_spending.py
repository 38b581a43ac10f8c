"""What accounts have spent today, kept by all worker processes of a server together."""

from __future__ import annotations

import struct
from pathlib import Path

from search_proxy.shared_rows import SharedRows

_ROW = struct.Struct("<qq")
"""The day, as days since the epoch, and the tokens."""


class SharedSpending:
    """The `Spending` of one process among several, over a file that they share."""

    def __init__(self, path: Path) -> None:
        self._rows = SharedRows(path, _ROW.size)

    def close(self) -> None:
        """Let go of the shared memory."""
        self._rows.close()

    def of(self, account_id: str, day: int) -> int:
        """Return what the account has spent on that day."""
        at = self._rows.find(account_id)
        found, spent = (0, 0) if at is None else _ROW.unpack_from(self._rows.memory, at)
        return int(spent) if found == day else 0

    def add(self, account_id: str, day: int, tokens: int) -> None:
        """Add to what the account has spent on that day."""
        memory = self._rows.memory
        with self._rows.row(account_id, lambda at: _ROW.unpack_from(memory, at)[0] < day) as at:
            if at is not None:
                found, spent = _ROW.unpack_from(memory, at)
                _ROW.pack_into(memory, at, day, tokens + (spent if found == day else 0))

    def highest(self, day: int) -> int:
        """Return the most that an account has spent on that day."""
        rows = (_ROW.unpack_from(self._rows.memory, at) for at in self._rows.places())
        return max((spent for found, spent in rows if found == day), default=0)
