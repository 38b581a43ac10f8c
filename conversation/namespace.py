"""Gives out one object per conversation, for as long as somebody uses it.

An object leaves memory with its last user. There is nothing worth keeping: its state is in storage, and
a turn reads it in the transaction that takes its lease.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from conversation.conversation_object import ConversationObject
from conversation.policy import ConversationPolicy
from conversation.storage import ConversationKey, ConversationStorage


class Namespace:
    """The objects of this process that are in use; objects of different conversations run in parallel."""

    def __init__(
        self, storage: ConversationStorage, policy: ConversationPolicy, clock: Callable[[], float]
    ) -> None:
        self._storage = storage
        self._policy = policy
        self._clock = clock
        self._live: dict[ConversationKey, ConversationObject] = {}

    def __len__(self) -> int:
        return len(self._live)

    def __repr__(self) -> str:
        turns = sum(len(found.queue) for found in self._live.values())
        return f"<Namespace {len(self._live)} objects, {turns} turns>"

    @contextmanager
    def place(self, key: ConversationKey) -> Iterator[tuple[ConversationObject, asyncio.Event]]:
        """Arrive at the conversation's object and leave it again; arriving waits for nothing.

        Raises:
            ConversationBusy: Too many turns of the conversation are waiting.
        """
        found = self._live.get(key)
        if found is None:
            found = self._live[key] = ConversationObject(key, self._storage, self._policy, self._clock)
        place = found.queue.arrive()
        try:
            yield found, place
        finally:
            found.queue.leave(place)
            if not found.queue:
                del self._live[key]
