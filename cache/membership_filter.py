"""The seam to the negative filter: which queries were certainly never cached.

It saves a table read for every query nobody has asked before, which are most. Whenever it is not sure it says
"maybe", which costs that read and nothing else.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from cache.keys import QueryKey


class FilterVerdict(StrEnum):
    """What the filter knows of a key; the text is what log lines show."""

    ABSENT = "absent"
    """Certainly not in the table: the only verdict that ends a lookup."""
    PRESENT = "present"
    """In the filter; wrong for 0.4 % of the keys that are not in the table."""
    ADDED = "added"
    """Written since the filter was built."""
    UNBUILT = "unbuilt"
    """No filter has been built for this account and index."""
    DAMAGED = "damaged"
    """The file failed its checks."""
    OLD = "old"
    """The filter is over its maximum age."""
    BEHIND = "behind"
    """What other processes have written in the last seconds is not known yet."""


class MembershipFilter(Protocol):
    """Says which keys were certainly never stored, without a network call.

    Implementations MUST answer `ABSENT` only for a key that no process had stored five seconds ago, and that
    this process has not stored since.
    """

    def verdict(self, key: QueryKey) -> FilterVerdict:
        """Return what is known of a key; takes under a microsecond and never waits."""
        ...

    def note_use(self, key: QueryKey) -> None:
        """Note that a key's scope is in use, so that changes by other processes are followed."""
        ...

    def add(self, key: QueryKey, *, written_at_ms: int) -> None:
        """Make a key known, before it is written to the table."""
        ...

    async def rebuild(self, account_id: str, index: str) -> int:
        """Build the filter of an account's index from the table, for every process; return its keys.

        Raises:
            FilterBusy: Another process builds it right now.
            TierUnavailable: The table could not be read.
        """
        ...
