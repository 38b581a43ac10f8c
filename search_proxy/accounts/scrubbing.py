"""Keeps secrets out of text that somebody else will read: log lines, error messages, URLs."""

from __future__ import annotations

import logging
import re
from typing import Any

_KEY = re.compile(
    r"\b((?:pk|sk)_[0-9a-z]{12})_[0-9a-z]{8,}|\b(dk_[0-9a-z]{12})\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)?"
)
_BEARER = re.compile(r"(?i)\b(bearer\s+)[^\s\"',;]{8,}")
_GOOGLE = re.compile(r"\bAIza[0-9A-Za-z_-]{20,}")
_QUERY = re.compile(r"(?i)([?&](?:key|api[_-]?key|token|secret)=)[^&\s\"']+")


def scrubbed(text: str) -> str:
    """Return `text` with every key reduced to its public id."""
    if "_" in text:
        text = _KEY.sub(lambda match: f"{match.group(1) or match.group(2)}_...", text)
    text = _BEARER.sub(r"\1...", text)
    text = _QUERY.sub(r"\1...", text)
    return _GOOGLE.sub("AIza...", text)


class ScrubSecrets(logging.Filter):
    """Scrubs the message and every extra of a record; put it on each handler."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let the record pass, without its secrets."""
        record.msg = scrubbed(record.getMessage())
        record.args = None
        for name, value in list(vars(record).items()):
            if name not in _RECORD_FIELDS:
                setattr(record, name, _scrubbed_value(value))
        if record.exc_info and record.exc_info[0] is not None:
            record.exc_text = scrubbed(
                record.exc_text or logging.Formatter().formatException(record.exc_info)
            )
        return True


_RECORD_FIELDS = frozenset(vars(logging.LogRecord("", 0, "", 0, "", None, None)))


def _scrubbed_value(value: Any) -> Any:
    if isinstance(value, str):
        return scrubbed(value)
    if isinstance(value, dict):
        return {name: _scrubbed_value(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed_value(inner) for inner in value]
    return value
