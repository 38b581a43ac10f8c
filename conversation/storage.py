"""The seam to a conversation storage, and the values that cross it.

A storage keeps bytes. It numbers the turns, fences them by lease, keeps one alarm per conversation, and
says yes only to what will survive the process. Every time is the caller's clock, in seconds, so that
tests own it; a lease that a skewed clock ends early costs a turn, never a wrong write, because a commit
is checked against the lease's token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationKey:
    """Which conversation; the account is part of the identity."""

    account_id: str
    conversation_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    """One committed turn."""

    number: int
    created_at: float
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunTurn:
    """A lease taken: `fence` grows with every lease of the conversation. `history` is oldest first."""

    fence: int
    history: tuple[StoredTurn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSummary:
    """A line of the list: `turns` counts all that were ever committed."""

    conversation_id: str
    turns: int
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConversation:
    """Everything that is kept of one conversation."""

    summary: ConversationSummary
    turns: tuple[StoredTurn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedAlarm:
    """An alarm that is due and ours until `claimed_until`; `attempts` counts this one."""

    key: ConversationKey
    attempts: int
    claimed_until: float


class TurnStorage(Protocol):
    """Leases and commits turns. Every method may raise `StorageUnavailable`."""

    async def begin_turn(
        self,
        key: ConversationKey,
        token: str,
        *,
        now: float,
        lease_until: float,
        history: int,
        alarm_at: float,
    ) -> BegunTurn:
        """Take the turn's lease and return the last `history` turns, in one transaction.

        A conversation that does not exist is created, with its alarm, so that it cannot be forgotten.

        Raises:
            LeaseHeld: Another token has it and its time is not over.
        """
        ...

    async def commit_turn(
        self, key: ConversationKey, token: str, body: bytes, *, now: float, keep: int, alarm_at: float
    ) -> int:
        """Append the turn, keep the last `keep`, push the alarm out, end the lease; return its number.

        Implementations MUST return only when the turn survives the end of this process. The same token
        again returns the same number and writes nothing.

        Raises:
            LeaseLost: The lease is somebody else's by now, or the conversation is gone.
        """
        ...

    async def renew_turn(self, key: ConversationKey, token: str, *, lease_until: float) -> bool:
        """Prolong the lease; return False, changing nothing, where the token does not hold it."""
        ...

    async def release_turn(self, key: ConversationKey, token: str) -> None:
        """End the lease without a turn; nothing happens where the token does not hold it."""
        ...


class AlarmStorage(Protocol):
    """One alarm per conversation. Every method may raise `StorageUnavailable`."""

    async def claim_alarms(self, *, now: float, claim_until: float, limit: int) -> Sequence[ClaimedAlarm]:
        """Return due alarms, earliest first, each to one caller only until `claim_until`."""
        ...

    async def postpone_alarm(self, alarm: ClaimedAlarm, due_at: float, *, attempts: int) -> None:
        """Set a claimed alarm to a later time; nothing happens where it was set anew meanwhile."""
        ...

    async def delete_if_idle(self, key: ConversationKey, *, idle_since: float) -> float | None:
        """Delete the conversation, alarm and all, unless it was used after `idle_since`.

        Returns:
            None where nothing of it is left, else the time of its last use.
        """
        ...


class ConversationStorage(TurnStorage, AlarmStorage, Protocol):
    """Keeps conversations; what one process has written every other one reads."""

    async def read(self, key: ConversationKey) -> StoredConversation | None:
        """Return everything kept of a conversation that has turns, oldest first, or None."""
        ...

    async def list_conversations(
        self, account_id: str, *, limit: int, offset: int
    ) -> Sequence[ConversationSummary]:
        """Return the account's conversations that have turns, last committed first."""
        ...

    async def delete(self, key: ConversationKey) -> bool:
        """Delete turns, lease, alarm and every other trace; return whether anything was there."""
        ...

    async def shared_secret(self, proposed: bytes) -> bytes:
        """Return the secret that all processes of this storage share: the first one ever proposed."""
        ...

    async def aclose(self) -> None:
        """Finish what was accepted and let go of files and sockets."""
        ...
