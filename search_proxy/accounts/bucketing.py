"""Puts a session into one stable place between 0 and 100, for rollouts to a part of the sessions."""

from __future__ import annotations

import hashlib


def session_percentage(account_id: str, session_id: str) -> float:
    """Return the session's place in [0, 100), in steps of 0.01.

    The first eight bytes, big-endian, of SHA-256 over `account_id`, a zero byte and `session_id`, modulo
    10,000, divided by 100. A session is within a rollout of P per cent when its place is below P. Cached
    answers are rolled out by the same rule, so that the two never disagree about a session.
    """
    text = f"{account_id}\x00{session_id}"
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % 10_000 / 100
