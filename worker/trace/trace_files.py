"""Keeps traces as files under the data folder: one a run, for a time, and not more than so many bytes.

A file is whole or absent. Whoever writes also removes what is too old or too much, the oldest first; several
processes may do both at once.
"""

from __future__ import annotations

import gzip
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

_RUN_ID = re.compile(r"[0-9a-f]{8,64}\Z")
_SUFFIX = ".json.gz"


class TraceUnreadable(Exception):
    """A file is no trace, or one of a later format."""


class TraceFiles:
    """The traces of one data folder."""

    def __init__(self, folder: Path, *, keep_seconds: float, max_bytes: int) -> None:
        self._folder = folder
        self._keep_seconds = keep_seconds
        self._max_bytes = max_bytes

    def write(self, run_id: str, trace: Mapping[str, Any]) -> None:
        """Keep a trace, and forget what is over the bounds.

        Raises:
            OSError: It cannot be written.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        whole = self._folder / f"{run_id}{_SUFFIX}"
        part = whole.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(gzip.compress(orjson.dumps(trace, option=orjson.OPT_NON_STR_KEYS), 5))
        part.replace(whole)
        self._prune()

    def read(self, run_id: str) -> dict[str, Any] | None:
        """Return a trace; None where there is none.

        Raises:
            OSError: It cannot be read.
            TraceUnreadable: What is there is no trace.
        """
        if _RUN_ID.match(run_id) is None:
            return None
        path = self._folder / f"{run_id}{_SUFFIX}"
        try:
            if time.time() - path.stat().st_mtime > self._keep_seconds:
                return None
            return read_trace(path.read_bytes())
        except FileNotFoundError:
            return None

    def _prune(self) -> None:
        oldest = time.time() - self._keep_seconds
        room = self._max_bytes
        kept = sorted(self._entries(), reverse=True)
        for modified, size, path in kept:
            room -= size
            if room < 0 or modified < oldest:
                path.unlink(missing_ok=True)

    def _entries(self) -> list[tuple[float, int, Path]]:
        found = []
        for entry in os.scandir(self._folder):
            try:
                facts = entry.stat()
            except FileNotFoundError:
                continue
            found.append((facts.st_mtime, facts.st_size, Path(entry.path)))
        return found


def read_trace(raw: bytes) -> dict[str, Any]:
    """Return the trace in a file's bytes, packed or plain.

    Raises:
        TraceUnreadable: There is none.
    """
    try:
        text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        trace = orjson.loads(text)
    except (OSError, EOFError, ValueError) as error:
        raise TraceUnreadable("this is no trace: it can be neither unpacked nor read as JSON") from error
    if not isinstance(trace, dict) or trace.get("format") != 1:
        raise TraceUnreadable("this is no trace of a format that this version reads (1)")
    return trace
