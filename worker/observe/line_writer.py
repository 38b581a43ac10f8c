"""Writes log lines in a thread of its own: a full disk or an unread pipe never makes a request wait.

Lines wait in a bounded queue, are written some at a time, and are counted where they cannot be written. A
process that is killed loses those of its last moments, at most `GATHER_SECONDS` of them.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque

MAX_WAITING_BYTES = 8 * 1024 * 1024
"""About 8,000 lines."""
GATHER_SECONDS = 0.02
_LAST_WORDS_SECONDS = 2.0
_LONGEST_LINE = 64 * 1024


class LineWriter(logging.Handler):
    """A logging handler over a file descriptor; `lost` counts the lines that went nowhere."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.lost = 0
        self.error: str | None = None
        """What the last write failed with; None while writing goes well."""
        self._descriptor = descriptor
        self._waiting: deque[bytes] = deque()
        # Each is written by one side alone, so neither needs a lock of its own.
        self._queued_bytes = 0
        self._done_bytes = 0
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._run, name="log-lines", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue one line; never waits, never raises."""
        try:
            line = self.format(record).encode("utf-8", "backslashreplace") + b"\n"
        except (TypeError, ValueError, RecursionError):
            self.lost += 1
            self.handleError(record)
            return
        waiting_bytes = self._queued_bytes - self._done_bytes
        if len(line) > _LONGEST_LINE or waiting_bytes + len(line) > MAX_WAITING_BYTES:
            self.lost += 1
            return
        self._queued_bytes += len(line)
        self._waiting.append(line)
        if not self._woken.is_set():
            self._woken.set()

    def flush(self) -> None:
        """Return when what was queued is written, or after two seconds where it cannot be."""
        end = time.monotonic() + _LAST_WORDS_SECONDS
        while self._done_bytes < self._queued_bytes and self._thread.is_alive() and time.monotonic() < end:
            self._woken.set()
            time.sleep(0.002)

    def _run(self) -> None:
        while True:
            self._woken.wait()
            self._woken.clear()
            while self._waiting:
                self._write_waiting()
            time.sleep(GATHER_SECONDS)

    def _write_waiting(self) -> None:
        lines = [self._waiting.popleft() for _ in range(len(self._waiting))]
        data = memoryview(b"".join(lines))
        size = len(data)
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
            self.error = None
        except OSError as error:
            self.lost += len(lines)
            self.error = os.strerror(error.errno) if error.errno else str(error)
        finally:
            self._done_bytes += size


def process_log() -> LineWriter | None:
    """Return the writer of this process's log, None where it logs otherwise."""
    return next((each for each in logging.getLogger().handlers if isinstance(each, LineWriter)), None)
