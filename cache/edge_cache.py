"""The seam to the edge cache: bytes by account and key, fresh for a while, then stale, then gone.

A stale value is served while one caller refreshes it, so that a failing source is asked once per lease
and no shopper waits for it. Implementations: `in_process_edge.py` and `redis_edge.py`.
Source: flow document, step 3; design, decision 14.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

REFRESH_LEASE_SECONDS = 60.0
"""A source that fails is asked again once a minute, whatever the traffic."""

MAX_VALUE_BYTES = 1_000_000
"""Far over any answer or document page; one value must not push everything else out."""


QUERY_KIND = "query"
"""The kind of cached answers; every other kind is free for small values."""


class EdgeKey(NamedTuple):
    """Names one value. Values of different kinds never meet, nor do those of different accounts."""

    account_id: str
    kind: str
    """`query`, `suggestions`, `document`."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeTimes:
    """How long a value is fresh, and how long it is kept at all."""

    fresh_seconds: float = 3600.0
    max_age_seconds: float = 7200.0

    def __post_init__(self) -> None:
        if not 0 <= self.fresh_seconds <= self.max_age_seconds or self.max_age_seconds <= 0:
            raise ValueError(
                f"fresh_seconds must be between 0 and max_age_seconds, got {self.fresh_seconds!r} "
                f"and {self.max_age_seconds!r}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeValue:
    """A value as the edge cache holds it."""

    value: bytes
    age_seconds: float
    is_stale: bool


class EdgeCache(Protocol):
    """Holds values near the shopper.

    Implementations MUST NOT return a value past its max age, a value of a dropped account, or bytes
    other than those that were put. `name` is the tier's name in logs; `is_local` says that no call waits
    for a network.
    """

    name: str
    is_local: bool

    @property
    def used_bytes(self) -> int | None:
        """The bytes in use in this process, overhead included; None where they are elsewhere."""
        ...

    async def get(self, key: EdgeKey) -> EdgeValue | None:
        """Return the value, fresh or stale; a damaged one is removed and not returned.

        Raises:
            TierUnavailable: The tier could not answer.
        """
        ...

    async def put(self, key: EdgeKey, value: bytes, times: EdgeTimes) -> None:
        """Store a value; it may be evicted at any time.

        Raises:
            EntryTooLarge: It is over `MAX_VALUE_BYTES`.
            TierUnavailable: The tier could not store it.
        """
        ...

    async def remove(self, key: EdgeKey) -> None:
        """Remove a value, if it is there.

        Raises:
            TierUnavailable: The tier could not answer.
        """
        ...

    async def claim_refresh(self, key: EdgeKey, lease_seconds: float = REFRESH_LEASE_SECONDS) -> bool:
        """Return True to exactly one caller per lease: that one refreshes the value.

        Raises:
            TierUnavailable: The tier could not answer.
        """
        ...

    async def drop_account(self, account_id: str) -> None:
        """Forget every value of an account; no later `get` returns one that was put before.

        Raises:
            TierUnavailable: The tier could not; the values may still be there.
        """
        ...

    async def connect(self) -> None:
        """Open now what the first call would otherwise open and wait for.

        Raises:
            TierUnavailable: The tier cannot be reached; later calls try again.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
