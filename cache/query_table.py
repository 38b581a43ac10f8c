"""The seam to the table of cached queries: what lasts, shared by every process.

The table also tells the other processes what has changed: `changes` feeds their membership filters and
empties their edge caches. Implementations: `sqlite_table.py` and `dynamodb_table.py`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from cache.keys import QueryKey

DROPS_SCOPE = "!drops"
"""The scope of dropped accounts in `changes`; a real scope has exactly one `#`, this one none."""

TOMBSTONE_SECONDS = 86_400
"""A deleted key stays visible in `changes` for a day, far longer than any process goes without asking."""


DROP_RECORD_SECONDS = 400 * 86_400
"""That an account was dropped is remembered longer than any entry written before it can live."""

CLOCK_SKEW_MS = 60_000
"""A row from further in the future was written by a clock that is wrong, and may be replaced."""


class KeyChange(NamedTuple):
    """A key that was written, deleted, or (in `DROPS_SCOPE`) an account that was dropped."""

    text: str
    written_at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One stored answer."""

    entry: bytes
    written_at_ms: int
    expires_at: int | None
    """Epoch seconds; None for a pinned answer, which does not expire."""
    pinned: bool = False


class QueryTable(Protocol):
    """Keeps cached answers.

    Implementations MUST NOT return an expired row, however late they delete it, and MUST make a row that
    `put` has acknowledged visible to every later `get` and, within a second, to every `changes`.
    """

    name: str

    async def get(self, key: QueryKey) -> TableRow | None:
        """Return the row of a key.

        Raises:
            TierUnavailable: The table could not answer.
        """
        ...

    async def put(self, key: QueryKey, row: TableRow) -> bool:
        """Store a row; return False where a pinned or a newer one stands, which stays.

        A pinned row replaces everything.

        Raises:
            EntryTooLarge: The table refuses a row of this size.
            TierUnavailable: The table could not store it; it may have been stored all the same.
        """
        ...

    async def delete(self, key: QueryKey, *, written_at_ms: int) -> bool:
        """Delete a row, pinned or not; return whether there was one. The deletion shows in `changes`.

        Raises:
            TierUnavailable: The table could not answer.
        """
        ...

    async def drop_account(self, account_id: str, *, written_at_ms: int) -> int:
        """Delete every row of an account, then tell it in `DROPS_SCOPE`; return how many there were.

        Raises:
            TierUnavailable: The table could not finish; calling it again continues.
        """
        ...

    def changes(self, scope: str, since_ms: int) -> AsyncGenerator[Sequence[KeyChange], None]:
        """Yield pages of what was written or deleted in a scope at `since_ms` or later, oldest first.

        From 0 it is every key of the scope, tombstones included.

        Raises:
            TierUnavailable: The table could not answer.
        """
        ...

    async def close(self) -> None:
        """Let go of connections, files and threads."""
        ...
