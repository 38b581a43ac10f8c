"""Times as documents have them, read and written: ISO 8601 text, or seconds since 1970.

A date without a time is its midnight, a time without a zone is UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ].*)?\Z", re.DOTALL)
_MILLISECONDS = 1e11
"""Numbers above this are milliseconds: as seconds they would lie beyond the year 5000."""


def read_time(value: Any) -> datetime | None:
    """Return the moment that a stored value names, or None where it names none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        seconds = value / 1000 if abs(value) > _MILLISECONDS else value
        try:
            return datetime.fromtimestamp(seconds, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    if not isinstance(value, str) or not _ISO.match(value):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def written(moment: datetime) -> str:
    """Return the moment as ISO 8601 in UTC, a midnight as its date alone."""
    moment = moment.astimezone(UTC)
    if (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0):
        return moment.date().isoformat()
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
