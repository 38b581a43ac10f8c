"""Keeps the filters of one machine in a folder that its processes share.

A file is written beside its place, synced, and renamed over it: a reader sees the old filter or the new one.
A lock file per scope lets one process build while the others go on.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cache.errors import FilterBusy

FileStamp = tuple[int, int, int]
"""What tells one version of a file from the next: inode, size, time of change."""


class FilterFiles:
    """One file per scope, named by the hash of it. Every call blocks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, scope: str) -> Path:
        """Return where the filter of a scope is kept."""
        name = hashlib.blake2b(scope.encode(), digest_size=16).hexdigest()
        return self._folder / f"{name}.fuse"

    def stamp(self, scope: str) -> FileStamp | None:
        """Return which version of the file is there, None where there is none."""
        try:
            status = os.stat(self.path(scope))
        except FileNotFoundError:
            return None
        return (status.st_ino, status.st_size, status.st_mtime_ns)

    def read(self, scope: str) -> bytes:
        """Return the file's bytes.

        Raises:
            OSError: It cannot be read.
        """
        return self.path(scope).read_bytes()

    def replace(self, scope: str, blob: bytes) -> None:
        """Put `blob` in the file's place, in one step.

        Raises:
            OSError: The disk is full or the folder cannot be written; the old file stays.
        """
        path = self.path(scope)
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}.new")
        try:
            with open(fresh, "wb") as file:
                file.write(blob)
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)

    def remove(self, scope: str) -> None:
        """Remove the file, if it is there."""
        self.path(scope).unlink(missing_ok=True)

    @contextmanager
    def building(self, scope: str) -> Iterator[None]:
        """Hold the right to build a scope's filter.

        Raises:
            FilterBusy: Somebody else holds it.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with open(self.path(scope).with_suffix(".lock"), "a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise FilterBusy(f"the filter of {scope!r} is being built by another process") from error
            yield
