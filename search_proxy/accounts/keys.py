"""API keys: minted from the system's randomness, shown once, kept as a hash.

`pk_{id}_{secret}` searches and may stand in a page, `sk_{id}_{secret}` administers and may not. The id finds
the record, so one hash is compared, in constant time. A secret is 160 random bits: nothing is gained by a
slow hash, and every request would pay for it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import Literal

KeyKind = Literal["publishable", "secret"]

_PREFIXES: dict[KeyKind, str] = {"publishable": "pk", "secret": "sk"}
_ALPHABET = "0123456789abcdefghijkmnpqrstuvwxyz"
_ID_LENGTH = 12
_SECRET_LENGTH = 32
_TOKEN = re.compile(rf"(pk|sk)_([{_ALPHABET}]{{{_ID_LENGTH}}})_[{_ALPHABET}]{{{_SECRET_LENGTH}}}\Z")
_ABSENT_HASH = "0" * 64


def mint(kind: KeyKind) -> tuple[str, str]:
    """Return a new key's id and its token; the token exists nowhere else."""
    key_id = _random(_ID_LENGTH)
    return key_id, f"{_PREFIXES[kind]}_{key_id}_{_random(_SECRET_LENGTH)}"


def key_id_of(token: str) -> str | None:
    """Return the id within a token, or None if the text cannot be one."""
    match = _TOKEN.match(token)
    return match.group(2) if match else None


def secret_hash(token: str) -> str:
    """Return what is stored to recognise the token."""
    return hashlib.sha256(b"aisle key\x00" + token.encode()).hexdigest()


def signing_key(token: str) -> str:
    """Return the key that signs derived keys; it follows from the token and does not lead back to it.

    Only a secret key has one. A publishable key stands in pages, where any shopper could sign with it.
    """
    return hashlib.sha256(b"aisle derive\x00" + token.encode()).hexdigest()


def is_the_key(token: str, stored_hash: str | None) -> bool:
    """Return whether the token is the stored one, in a time that does not depend on where they differ.

    With no stored hash the same work is done against a hash that nothing has.
    """
    same = hmac.compare_digest(secret_hash(token), stored_hash or _ABSENT_HASH)
    return same and stored_hash is not None


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))
