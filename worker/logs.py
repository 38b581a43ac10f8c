"""Logs as one JSON object per line: the message is the event's name, the extras are its facts."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import orjson

from search_proxy.accounts.scrubbing import scrubbed
from worker.observe.line_writer import LineWriter

_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {
    "message",
    "asctime",
    "taskName",
    "color_message",
}

_FIRST_FACT = len(logging.makeLogRecord({}).__dict__)
"""What a record has before anything is added to it comes first."""


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of JSON; what JSON cannot hold is written as text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
        }
        facts = islice(record.__dict__.items(), _FIRST_FACT, None)
        line |= {name: value for name, value in facts if name not in _STANDARD}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return scrubbed(orjson.dumps(line, default=str, option=orjson.OPT_NON_STR_KEYS).decode())


def configure_logs(level: int = logging.INFO, *, in_background: bool = False) -> None:
    """Send every log line of the process to standard error as JSON; a server writes them in a thread."""
    stream: logging.Handler = LineWriter(2) if in_background else logging.StreamHandler(sys.stderr)
    stream.setFormatter(JsonFormatter())
    # Facts about threads and processes that no line shows.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    root = logging.getLogger()
    root.handlers[:] = [stream]
    root.setLevel(level)
    # The request's own completion line says more than the server's access line.
    logging.getLogger("uvicorn.access").disabled = True
    for noisy in ("httpx", "httpx2", "google_genai", "botocore", "uvicorn.error"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
