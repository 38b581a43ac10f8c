"""Fires the alarms of conversations: at least once each, with back-off, across restarts.

An alarm lives in storage and is claimed for a while; a process that dies with a claim lets it fire again
elsewhere. What an alarm does is decided by the conversation's object, in its turn: delete if idle.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable

from conversation.errors import ConversationBusy, ConversationError
from conversation.namespace import Namespace
from conversation.policy import ConversationPolicy
from conversation.storage import ClaimedAlarm, ConversationStorage

logger = logging.getLogger(__name__)

BATCH = 64
"""Alarms of one claim; they share group commits."""

MAX_RETRY_SECONDS = 3600.0


class AlarmSweep:
    """Looks for due alarms again and again; any number of processes may."""

    def __init__(
        self,
        storage: ConversationStorage,
        namespace: Namespace,
        policy: ConversationPolicy,
        clock: Callable[[], float],
    ) -> None:
        self._storage = storage
        self._namespace = namespace
        self._policy = policy
        self._clock = clock

    async def run(self) -> None:
        """Fire what is due, pause, repeat, until cancelled; a failure is logged and tried again."""
        while True:
            fired = 0
            try:
                fired = await self.fire_due()
            except ConversationError as error:
                logger.warning("conversation_alarms_unavailable", extra={"reason": str(error)})
            except Exception:
                logger.exception("conversation_alarms_failed")
            if fired < BATCH:
                # Spread, so that processes started together do not ask together for ever.
                await asyncio.sleep(self._policy.alarm_interval_seconds * random.uniform(0.75, 1.25))

    async def fire_due(self) -> int:
        """Fire one batch of due alarms; return how many there were.

        Raises:
            StorageUnavailable: The storage could not say which are due.
        """
        now = self._clock()
        claimed = await self._storage.claim_alarms(
            now=now, claim_until=now + self._policy.alarm_claim_seconds, limit=BATCH
        )
        async with asyncio.TaskGroup() as firing:
            for alarm in claimed:
                firing.create_task(self._fire(alarm), name=f"alarm:{alarm.key.conversation_id}")
        return len(claimed)

    async def _fire(self, alarm: ClaimedAlarm) -> None:
        try:
            again_at = await self._ring(alarm)
            if again_at is not None:
                await self._storage.postpone_alarm(alarm, again_at, attempts=0)
            return
        except ConversationError as error:
            reason = str(error)
        pause = min(self._policy.alarm_retry_seconds * 2 ** min(alarm.attempts - 1, 20), MAX_RETRY_SECONDS)
        facts = {"attempt": alarm.attempts, "again_in_seconds": pause, "reason": reason}
        logger.warning("conversation_alarm_failed", extra=facts)
        try:
            await self._storage.postpone_alarm(alarm, self._clock() + pause, attempts=alarm.attempts)
        except ConversationError as error:
            # The claim runs out by itself, and the alarm fires again.
            logger.warning("conversation_alarm_not_postponed", extra={"reason": str(error)})

    async def _ring(self, alarm: ClaimedAlarm) -> float | None:
        with self._namespace.place(alarm.key) as (conversation, place):
            try:
                async with asyncio.timeout(self._policy.alarm_claim_seconds):
                    return await conversation.alarm(place)
            except TimeoutError as error:
                raise ConversationBusy("the conversation's turns did not end in time") from error
