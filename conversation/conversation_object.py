"""One conversation as a serial object: its turns and its alarm run one after another.

The queue orders what happens in this process, the storage's lease what happens in others. Nothing of the
conversation is kept in memory: the lease has to be taken in storage anyway, and brings the history along.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator
from itertools import count

from conversation.errors import ConversationBusy, LeaseHeld
from conversation.policy import ConversationPolicy
from conversation.storage import BegunTurn, ConversationKey, ConversationStorage
from conversation.turn_queue import TurnQueue

MAX_POLL_SECONDS = 0.25


class ConversationObject:
    """The one place in this process where this conversation is acted on."""

    __slots__ = ("_clock", "_policy", "_storage", "key", "queue")

    def __init__(
        self,
        key: ConversationKey,
        storage: ConversationStorage,
        policy: ConversationPolicy,
        clock: Callable[[], float],
    ) -> None:
        self.key = key
        self.queue = TurnQueue()
        self._storage = storage
        self._policy = policy
        self._clock = clock

    def __repr__(self) -> str:
        return f"<ConversationObject {self.key.conversation_id!r}, {len(self.queue)} in turn>"

    async def begin(self, place: asyncio.Event, token: str) -> BegunTurn:
        """Wait for the place to come up, then take the lease.

        Raises:
            ConversationBusy: It took longer than `lease_wait_seconds`.
            StorageUnavailable: The storage could not answer.
        """
        try:
            async with asyncio.timeout(self._policy.lease_wait_seconds):
                await place.wait()
                return await self._take_lease(token)
        except TimeoutError as error:
            raise ConversationBusy(
                f"another turn of this conversation has not ended in {self._policy.lease_wait_seconds} s"
            ) from error

    async def commit(self, token: str, body: bytes) -> tuple[int, float]:
        """Commit a turn; return its number and time.

        Raises:
            LeaseLost: Another turn took over.
            StorageUnavailable: The storage could not answer.
        """
        now = self._clock()
        number = await self._storage.commit_turn(
            self.key,
            token,
            body,
            now=now,
            keep=self._policy.keep,
            alarm_at=now + self._policy.idle_seconds,
        )
        return number, now

    async def renew(self, token: str) -> bool:
        """Prolong a lease; return whether it was still held."""
        lease_until = self._clock() + self._policy.lease_seconds
        return await self._storage.renew_turn(self.key, token, lease_until=lease_until)

    async def release(self, token: str) -> None:
        """End a lease that brought no turn."""
        async with asyncio.timeout(self._policy.release_seconds):
            await self._storage.release_turn(self.key, token)

    async def alarm(self, place: asyncio.Event) -> float | None:
        """Delete the conversation if it is idle; return the time of its next alarm where it is not."""
        await place.wait()
        idle_since = self._clock() - self._policy.idle_seconds
        used_at = await self._storage.delete_if_idle(self.key, idle_since=idle_since)
        return None if used_at is None else used_at + self._policy.idle_seconds

    async def _take_lease(self, token: str) -> BegunTurn:
        pause = self._policy.lease_poll_seconds
        while True:
            now = self._clock()
            try:
                return await self._storage.begin_turn(
                    self.key,
                    token,
                    now=now,
                    lease_until=now + self._policy.lease_seconds,
                    history=self._policy.history,
                    alarm_at=now + self._policy.idle_seconds,
                )
            except LeaseHeld:
                await asyncio.sleep(pause)
                pause = min(2 * pause, MAX_POLL_SECONDS)


def tokens() -> Iterator[str]:
    """Yield lease tokens that nobody else has, in this process or any other."""
    # One draw from the system for all of them: it lets go of the interpreter, which takes long to come back.
    mine = secrets.token_hex(16)
    return (f"{mine}:{number}" for number in count())
