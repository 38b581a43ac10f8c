"""Asks a running server for the trace of a run."""

from __future__ import annotations

from typing import Any

import httpx
from pydantic import SecretStr

from worker.trace.trace_files import TraceUnreadable, read_trace

_ASK_SECONDS = 10


def ask_for_trace(url: str, run_id: str, key: SecretStr | None) -> dict[str, Any]:
    """Return the trace that the server at `url` has of a run.

    Raises:
        TraceUnreadable: It does not answer, or not with a trace; the message has its own words.
    """
    headers = {} if key is None else {"authorization": f"Bearer {key.get_secret_value()}"}
    try:
        answer = httpx.get(
            f"{url.rstrip('/')}/api/v1/runs/{run_id}/trace", headers=headers, timeout=_ASK_SECONDS
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise TraceUnreadable(f"{url} does not answer: {error}") from error
    if answer.status_code != 200:
        try:
            said = answer.json()["message"]
        except (ValueError, KeyError, TypeError):
            said = "it is no aisle server"
        raise TraceUnreadable(f"{said} ({answer.status_code})")
    return read_trace(answer.content)
