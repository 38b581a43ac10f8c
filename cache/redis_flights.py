"""Flights that several processes share through Redis.

The lead is a lease with a token; the leader's events are a list under that token, and each push wakes the
followers through pub/sub. A wake-up that is lost costs a follower half a second, never an event. A leader
that dies lets its lease run out, which its followers see.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from collections.abc import AsyncGenerator

from redis.asyncio import Redis

from cache.background_work import BackgroundWork
from cache.errors import FlightAbandoned, TierUnavailable
from cache.redis_connection import redis_errors
from cache.redis_wakeups import RedisWakeups
from cache.single_flight import RemoteLead

logger = logging.getLogger(__name__)

TIER = "flight"

_LOG_SECONDS = 60.0
_ENDED_LOG_SECONDS = 10.0
_LOST_WAKEUP_SECONDS = 0.5
_EVENT, _FINISHED, _ABANDONED = b"E", b"F", b"A"

# The lease is renewed only by its holder: a leader that was paused past its lease has lost it to another.
_PUBLISH = """
redis.call('RPUSH', KEYS[2], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
redis.call('PUBLISH', KEYS[2], '')
"""

_END = """
redis.call('RPUSH', KEYS[2], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
redis.call('PUBLISH', KEYS[2], '')
"""

_RENEW = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
"""


class RedisFlights:
    """Claims and follows flights under `{prefix}:flight`."""

    def __init__(
        self,
        client: Redis,
        background: BackgroundWork,
        *,
        prefix: str,
        lease_seconds: float,
    ) -> None:
        self._client = client
        self._background = background
        self._prefix = prefix
        self._lease_ms = int(lease_seconds * 1000)
        self._wakeups = RedisWakeups(client, background)
        self._publish = client.register_script(_PUBLISH)
        self._end = client.register_script(_END)
        self._renew = client.register_script(_RENEW)

    async def claim(self, key: str) -> RemoteLead | None:
        """Return the lead, None where another process has it.

        Raises:
            TierUnavailable: Redis cannot say.
        """
        lease, token = self._lease_name(key), secrets.token_hex(8)
        with redis_errors(TIER):
            claimed = await self._client.set(lease, token, nx=True, px=self._lease_ms)
        if not claimed:
            return None
        lead = _Lead(self, lease, token)
        self._background.start(lead.keep(), name="flight-lease")
        return lead

    async def follow(self, key: str) -> AsyncGenerator[bytes, None]:
        """Yield the events of the process that leads.

        Raises:
            FlightAbandoned: It went away without finishing.
            TierUnavailable: Redis cannot be read.
        """
        lease = self._lease_name(key)
        with redis_errors(TIER):
            token = await self._client.get(lease)
        if token is None:
            raise FlightAbandoned("the flight was over before it could be followed")
        log = _log_name(lease, _text(token))
        wakeup = await self._wakeups.subscribe(log)
        try:
            position, over = 0, False
            while not over:
                wakeup.clear()
                events, holder = await self._read(lease, log, position)
                for event in events:
                    if event[:1] == _ABANDONED:
                        raise FlightAbandoned(f"the leading process gave up after {position} events")
                    over = event[:1] == _FINISHED
                    if not over:
                        yield event[1:]
                position += len(events)
                if over:
                    return
                if not events and holder != token:
                    raise FlightAbandoned(f"the leading process went away after {position} events")
                await _wait(wakeup, _LOST_WAKEUP_SECONDS)
        finally:
            await self._wakeups.unsubscribe(log)

    async def publish(self, lease: str, token: str, event: bytes) -> None:
        """Append to the log of a lead, renew its lease, and wake the followers."""
        with redis_errors(TIER):
            await self._publish(
                keys=[lease, _log_name(lease, token)],
                args=[token, _EVENT + event, self._lease_ms, int(_LOG_SECONDS * 1000)],
            )

    async def end(self, lease: str, token: str, *, finished: bool) -> None:
        """Close the log of a lead and give its lease back, in one step."""
        with redis_errors(TIER):
            await self._end(
                keys=[lease, _log_name(lease, token)],
                args=[token, _FINISHED if finished else _ABANDONED, int(_ENDED_LOG_SECONDS * 1000)],
            )

    async def renew(self, lease: str, token: str) -> bool:
        """Prolong a lease; return whether it is still held."""
        with redis_errors(TIER):
            return bool(await self._renew(keys=[lease], args=[token, self._lease_ms]))

    @property
    def lease_seconds(self) -> float:
        """How long a lease lasts without being renewed."""
        return self._lease_ms / 1000

    async def _read(self, lease: str, log: str, position: int) -> tuple[list[bytes], bytes | None]:
        with redis_errors(TIER):
            async with self._client.pipeline(transaction=True) as both:
                both.lrange(log, position, -1)
                both.get(lease)
                events, holder = await both.execute()
        return events, holder

    def _lease_name(self, key: str) -> str:
        digest = hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
        return f"{self._prefix}:flight:{{{digest}}}"


class _Lead:
    def __init__(self, flights: RedisFlights, lease: str, token: str) -> None:
        self._flights = flights
        self._lease = lease
        self._token = token
        self._over = asyncio.Event()

    async def publish(self, event: bytes) -> None:
        await self._flights.publish(self._lease, self._token, event)

    async def end(self, *, finished: bool) -> None:
        self._over.set()
        await self._flights.end(self._lease, self._token, finished=finished)

    async def keep(self) -> None:
        """Renew the lease until the lead ends or is lost."""
        while not await _wait(self._over, self._flights.lease_seconds / 3):
            try:
                if not await self._flights.renew(self._lease, self._token):
                    logger.warning("cache_flight_lease_lost", extra={"tier": TIER})
                    return
            except TierUnavailable as error:
                logger.warning("cache_flight_not_renewed", extra={"tier": TIER, "error": str(error)})


async def _wait(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _log_name(lease: str, token: str) -> str:
    return f"{lease}:{token}"


def _text(token: bytes | str) -> str:
    return token.decode() if isinstance(token, bytes) else token
