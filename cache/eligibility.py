"""Decides whether a request may be answered from the cache, or its answer stored: a pure function.

An account sends a share of its sessions through the cache. The share is cut by a stable hash of account and
session, so that a shopper stays on one side of it, in every process, and raising the share takes nobody out.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

_BUCKETS = 10_000


class Ineligible(StrEnum):
    """Why a request goes past the cache; the text is what log lines show."""

    CONVERSATION = "conversation"
    IMAGES = "images"
    PERSONAL = "personal"
    FILTERED = "filtered"
    """A filter binds it that is not part of its key."""
    KEY = "key"
    """Its question cannot be a key: empty, or too long."""
    SESSION = "session"
    """Its session is outside `cached_query_percentage`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheCandidate:
    """What is known of a request before its lookup."""

    account_id: str
    session: str
    """The session's id; a request without one gives its question, so that the share holds over questions."""
    has_key: bool = True
    is_conversation: bool = False
    has_images: bool = False
    is_personal: bool = False
    has_uncovered_filter: bool = False


def why_not(candidate: CacheCandidate, cached_query_percentage: float) -> Ineligible | None:
    """Return why a request is not looked up, None where it is."""
    reason = why_not_stored(candidate)
    if reason is not None:
        return reason
    if session_bucket(candidate.account_id, candidate.session) >= cached_query_percentage * _BUCKETS / 100:
        return Ineligible.SESSION
    return None


def why_not_stored(candidate: CacheCandidate) -> Ineligible | None:
    """Return why an answer is not stored, None where it is; whose session asked does not matter."""
    if candidate.is_conversation:
        return Ineligible.CONVERSATION
    if candidate.has_images:
        return Ineligible.IMAGES
    if candidate.is_personal:
        return Ineligible.PERSONAL
    if candidate.has_uncovered_filter:
        return Ineligible.FILTERED
    if not candidate.has_key:
        return Ineligible.KEY
    return None


def session_bucket(account_id: str, session: str) -> int:
    """Return 0 to 9,999 for a session, the same in every process and for ever.

    The first eight bytes, big-endian, of SHA-256 over `account_id`, a zero byte and `session`, modulo
    10,000. Prompt versions are rolled out by the same rule, so that the two never disagree about a session.
    """
    text = f"{account_id}\x00{session}".encode(errors="surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") % _BUCKETS
