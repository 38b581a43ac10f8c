"""One binary fuse filter as bytes and as the C structure that answers.

The C code trusts what it is given: a cut blob makes it deny keys that are there, a foreign one makes it read
outside its memory. So a blob carries magic, format, scope, counts and a checksum, and every length in it is
checked here before C sees it. Source: Graf and Lemire, "Binary Fuse Filters", 2022.
"""

from __future__ import annotations

import struct
import time
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyfusefilter._xorfilter import ffi, lib

from cache.errors import FilterDamaged
from cache.keys import fingerprint_of

FORMAT = 1
"""Covers the layout and the hash, which is xxh3 of 64 bits without a seed."""

_MAGIC = b"AQFF"
_HEADER = struct.Struct("<4sHHIQQQ")  # magic, format, scope bytes, blob bytes, keys, covered until, built at
_CHECKSUM = struct.Struct("<I")
_FUSE = struct.Struct("<QIIIII")  # seed, size, segment length, segments, segments * length, array length

contain = lib.binary_fuse8_contain
"""`contain(fingerprint, blob.fuse)` of a blob that has keys; a lookup calls it without a step in between."""

_HASH_CHUNK = 2000
"""A chunk holds the interpreter's lock for about half a millisecond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FuseBlob:
    """An immutable filter over the keys of one scope."""

    scope: str
    keys: int
    covered_until_ms: int
    """Every key written before this is in it."""
    built_at_ms: int
    fuse: Any = field(repr=False)
    """The C structure; `contain` reads it."""

    @classmethod
    def build(
        cls, scope: str, fingerprints: array[int], *, covered_until_ms: int, built_at_ms: int
    ) -> FuseBlob:
        """Return the filter of these fingerprints; blocks, but lets the interpreter's lock go meanwhile.

        Raises:
            MemoryError: There is no room for it.
        """
        fuse = ffi.gc(ffi.new("binary_fuse8_t *"), lib.binary_fuse8_free)
        count = len(fingerprints)
        if not lib.binary_fuse8_allocate(count, fuse):
            raise MemoryError(f"no room for a filter of {count} keys")
        if count:
            keys = ffi.from_buffer("uint64_t[]", fingerprints)
            if not lib.binary_fuse8_populate(keys, count, fuse):
                raise MemoryError(f"the filter of {count} keys could not be populated")
        return cls(
            scope=scope, keys=count, covered_until_ms=covered_until_ms, built_at_ms=built_at_ms, fuse=fuse
        )

    def __contains__(self, fingerprint: int) -> bool:
        return self.keys > 0 and bool(contain(fingerprint, self.fuse))

    @property
    def size_bytes(self) -> int:
        """The bytes it takes in memory and on disk."""
        return int(lib.binary_fuse8_serialization_bytes(self.fuse)) + _HEADER.size + len(self.scope)

    def encode(self) -> bytes:
        """Return the filter's bytes."""
        length = lib.binary_fuse8_serialization_bytes(self.fuse)
        buffer = ffi.new("char[]", length)
        lib.binary_fuse8_serialize(self.fuse, buffer)
        scope = self.scope.encode()
        fields = (len(scope), length, self.keys, self.covered_until_ms, self.built_at_ms)
        body = _HEADER.pack(_MAGIC, FORMAT, *fields) + scope + bytes(ffi.buffer(buffer, length))
        return body + _CHECKSUM.pack(zlib.crc32(body))

    @classmethod
    def decode(cls, blob: bytes, scope: str) -> FuseBlob:
        """Return the filter in `blob`, which must be the one of `scope`.

        Raises:
            FilterDamaged: It is not: cut, altered, of an unknown format, or of another scope.
        """
        if len(blob) < _HEADER.size + _CHECKSUM.size:
            raise FilterDamaged(f"filter has {len(blob)} bytes, its header alone has {_HEADER.size}")
        magic, version, scope_bytes, length, keys, covered_until_ms, built_at_ms = _HEADER.unpack_from(blob)
        if magic != _MAGIC or version != FORMAT:
            raise FilterDamaged(f"filter starts with {blob[:6]!r}, this version reads format {FORMAT}")
        start = _HEADER.size + scope_bytes
        if len(blob) != start + length + _CHECKSUM.size:
            raise FilterDamaged(f"filter has {len(blob)} bytes, its header says otherwise")
        if _CHECKSUM.unpack_from(blob, start + length)[0] != zlib.crc32(blob[: start + length]):
            raise FilterDamaged("filter fails its checksum")
        if blob[_HEADER.size : start] != scope.encode():
            raise FilterDamaged(f"filter belongs to {blob[_HEADER.size : start]!r}, not to {scope!r}")
        _check_lengths(blob, start, length, keys)
        fuse = ffi.gc(ffi.new("binary_fuse8_t *"), lib.binary_fuse8_free)
        if not lib.binary_fuse8_deserialize(fuse, ffi.from_buffer("char[]", blob[start : start + length])):
            raise FilterDamaged(f"no room for a filter of {keys} keys")
        return cls(
            scope=scope, keys=keys, covered_until_ms=covered_until_ms, built_at_ms=built_at_ms, fuse=fuse
        )


def _check_lengths(blob: bytes, start: int, length: int, keys: int) -> None:
    if length < _FUSE.size:
        raise FilterDamaged(f"filter body has {length} bytes, its header alone has {_FUSE.size}")
    _, size, segment, segments, segments_length, array_length = _FUSE.unpack_from(blob, start)
    sound = (
        size == keys
        and segment > 0
        and segment & (segment - 1) == 0
        and segments_length == segments * segment
        and array_length == (segments + 2) * segment
        and length == _FUSE.size + array_length
    )
    if not sound:
        raise FilterDamaged("filter's lengths contradict each other")


def hash_texts(texts: Sequence[str], into: array[int]) -> None:
    """Append the fingerprints of key texts, letting other threads run after every chunk."""
    for first in range(0, len(texts), _HASH_CHUNK):
        into.extend(_fingerprints(texts[first : first + _HASH_CHUNK]))
        time.sleep(0)


def _fingerprints(texts: Iterable[str]) -> list[int]:
    return [fingerprint_of(text) for text in texts]
