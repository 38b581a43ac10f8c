"""The face of this package: turns for the worker, and an owner's list, read, export and delete.

async with conversations.turn(account_id, conversation_id) as turn:   # waits for nothing
    history = await turn.history()                                    # lease and load
    committed = await turn.commit(Interaction(query=..., summary=...))  # durable
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from conversation.alarms import AlarmSweep
from conversation.conversation_object import tokens
from conversation.errors import ConversationNotFound, StorageUnavailable
from conversation.history import History
from conversation.identity import is_issued_id, new_conversation_id, new_secret
from conversation.interaction import Interaction
from conversation.leases import LeaseKeeper
from conversation.namespace import Namespace
from conversation.policy import ConversationPolicy
from conversation.storage import ConversationKey, ConversationStorage, ConversationSummary
from conversation.turn import Turn

logger = logging.getLogger(__name__)

MAX_LISTED = 100
"""Conversations of one page of the list."""

EXPORT_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation with the turns that are kept of it, oldest first; `summary.turns` counts all."""

    summary: ConversationSummary
    interactions: Sequence[Interaction]


class Conversations:
    """All conversations of one storage, as one process sees them.

    Owning a conversation is being of its account and knowing its id; listing an account's ids is
    therefore for the account's own secret key, which the caller of `list` has to have checked.
    """

    def __init__(
        self,
        storage: ConversationStorage,
        policy: ConversationPolicy,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._storage = storage
        self._secrets = [new_secret()]
        self._secret_is_shared = False
        self._tokens = tokens()
        self.namespace = Namespace(storage, policy, clock)
        self.leases = LeaseKeeper(policy)
        self.alarms = AlarmSweep(storage, self.namespace, policy, clock)

    async def load_secret(self) -> None:
        """Learn the secret that all processes share; before, another's id cannot be told from a forged one.

        Raises:
            StorageUnavailable: The storage could not answer; `turn` tries again.
        """
        if not self._secret_is_shared:
            shared = await self._storage.shared_secret(self._secrets[0])
            # Ids that this process gave out before it knew better stay good while it lives.
            self._secrets = [shared, *(own for own in self._secrets if own != shared)]
            self._secret_is_shared = True

    @asynccontextmanager
    async def turn(self, account_id: str, conversation_id: str | None = None) -> AsyncIterator[Turn]:
        """Open a turn without waiting; no id begins a new conversation.

        Raises:
            ConversationNotFound: The id was never issued to this account.
            ConversationBusy: Too many turns of the conversation are waiting.
        """
        is_new = conversation_id is None
        if conversation_id is None:
            conversation_id = new_conversation_id(self._secrets[0], account_id)
        elif self._secret_is_shared and not self._is_issued(account_id, conversation_id):
            raise ConversationNotFound(conversation_id)
        is_checked = is_new or self._secret_is_shared
        key = ConversationKey(account_id=account_id, conversation_id=conversation_id)
        with self.namespace.place(key) as (conversation, place):
            check = None if is_checked else partial(self._check, key)
            turn = Turn(conversation, place, next(self._tokens), check, self.leases, is_new=is_new)
            try:
                yield turn
            finally:
                await turn.release()

    async def list(
        self, account_id: str, *, limit: int = 50, offset: int = 0
    ) -> Sequence[ConversationSummary]:
        """Return a page of the account's conversations, last used first; `limit` is at most 100.

        Raises:
            ValueError: `limit` or `offset` is out of range.
            StorageUnavailable: The storage could not answer.
        """
        if not 1 <= limit <= MAX_LISTED:
            raise ValueError(f"limit must be 1 to {MAX_LISTED}, got {limit!r}")
        if not 0 <= offset <= 1_000_000:
            raise ValueError(f"offset must be 0 to 1000000, got {offset!r}")
        return await self._storage.list_conversations(account_id, limit=limit, offset=offset)

    async def read(self, account_id: str, conversation_id: str) -> Conversation:
        """Return what is kept of a conversation.

        Raises:
            ConversationNotFound: The account has no such conversation.
            StorageUnavailable: The storage could not answer.
        """
        key = ConversationKey(account_id=account_id, conversation_id=conversation_id)
        await self._check(key)
        found = await self._storage.read(key)
        if found is None:
            raise ConversationNotFound(conversation_id)
        return Conversation(summary=found.summary, interactions=History(found.turns))

    async def export(self, account_id: str, conversation_id: str) -> dict[str, Any]:
        """Return everything kept of a conversation as JSON, in names that can be shown to its owner.

        Raises:
            ConversationNotFound: The account has no such conversation.
            StorageUnavailable: The storage could not answer.
        """
        conversation = await self.read(account_id, conversation_id)
        return {
            "format": EXPORT_FORMAT,
            "conversationId": conversation_id,
            "turns": conversation.summary.turns,
            "createdAt": conversation.summary.created_at,
            "updatedAt": conversation.summary.updated_at,
            "interactions": [
                {
                    "number": interaction.number,
                    "createdAt": interaction.created_at,
                    "query": interaction.query,
                    "summary": interaction.summary,
                    "productIds": list(interaction.product_ids),
                    "categories": list(interaction.categories),
                    "state": dict(interaction.state),
                }
                for interaction in conversation.interactions
            ],
        }

    async def delete(self, account_id: str, conversation_id: str) -> None:
        """Delete a conversation: turns, lease, alarm. A turn that runs meanwhile will not be committed.

        Raises:
            ConversationNotFound: The account has no such conversation.
            StorageUnavailable: The storage could not answer.
        """
        key = ConversationKey(account_id=account_id, conversation_id=conversation_id)
        await self._check(key)
        if not await self._storage.delete(key):
            raise ConversationNotFound(conversation_id)

    async def _check(self, key: ConversationKey) -> None:
        if self._is_issued(key.account_id, key.conversation_id):
            return
        await self.load_secret()
        if not self._is_issued(key.account_id, key.conversation_id):
            raise ConversationNotFound(key.conversation_id)

    def _is_issued(self, account_id: str, conversation_id: str) -> bool:
        return any(is_issued_id(secret, account_id, conversation_id) for secret in self._secrets)


async def try_load_secret(conversations: Conversations) -> None:
    """Load the shared secret if the storage answers; where it does not, say so and go on."""
    try:
        await conversations.load_secret()
    except StorageUnavailable as error:
        logger.warning("conversation_storage_unavailable", extra={"reason": str(error)})
