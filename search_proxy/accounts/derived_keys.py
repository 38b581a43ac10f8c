"""Derived keys: a merchant's server signs a narrower key for one shopper, without asking us.

`dk_{parent id}.{claims}.{signature}`: base64url JSON claims and the HMAC-SHA256 of everything before the last
dot, under the signing key of a secret key. A derived key only ever searches; its filter is ANDed to the
parent's, its indexes are those of both, its limits are the parent's, and it dies with the parent.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from typing import Annotated

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from search_proxy.accounts.account import Group, IndexName, Origin
from search_proxy.accounts.keys import key_id_of, signing_key

MAX_TOKEN_CHARACTERS = 8_192
_TOKEN = re.compile(r"dk_([0-9a-z]{12})\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})\Z")


class DerivedClaims(BaseModel):
    """What a derived key says: until when, and how much narrower than its parent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    expires: float = Field(gt=0)
    filter: Annotated[str, Field(max_length=4_096)] | None = None
    groups: tuple[Group, ...] = Field(default=(), max_length=50)
    indexes: tuple[IndexName, ...] | None = Field(default=None, max_length=50)
    origins: tuple[Origin, ...] | None = Field(default=None, max_length=20)
    user: str = Field(default="", max_length=128)


def derive(secret_token: str, claims: DerivedClaims) -> str:
    """Return the derived key that carries `claims`, signed with a secret key.

    Raises:
        ValueError: The token is not a secret key, or the claims are too long for a header.
    """
    parent_id = key_id_of(secret_token)
    if parent_id is None or not secret_token.startswith("sk_"):
        raise ValueError("a derived key is signed with a secret key (sk_...)")
    return derive_with(parent_id, signing_key(secret_token), claims)


def derive_with(parent_id: str, parent_signing_key: str, claims: DerivedClaims) -> str:
    """Return the derived key that carries `claims`, signed with a stored signing key.

    Raises:
        ValueError: The parent has no signing key, or the claims are too long for a header.
    """
    if not parent_signing_key:
        raise ValueError("a derived key is signed with a secret key (sk_...)")
    body = f"dk_{parent_id}.{_encode(orjson.dumps(claims.model_dump(mode='json', exclude_defaults=True)))}"
    token = f"{body}.{_signature(body, parent_signing_key)}"
    if len(token) > MAX_TOKEN_CHARACTERS:
        raise ValueError(f"the derived key has {len(token)} characters; at most {MAX_TOKEN_CHARACTERS} fit")
    return token


def parent_id_of(token: str) -> str | None:
    """Return the parent's key id, or None if the text cannot be a derived key."""
    match = _TOKEN.match(token) if len(token) <= MAX_TOKEN_CHARACTERS else None
    return match.group(1) if match else None


def verified_claims(token: str, parent_signing_key: str) -> DerivedClaims | None:
    """Return the claims if the parent signed exactly them, else None. Expiry is the caller's to check."""
    match = _TOKEN.match(token)
    if match is None or not parent_signing_key:
        return None
    body, _, signature = token.rpartition(".")
    if not hmac.compare_digest(_signature(body, parent_signing_key), signature):
        return None
    try:
        return DerivedClaims.model_validate_json(_decode(match.group(2)))
    except (ValidationError, ValueError):
        return None


def _signature(body: str, parent_signing_key: str) -> str:
    return _encode(hmac.new(parent_signing_key.encode(), body.encode(), hashlib.sha256).digest())


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error as error:
        raise ValueError(str(error)) from error
