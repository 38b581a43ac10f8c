"""Wakes tasks of this process when something is published on a channel; one connection for all of them."""

from __future__ import annotations

import asyncio
import logging

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from cache.background_work import BackgroundWork
from cache.redis_connection import redis_errors

logger = logging.getLogger(__name__)

_RECONNECT_SECONDS = 0.2


class RedisWakeups:
    """One event per channel. A wake-up may be lost with its connection, so whoever waits also looks."""

    def __init__(self, client: Redis, background: BackgroundWork) -> None:
        self._client = client
        self._background = background
        self._events: dict[str, asyncio.Event] = {}
        self._pubsub: PubSub | None = None
        self._changing = asyncio.Lock()

    async def subscribe(self, channel: str) -> asyncio.Event:
        """Return the event that is set when something is published on `channel`.

        Raises:
            TierUnavailable: Redis is not reachable.
        """
        event = self._events[channel] = asyncio.Event()
        async with self._changing:
            if self._pubsub is None:
                pubsub = self._client.pubsub(ignore_subscribe_messages=True)
                with redis_errors("flight"):
                    await pubsub.subscribe(channel)
                self._pubsub = pubsub
                self._background.start(self._listen(pubsub), name="flight-wakeups", until_closing=True)
            else:
                with redis_errors("flight"):
                    await self._pubsub.subscribe(channel)
        return event

    async def unsubscribe(self, channel: str) -> None:
        """Let go of a channel."""
        self._events.pop(channel, None)
        async with self._changing:
            if self._pubsub is None:
                return
            try:
                await self._pubsub.unsubscribe(channel)
            except (RedisError, OSError) as error:
                _log_interruption(error)

    async def _listen(self, pubsub: PubSub) -> None:
        try:
            while True:
                try:
                    message = await pubsub.get_message(timeout=1.0)
                except (RedisError, OSError) as error:
                    _log_interruption(error)
                    await asyncio.sleep(_RECONNECT_SECONDS)
                    continue
                event = self._events.get(_text(message["channel"])) if message is not None else None
                if event is not None:
                    event.set()
        finally:
            await pubsub.aclose()  # type: ignore[no-untyped-call]


def _log_interruption(error: Exception) -> None:
    logger.warning("cache_wakeups_interrupted", extra={"tier": "flight", "error": str(error)})


def _text(channel: bytes | str) -> str:
    return channel.decode() if isinstance(channel, bytes) else channel
