"""One cached answer as bytes: what every tier stores.

A fixed header with magic, format and checksum, then key and tags, then the payload. The cache never
looks into the payload; whoever stored it says with `tags` (prompt version, model, language) when it
may be used again. Bytes that fail any check are a miss, never an error of the request.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson
import xxhash

from cache.errors import EntryDamaged, EntryTooLarge
from cache.keys import QueryKey

FORMAT = 1
"""Raised when the layout changes; entries of an unknown format are misses."""

MAX_ENTRY_BYTES = 350_000
"""DynamoDB refuses items over 400 KB, attribute names and keys included."""

_MAGIC = b"AQE"
_HEADER = struct.Struct("<3sBBQIIQ")  # magic, format, flags, created ms, head bytes, payload bytes, checksum
_SIGNED = struct.Struct("<3sBBQII")
_PINNED = 0x01


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheEntry:
    """An answer, when it was made, and what it was made with."""

    key_text: str
    payload: bytes
    created_at_ms: int
    tags: Mapping[str, str] = field(default_factory=dict)
    pinned: bool = False
    """Approved by a merchant: stays until removed, whatever the tags."""

    def encode(self) -> bytes:
        """Return the entry's bytes.

        Raises:
            EntryTooLarge: They would be over `MAX_ENTRY_BYTES`.
        """
        head = orjson.dumps([self.key_text, dict(self.tags)])
        total = _HEADER.size + len(head) + len(self.payload)
        if total > MAX_ENTRY_BYTES:
            raise EntryTooLarge(f"entry of {self.key_text!r} has {total} bytes, at most {MAX_ENTRY_BYTES}")
        flags = _PINNED if self.pinned else 0
        fields = (_MAGIC, FORMAT, flags, self.created_at_ms, len(head), len(self.payload))
        body = head + self.payload
        return _HEADER.pack(*fields, _checksum(_SIGNED.pack(*fields), body)) + body

    @classmethod
    def decode(cls, blob: bytes, key: QueryKey) -> CacheEntry:
        """Return the entry in `blob`, which must be the answer to `key`.

        Raises:
            EntryDamaged: It is not: cut, altered, of an unknown format, or somebody else's.
        """
        if len(blob) < _HEADER.size:
            raise EntryDamaged(f"entry has {len(blob)} bytes, its header alone has {_HEADER.size}")
        magic, version, flags, created_at_ms, head_bytes, payload_bytes, checksum = _HEADER.unpack_from(blob)
        if magic != _MAGIC or version != FORMAT:
            raise EntryDamaged(
                f"entry starts with {blob[:4]!r}, this version reads {_MAGIC + bytes([FORMAT])!r}"
            )
        if len(blob) != _HEADER.size + head_bytes + payload_bytes:
            raise EntryDamaged(f"entry has {len(blob)} bytes, its header says otherwise")
        body = memoryview(blob)[_HEADER.size :]
        if _checksum(blob[: _SIGNED.size], body) != checksum:
            raise EntryDamaged("entry fails its checksum")
        key_text, tags = _head(body[:head_bytes])
        if key_text != key.text:
            raise EntryDamaged(f"entry belongs to {key_text!r}, not to {key.text!r}")
        return cls(
            key_text=key_text,
            payload=bytes(body[head_bytes:]),
            created_at_ms=created_at_ms,
            tags=tags,
            pinned=bool(flags & _PINNED),
        )

    def tag_that_differs(self, expected: Mapping[str, str]) -> str | None:
        """Return the name of the first tag that is not as expected; a pinned entry never differs."""
        if self.pinned:
            return None
        return next((name for name, value in expected.items() if self.tags.get(name) != value), None)


def _head(head: memoryview) -> tuple[str, dict[str, str]]:
    try:
        key_text, tags = orjson.loads(head)
    except (ValueError, TypeError) as error:
        raise EntryDamaged("entry has no key and no tags") from error
    if not isinstance(key_text, str) or not isinstance(tags, dict):
        raise EntryDamaged("entry has a key or tags of another kind")
    return key_text, tags


def _checksum(signed: bytes, body: bytes | memoryview) -> int:
    digest = xxhash.xxh3_64(signed)
    digest.update(body)
    return digest.intdigest()
