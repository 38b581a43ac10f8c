"""A turn of a conversation, from the question to the durable answer.

Entering it waits for nothing, so the stream can open at once; `history` takes the lease and loads, beside
whatever else the caller does; `commit` returns when the turn is durable, which is when a caller may say
that the answer has ended.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from conversation.conversation_object import ConversationObject
from conversation.errors import ConversationError, StorageUnavailable
from conversation.history import History
from conversation.interaction import Interaction, encode_interaction
from conversation.leases import LeaseKeeper

logger = logging.getLogger(__name__)


class Turn:
    """One turn; made by `Conversations.turn` and used inside its `async with`."""

    __slots__ = (
        "_check",
        "_asked",
        "_committed",
        "_failure",
        "_history",
        "_leases",
        "_loading",
        "_object",
        "_place",
        "_token",
        "is_new",
    )

    def __init__(
        self,
        conversation: ConversationObject,
        place: asyncio.Event,
        token: str,
        check: Callable[[], Awaitable[None]] | None,
        leases: LeaseKeeper,
        *,
        is_new: bool,
    ) -> None:
        self._object = conversation
        self._place = place
        self._token = token
        self._check = check
        self._leases = leases
        self._history: Sequence[Interaction] | None = None
        self._failure: ConversationError | None = None
        self._loading = asyncio.Lock()
        self._asked = False
        self._committed: Interaction | None = None
        self.is_new = is_new

    @property
    def conversation_id(self) -> str:
        """The conversation's id, known from the start."""
        return self._object.key.conversation_id

    async def history(self) -> Sequence[Interaction]:
        """Return the last turns, oldest first, once no other turn runs; the first call takes the lease.

        A failure is remembered: whoever asks again, `commit` included, gets it at once, because a turn that
        was answered without its history must not become the state that the next one builds on. All but the
        last turn are decoded when they are looked at, which raises `StorageDamaged` where one cannot be.

        Raises:
            ConversationNotFound: The id was never issued to this account.
            ConversationBusy: The turns before this one take too long.
            StorageUnavailable: The storage could not answer.
        """
        async with self._loading:
            if self._failure is not None:
                raise self._failure
            if self._history is None:
                try:
                    if self._check is not None:
                        await self._check()
                    self._asked = True
                    begun = await self._object.begin(self._place, self._token)
                    self._leases.hold(self._token, self._object)
                    self._history = History(begun.history)
                except ConversationError as error:
                    self._failure = error
                    raise
            return self._history

    async def commit(self, interaction: Interaction) -> Interaction:
        """Append the turn and return it with its number and time; what returns is durable.

        A turn is committed once; a second call returns the first one's outcome.

        Raises:
            InteractionTooLarge: It is over the limits.
            LeaseLost: Another turn took over, or the conversation was deleted; nothing was written.
            ConversationError: As `history`.
        """
        if self._committed is None:
            body = encode_interaction(interaction)
            await self.history()
            self._leases.let_go(self._token)
            number, created_at = await self._object.commit(self._token, body)
            self._committed = replace(interaction, number=number, created_at=created_at)
        return self._committed

    async def release(self) -> None:
        """Let the next turn begin; a turn that was not committed gives its lease back."""
        self._leases.let_go(self._token)
        if self._committed is not None or not self._asked:
            return
        try:
            await self._object.release(self._token)
        except (StorageUnavailable, TimeoutError) as error:
            # The lease ends by itself after its time.
            logger.warning("conversation_lease_not_released", extra={"reason": str(error)})
