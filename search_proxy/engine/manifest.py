"""The one small file that says what an index is made of; replacing it is what a commit is.

Readers look at its identity (inode and time) before every search and open a new generation when it changed.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from search_proxy.engine.schema import SearchSchema, read_declaration

FORMAT = 3
_FILE = "manifest.json"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentEntry:
    """A segment in use; `deleted` names the file of its dead rows, if it has any."""

    name: str
    size: int
    deleted: str | None = None
    dead: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One generation of an index."""

    created: str
    number: int
    language: str
    segments: tuple[SegmentEntry, ...]
    schema: SearchSchema = field(default_factory=SearchSchema)

    @property
    def generation(self) -> str:
        """Return a string that differs for every commit, also after the index was deleted and made anew."""
        return f"{self.created}-{self.number}"

    def following(self, segments: tuple[SegmentEntry, ...]) -> Manifest:
        """Return the next generation."""
        return replace(self, number=self.number + 1, segments=segments)


def is_valid_name(name: str) -> bool:
    """Return whether `name` may name an account or an index: letters, digits, `_` and `-`."""
    return _NAME.fullmatch(name) is not None


def new_manifest(language: str) -> Manifest:
    """Return the manifest of an index that has nothing yet."""
    return Manifest(created=secrets.token_hex(6), number=0, language=language, segments=())


def identity(folder: Path) -> tuple[int, int] | None:
    """Return what changes with every commit, or None where there is no index."""
    try:
        status = os.stat(f"{folder}/{_FILE}")
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


def read_manifest(folder: Path) -> Manifest:
    """Return the newest generation.

    Raises:
        FileNotFoundError: There is no index in `folder`.
        ValueError: The index was written in another format.
    """
    raw = orjson.loads((folder / _FILE).read_bytes())
    if raw.pop("format") != FORMAT:
        raise ValueError(f"the index in {str(folder)!r} has another format than {FORMAT}; load it again")
    segments = tuple(SegmentEntry(**entry) for entry in raw.pop("segments"))
    schema = read_declaration(raw.pop("schema", {})).schema
    return Manifest(**raw, segments=segments, schema=schema)


def publish_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest in one step, flushed to disk."""
    body = {
        "format": FORMAT,
        "created": manifest.created,
        "number": manifest.number,
        "language": manifest.language,
        "segments": [
            {"name": entry.name, "size": entry.size, "deleted": entry.deleted, "dead": entry.dead}
            for entry in manifest.segments
        ],
        "schema": manifest.schema.to_wire(),
    }
    draft = folder / f"{_FILE}.{secrets.token_hex(4)}"
    with draft.open("wb") as file:
        file.write(orjson.dumps(body))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / _FILE)


@contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Wait for, and hold, the right to write the index; the kernel drops it with the process.

    The lock file lies beside the index, so that it outlives the index's deletion.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
