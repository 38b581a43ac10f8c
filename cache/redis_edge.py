"""The edge cache that several processes share, in Redis.

Each account has a generation token, read together with the value in one round trip; a value of another
generation is a miss. Dropping an account replaces the token: every value of it is gone at once, however many
there are. A token that Redis has evicted makes misses, never revivals.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import struct
import time
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import quote

import xxhash
from redis.asyncio import Redis

from cache.edge_cache import MAX_VALUE_BYTES, REFRESH_LEASE_SECONDS, EdgeKey, EdgeTimes, EdgeValue
from cache.errors import EntryDamaged, EntryTooLarge
from cache.redis_connection import redis_errors
from cache.redis_reads import RedisReads

logger = logging.getLogger(__name__)

_GENERATION_BYTES = 8
_ENVELOPE = struct.Struct(
    "<3sBQQQQ"
)  # after the generation: magic, format, stored ms, fresh ms, max age ms, checksum
_SIGNED_BYTES = _ENVELOPE.size - 8
_MAGIC = b"AEV"
_FORMAT = 1

_SKEW_SECONDS = 5.0
"""A value from further in the future was stored by a clock that is wrong: it counts as stale."""

# The token must be read and the value written in one step, or a drop between the two would be undone.
_PUT = """
local generation = redis.call('GET', KEYS[1])
if not generation then
  generation = ARGV[1]
  redis.call('SET', KEYS[1], generation)
end
redis.call('SET', KEYS[2], generation .. ARGV[2], 'PX', ARGV[3])
"""


class RedisEdge:
    """Keeps values in Redis under `{prefix}:{account}`."""

    name = "edge"
    is_local = False
    used_bytes: int | None = None

    def __init__(self, client: Redis, *, prefix: str, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._prefix = prefix
        self._clock = clock
        self._reads = RedisReads(client)
        self._put = client.register_script(_PUT)

    async def get(self, key: EdgeKey) -> EdgeValue | None:
        """Return the value, fresh or stale; a damaged one is removed and not returned.

        Raises:
            TierUnavailable: Redis could not answer.
        """
        names = self._generation_name(key.account_id), self._value_name(key)
        with redis_errors(self.name):
            generation, blob = await self._reads.mget(*names)
        try:
            return self._found(key, generation, blob)
        except EntryDamaged:
            logger.warning("cache_value_damaged", extra={"tier": self.name, "account": key.account_id})
            await self.remove(key)
            return None

    def begin(
        self, key: EdgeKey, landed: Callable[[EdgeValue | None], None], lost: Callable[[], None]
    ) -> bool:
        """Ask for a value without a task; return False where the connection has to be opened first.

        `landed` is called as soon as the answer is here; `lost` where `get` has to be asked, which may fail.
        """

        def answered(values: list[bytes | None]) -> None:
            try:
                found = self._found(key, *values)
            except EntryDamaged:
                lost()
            else:
                landed(found)

        names = self._generation_name(key.account_id), self._value_name(key)
        return self._reads.ask(*names, landed=answered, lost=lost)

    async def put(self, key: EdgeKey, value: bytes, times: EdgeTimes) -> None:
        """Store a value until its max age.

        Raises:
            EntryTooLarge: It is over `MAX_VALUE_BYTES`.
            TierUnavailable: Redis could not store it.
        """
        if len(value) > MAX_VALUE_BYTES:
            raise EntryTooLarge(
                f"edge value of {key.text!r} has {len(value)} bytes, at most {MAX_VALUE_BYTES}"
            )
        stored_at_ms = max(0, int(self._clock() * 1000))
        fresh_ms, max_age_ms = int(times.fresh_seconds * 1000), max(1, int(times.max_age_seconds * 1000))
        head = _ENVELOPE.pack(_MAGIC, _FORMAT, stored_at_ms, fresh_ms, max_age_ms, 0)[:_SIGNED_BYTES]
        blob = head + _checksum(key, head, value).to_bytes(8, "little") + value
        with redis_errors(self.name):
            await self._put(
                keys=[self._generation_name(key.account_id), self._value_name(key)],
                args=[_new_generation(), blob, max_age_ms],
            )

    async def remove(self, key: EdgeKey) -> None:
        """Remove a value, if it is there.

        Raises:
            TierUnavailable: Redis could not answer.
        """
        with redis_errors(self.name):
            await self._client.unlink(self._value_name(key))

    async def claim_refresh(self, key: EdgeKey, lease_seconds: float = REFRESH_LEASE_SECONDS) -> bool:
        """Return True to one caller per lease, in whatever process.

        Raises:
            TierUnavailable: Redis could not answer.
        """
        lease = self._value_name(key) + ":refresh"
        with redis_errors(self.name):
            return bool(await self._client.set(lease, b"1", nx=True, px=int(lease_seconds * 1000)))

    async def drop_account(self, account_id: str) -> None:
        """Forget every value of an account by giving it a new generation.

        Raises:
            TierUnavailable: Redis could not; the values may still be there.
        """
        with redis_errors(self.name):
            await self._client.set(self._generation_name(account_id), _new_generation())

    async def connect(self) -> None:
        """Open the connection that values are read on.

        Raises:
            TierUnavailable: Redis is not reachable; the next call tries again.
        """
        with redis_errors(self.name):
            await self._reads.connect()

    async def close(self) -> None:
        """Close the connection that values are read on; the client is its maker's."""
        self._reads.close()

    def _found(self, key: EdgeKey, generation: bytes | None, blob: bytes | None) -> EdgeValue | None:
        if generation is None or blob is None or blob[:_GENERATION_BYTES] != generation:
            return None
        return self._open(key, blob[_GENERATION_BYTES:])

    def _open(self, key: EdgeKey, blob: bytes) -> EdgeValue | None:
        if len(blob) < _ENVELOPE.size:
            raise EntryDamaged(f"edge value has {len(blob)} bytes, its header alone has {_ENVELOPE.size}")
        magic, version, stored_at_ms, fresh_ms, max_age_ms, checksum = _ENVELOPE.unpack_from(blob)
        value = blob[_ENVELOPE.size :]
        if magic != _MAGIC or version != _FORMAT or checksum != _checksum(key, blob[:_SIGNED_BYTES], value):
            raise EntryDamaged("edge value is not ours, of another format, or altered")
        age = self._clock() - stored_at_ms / 1000
        if age * 1000 > max_age_ms:
            return None
        is_stale = age * 1000 > fresh_ms or age < -_SKEW_SECONDS
        return EdgeValue(value=value, age_seconds=max(0.0, age), is_stale=is_stale)

    def _account_name(self, account_id: str) -> str:
        # The braces put all of an account on one slot of a Redis cluster, which the script needs.
        return f"{self._prefix}:{{{_quoted(account_id)}}}"

    def _generation_name(self, account_id: str) -> str:
        return f"{self._account_name(account_id)}:generation"

    def _value_name(self, key: EdgeKey) -> str:
        digest = hashlib.blake2b(key.text.encode(), digest_size=16).hexdigest()
        return f"{self._account_name(key.account_id)}:{_quoted(key.kind)}:{digest}"


@lru_cache(maxsize=4096)
def _quoted(part: str) -> str:
    return quote(part, safe="")


def _new_generation() -> bytes:
    return secrets.token_bytes(_GENERATION_BYTES)


def _checksum(key: EdgeKey, head: bytes, value: bytes) -> int:
    digest = xxhash.xxh3_64(head)
    digest.update("\0".join(key).encode())
    digest.update(value)
    return digest.intdigest()
