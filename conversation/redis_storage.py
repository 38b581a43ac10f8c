"""Keeps conversations in Redis, for workers on several machines.

A commit is acknowledged when the server has applied it; what survives the server is its own setting
(`appendfsync`). A command that was sent again after a lost connection is harmless: a token commits once.
Every key also expires a day after its conversation's alarm, should nobody be left to fire that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote, unquote

import redis.asyncio
from redis.exceptions import OutOfMemoryError, RedisError

from conversation import redis_scripts as scripts
from conversation.errors import LeaseHeld, LeaseLost, StorageFull, StorageTimeout, StorageUnavailable
from conversation.storage import (
    BegunTurn,
    ClaimedAlarm,
    ConversationKey,
    ConversationSummary,
    StoredConversation,
    StoredTurn,
)

MAX_CONNECTIONS = 16
"""One Lua script takes the server well under 0.1 ms; more connections only add switching."""

EXPIRY_MARGIN_SECONDS = 86_400.0

PREFIX = "{aisle:conversations}"
"""The braces keep all keys of a script in one slot of a cluster."""


class RedisStorage:
    """A `ConversationStorage` over one Redis server, or one slot of a cluster."""

    def __init__(self, url: str, *, timeout_seconds: float = 1.0, prefix: str = PREFIX) -> None:
        self._prefix = prefix
        self._timeout_seconds = timeout_seconds
        # The pool gives a returned connection to whoever asks next, so those who wait for one could starve;
        # a semaphore in front of it is first come, first served.
        self._connections = asyncio.Semaphore(MAX_CONNECTIONS)
        pool = redis.asyncio.BlockingConnectionPool.from_url(
            url,
            max_connections=MAX_CONNECTIONS,
            timeout=timeout_seconds,
            socket_timeout=timeout_seconds,
            socket_connect_timeout=timeout_seconds,
            decode_responses=False,
        )
        self._redis: redis.asyncio.Redis = redis.asyncio.Redis.from_pool(pool)
        self._begin = self._redis.register_script(scripts.BEGIN_TURN)
        self._commit = self._redis.register_script(scripts.COMMIT_TURN)
        self._renew = self._redis.register_script(scripts.RENEW_TURN)
        self._release = self._redis.register_script(scripts.RELEASE_TURN)
        self._claim = self._redis.register_script(scripts.CLAIM_ALARMS)
        self._postpone = self._redis.register_script(scripts.POSTPONE_ALARM)
        self._delete = self._redis.register_script(scripts.DELETE)

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
        """See `TurnStorage`."""
        async with self._bounded():
            reply = await self._begin(
                keys=[self._facts(key), self._turns(key), self._alarms],
                args=[token, now, lease_until, history, alarm_at, _member(key), _ttl_ms(now, alarm_at)],
            )
        if reply[0] == b"held":
            raise LeaseHeld(float(reply[1]))
        return BegunTurn(fence=int(reply[1]), history=tuple(_turn(item) for item in reply[2]))

    async def commit_turn(
        self, key: ConversationKey, token: str, body: bytes, *, now: float, keep: int, alarm_at: float
    ) -> int:
        """See `TurnStorage`; acknowledged by the server."""
        async with self._bounded():
            number = await self._commit(
                keys=[*self._conversation_keys(key)],
                args=[
                    token,
                    now,
                    keep,
                    alarm_at,
                    _member(key),
                    key.conversation_id,
                    _ttl_ms(now, alarm_at),
                    body,
                ],
            )
        if not number:
            raise LeaseLost("another turn of the conversation took over, or it was deleted")
        return int(number)

    async def renew_turn(self, key: ConversationKey, token: str, *, lease_until: float) -> bool:
        """See `TurnStorage`."""
        async with self._bounded():
            return bool(await self._renew(keys=[self._facts(key)], args=[token, lease_until]))

    async def release_turn(self, key: ConversationKey, token: str) -> None:
        """See `TurnStorage`."""
        async with self._bounded():
            await self._release(keys=[self._facts(key)], args=[token])

    async def claim_alarms(self, *, now: float, claim_until: float, limit: int) -> Sequence[ClaimedAlarm]:
        """See `AlarmStorage`."""
        async with self._bounded():
            claimed = await self._claim(keys=[self._alarms, self._attempts], args=[now, claim_until, limit])
        return tuple(
            ClaimedAlarm(key=_key(member), attempts=int(attempts), claimed_until=claim_until)
            for member, attempts in claimed
        )

    async def postpone_alarm(self, alarm: ClaimedAlarm, due_at: float, *, attempts: int) -> None:
        """See `AlarmStorage`."""
        async with self._bounded():
            await self._postpone(
                keys=[self._alarms, self._attempts],
                args=[_member(alarm.key), alarm.claimed_until, due_at, attempts],
            )

    async def delete_if_idle(self, key: ConversationKey, *, idle_since: float) -> float | None:
        """See `AlarmStorage`."""
        async with self._bounded():
            reply = await self._delete(
                keys=[*self._conversation_keys(key)], args=[_member(key), key.conversation_id, idle_since]
            )
        return float(reply) if isinstance(reply, bytes) else None

    async def read(self, key: ConversationKey) -> StoredConversation | None:
        """See `ConversationStorage`."""
        async with self._bounded(), self._redis.pipeline(transaction=True) as pipeline:
            pipeline.hmget(self._facts(key), ["last_number", "created_at", "updated_at"])
            pipeline.lrange(self._turns(key), 0, -1)
            facts, turns = await pipeline.execute()
        summary = _summary(key.conversation_id, facts)
        if summary is None:
            return None
        return StoredConversation(summary=summary, turns=tuple(_turn(item) for item in turns))

    async def list_conversations(
        self, account_id: str, *, limit: int, offset: int
    ) -> Sequence[ConversationSummary]:
        """See `ConversationStorage`."""
        async with self._bounded():
            found = await self._redis.zrevrange(self._list(account_id), offset, offset + limit - 1)
            ids = [str(item, "utf-8") for item in found if isinstance(item, bytes)]
            async with self._redis.pipeline(transaction=False) as pipeline:
                for conversation_id in ids:
                    key = ConversationKey(account_id=account_id, conversation_id=conversation_id)
                    pipeline.hmget(self._facts(key), ["last_number", "created_at", "updated_at"])
                all_facts = await pipeline.execute()
        lines = (_summary(each, facts) for each, facts in zip(ids, all_facts, strict=True))
        return tuple(line for line in lines if line is not None)

    async def delete(self, key: ConversationKey) -> bool:
        """See `ConversationStorage`."""
        async with self._bounded():
            deleted = await self._delete(
                keys=[*self._conversation_keys(key)], args=[_member(key), key.conversation_id, ""]
            )
        return bool(deleted)

    async def shared_secret(self, proposed: bytes) -> bytes:
        """See `ConversationStorage`."""
        async with self._bounded():
            await self._redis.set(f"{self._prefix}:secret", proposed, nx=True)
            shared = await self._redis.get(f"{self._prefix}:secret")
        return shared if isinstance(shared, bytes) else proposed

    async def aclose(self) -> None:
        """Close every connection."""
        await self._redis.aclose()

    @asynccontextmanager
    async def _bounded(self) -> AsyncIterator[None]:
        try:
            async with _cancellable(), asyncio.timeout(self._timeout_seconds), self._connections:
                yield
        except TimeoutError as error:
            raise StorageTimeout(f"Redis did not answer within {self._timeout_seconds} s") from error
        except OutOfMemoryError as error:
            raise StorageFull(f"Redis has no room: {error}") from error
        except RedisError as error:
            raise StorageUnavailable(f"Redis could not answer: {error}") from error

    @property
    def _alarms(self) -> str:
        return f"{self._prefix}:alarms"

    @property
    def _attempts(self) -> str:
        return f"{self._prefix}:attempts"

    def _facts(self, key: ConversationKey) -> str:
        return f"{self._prefix}:facts:{_member(key)}"

    def _turns(self, key: ConversationKey) -> str:
        return f"{self._prefix}:turns:{_member(key)}"

    def _list(self, account_id: str) -> str:
        return f"{self._prefix}:list:{quote(account_id, safe='')}"

    def _conversation_keys(self, key: ConversationKey) -> tuple[str, ...]:
        return (
            self._facts(key),
            self._turns(key),
            self._alarms,
            self._attempts,
            self._list(key.account_id),
        )


@asynccontextmanager
async def _cancellable() -> AsyncIterator[None]:
    """Cancel what asked for it, though the client has swallowed the cancellation.

    It does when it is cancelled while it connects; whoever waits for the task would wait for ever.
    """
    task = asyncio.current_task()
    before = 0 if task is None else task.cancelling()
    try:
        yield
    finally:
        if task is not None and task.cancelling() > before:
            raise asyncio.CancelledError


def _member(key: ConversationKey) -> str:
    return f"{quote(key.account_id, safe='')}:{quote(key.conversation_id, safe='')}"


def _key(member: bytes) -> ConversationKey:
    account_id, _, conversation_id = member.decode().partition(":")
    return ConversationKey(account_id=unquote(account_id), conversation_id=unquote(conversation_id))


def _ttl_ms(now: float, alarm_at: float) -> int:
    return int((max(0.0, alarm_at - now) + EXPIRY_MARGIN_SECONDS) * 1000)


def _turn(item: bytes) -> StoredTurn:
    number, created_at, body = item.split(b" ", 2)
    return StoredTurn(number=int(number), created_at=float(created_at), body=body)


def _summary(conversation_id: str, facts: Sequence[Any]) -> ConversationSummary | None:
    last_number, created_at, updated_at = facts
    if last_number is None:
        return None
    return ConversationSummary(
        conversation_id=conversation_id,
        turns=int(last_number),
        created_at=float(created_at),
        updated_at=float(updated_at),
    )
