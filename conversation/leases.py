"""Keeps the leases of running turns alive, so that a lease can be short.

A short lease is what makes a killed process harmless to the shopper who tries again a moment later. A
process that is too busy to renew in time loses its turn to fencing, not its data.
"""

from __future__ import annotations

import asyncio
import logging

from conversation.conversation_object import ConversationObject
from conversation.errors import ConversationError
from conversation.policy import ConversationPolicy

logger = logging.getLogger(__name__)


class LeaseKeeper:
    """The leases that this process holds."""

    def __init__(self, policy: ConversationPolicy) -> None:
        self._every_seconds = policy.lease_seconds / 3
        self._held: dict[str, ConversationObject] = {}

    def hold(self, token: str, conversation: ConversationObject) -> None:
        """Renew this lease from now on."""
        self._held[token] = conversation

    def let_go(self, token: str) -> None:
        """Renew it no longer; must come before its commit or release is sent."""
        self._held.pop(token, None)

    async def run(self) -> None:
        """Renew what is held, three times in a lease, until cancelled."""
        while True:
            await asyncio.sleep(self._every_seconds)
            try:
                await self.renew_all()
            except Exception:
                logger.exception("conversation_lease_renewal_failed")

    async def renew_all(self) -> None:
        """Renew every lease that is held now; one that is lost is dropped, its turn will notice."""
        async with asyncio.TaskGroup() as renewing:
            for token, conversation in tuple(self._held.items()):
                renewing.create_task(
                    self._renew(token, conversation), name=f"lease:{conversation.key.conversation_id}"
                )

    async def _renew(self, token: str, conversation: ConversationObject) -> None:
        try:
            if not await conversation.renew(token):
                self.let_go(token)
        except ConversationError as error:
            logger.warning("conversation_lease_not_renewed", extra={"reason": str(error)})
