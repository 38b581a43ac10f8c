"""Conversation ids: unguessable, and bound to the account that they were issued for.

An id is 144 random bits and a keyed digest of account and bits. An id that somebody made up, or that
belongs to another account, is refused without asking the storage, so nobody can plant a known id.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from hashlib import blake2b

RANDOM_CHARACTERS = 24
DIGEST_CHARACTERS = 16
DIGEST_BYTES = 12
SECRET_BYTES = 32


def new_secret() -> bytes:
    """Return a fresh key for ids."""
    return secrets.token_bytes(SECRET_BYTES)


def new_conversation_id(secret: bytes, account_id: str) -> str:
    """Return a fresh id of the account: 40 characters, safe in URLs, headers and file names."""
    random_part = secrets.token_urlsafe(18)
    return random_part + _digest(secret, account_id, random_part)


def is_issued_id(secret: bytes, account_id: str, conversation_id: str) -> bool:
    """Return whether the id was made with this secret for this account."""
    if len(conversation_id) != RANDOM_CHARACTERS + DIGEST_CHARACTERS or not conversation_id.isascii():
        return False
    random_part, digest = conversation_id[:RANDOM_CHARACTERS], conversation_id[RANDOM_CHARACTERS:]
    return hmac.compare_digest(_digest(secret, account_id, random_part), digest)


def _digest(secret: bytes, account_id: str, random_part: str) -> str:
    message = f"{random_part}{account_id}".encode()
    return urlsafe_b64encode(blake2b(message, key=secret, digest_size=DIGEST_BYTES).digest()).decode()
