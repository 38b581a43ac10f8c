"""Turns what Gemini, or a proxy before it, says about a failure into one `ModelError`.

Nothing of a foreign body is repeated but Google's own message, cut short: pages of proxies and echoed
requests have no place in a log line.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from worker.llm.language_model import ModelError, sendable

_MESSAGE_LIMIT = 300
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s?")

_KINDS = {
    400: ("invalid_request", False),
    401: ("invalid_key", False),
    403: ("invalid_key", False),
    404: ("not_found", False),
    408: ("unavailable", True),
    429: ("rate_limited", True),
}


def error_from_response(status: int, body: Any, retry_after: str | None = None) -> ModelError:
    """Return the error for an HTTP status and its decoded body (None where it is not JSON).

    `retry_after` is the header of that name; RetryInfo in the body is more exact and wins.
    """
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    error = body.get("error") if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        error = {}
    kind, retryable = _KINDS.get(status) or _kind_of_other(status)
    text = error.get("message")
    message = "no JSON error in the body"
    if isinstance(text, str) and text:
        message = sendable(text[:_MESSAGE_LIMIT])
    details = list(_details(error))
    if status == 400 and (_has_reason(details, "API_KEY_INVALID") or "api key" in message.lower()):
        kind = "invalid_key"
    if kind == "rate_limited" and _is_daily_quota(details):
        retryable = False
    advised = _retry_delay(details)
    return ModelError(
        kind,
        f"the model's server answered {status}: {message}",
        status=status,
        retryable=retryable,
        retry_after_seconds=_wait_of(retry_after) if advised is None else advised,
    )


def error_from_event(body: Mapping[str, Any]) -> ModelError:
    """Return the error for an event `{"error": {...}}` of a stream that began well."""
    error = body.get("error")
    code = error.get("code") if isinstance(error, Mapping) else None
    return error_from_response(code if isinstance(code, int) and 400 <= code <= 599 else 500, body)


def _kind_of_other(status: int) -> tuple[str, bool]:
    if status < 400:
        # No error, and no answer either: a redirect, or nothing at all.
        return "protocol", True
    return ("unavailable", True) if status >= 500 else ("invalid_request", False)


def _details(error: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    details = error.get("details")
    if isinstance(details, list):
        yield from (each for each in details if isinstance(each, Mapping))


def _has_reason(details: list[Mapping[str, Any]], reason: str) -> bool:
    return any(each.get("reason") == reason for each in details)


def _is_daily_quota(details: list[Mapping[str, Any]]) -> bool:
    lists = [each.get("violations") for each in details]
    violations = [v for each in lists if isinstance(each, list) for v in each if isinstance(v, Mapping)]
    return any("perday" in str(violation.get("quotaId", "")).lower() for violation in violations)


def _retry_delay(details: list[Mapping[str, Any]]) -> float | None:
    delays = (_seconds(each.get("retryDelay")) for each in details if "retryDelay" in each)
    return next((delay for delay in delays if delay is not None), None)


def _wait_of(header: str | None) -> float | None:
    """Return what a `Retry-After` asks for, seconds or a date; None where it is neither."""
    seconds = _seconds(header)
    if seconds is not None or header is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _seconds(text: Any) -> float | None:
    found = _SECONDS.fullmatch(text.strip()) if isinstance(text, str) else None
    return float(found[1]) if found else None
