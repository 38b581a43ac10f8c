"""Small rows by key in memory that the processes of one machine share: what makes a limit one limit for all.

A file of fixed size, mapped into each process. A key's row is one of the few of its bucket, which a lock of
the file guards for the moment of a change. A process that dies lets go of its locks; one that is stopped with
a lock held is not waited for: counting a request too few is better than not answering.
"""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

_BUCKET_ROWS = 8
_LOCK_TRIES = 200
"""About a fifth of a millisecond; a change takes a hundredth of one."""
_MARK = struct.Struct("<Q")
_MARK_BYTES = _MARK.size


class SharedRows:
    """Rows of `row_bytes` each, zeros before their first use, in buckets of eight."""

    def __init__(self, path: Path, row_bytes: int, *, rows: int = 8_192) -> None:
        self._stride = _MARK_BYTES + (row_bytes + 7) // 8 * 8
        self._buckets = max(1, rows // _BUCKET_ROWS)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        size = self._buckets * _BUCKET_ROWS * self._stride
        if os.fstat(self._descriptor).st_size < size:
            os.ftruncate(self._descriptor, size)
        self.memory = mmap.mmap(self._descriptor, size)

    def close(self) -> None:
        """Let go of the memory; the file stays for the others."""
        self.memory.close()
        os.close(self._descriptor)

    def find(self, key: str) -> int | None:
        """Return where a key's row is, without a lock; None where it has none."""
        return self._found(_fingerprint(key))

    @contextmanager
    def row(self, key: str, is_free: Callable[[int], bool]) -> Iterator[int | None]:
        """Lock a key's row and yield where it is, a new one where it has none.

        `is_free` says whether the row at a place may be taken from its key. Yields None where all of the
        bucket's rows are in use.
        """
        fingerprint = _fingerprint(key)
        bucket = fingerprint % self._buckets
        is_locked = self._lock(bucket)
        try:
            at = self._found(fingerprint)
            yield self._taken(fingerprint, is_free) if at is None else at
        finally:
            if is_locked:
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, bucket)

    def places(self) -> Iterator[int]:
        """Yield where every row is."""
        return iter(range(_MARK_BYTES, len(self.memory), self._stride))

    def _found(self, fingerprint: int) -> int | None:
        for row in self._rows_of(fingerprint):
            if _MARK.unpack_from(self.memory, row)[0] == fingerprint:
                return row + _MARK_BYTES
        return None

    def _taken(self, fingerprint: int, is_free: Callable[[int], bool]) -> int | None:
        for row in self._rows_of(fingerprint):
            at = row + _MARK_BYTES
            if _MARK.unpack_from(self.memory, row)[0] == 0 or is_free(at):
                self.memory[row : row + self._stride] = bytes(self._stride)
                _MARK.pack_into(self.memory, row, fingerprint)
                return at
        return None

    def _rows_of(self, fingerprint: int) -> range:
        start = fingerprint % self._buckets * _BUCKET_ROWS * self._stride
        return range(start, start + _BUCKET_ROWS * self._stride, self._stride)

    def _lock(self, bucket: int) -> bool:
        for _ in range(_LOCK_TRIES):
            try:
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, bucket)
            except OSError:
                continue
            return True
        return False


@lru_cache(16_384)
def _fingerprint(key: str) -> int:
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1
