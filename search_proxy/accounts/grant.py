"""What a credential turned out to allow, computed once per change and not per request."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from search_proxy.accounts.account import Account, KeyRecord, KeyRights
from search_proxy.accounts.derived_keys import DerivedClaims
from search_proxy.caller import Caller
from search_proxy.filters import Filter, merge_filters, parse_filter
from search_proxy.rate_limits import RateLimit

GrantKind = Literal["open", "public_id", "publishable", "secret"]

DEMO_ACCOUNT = "demo"
"""The account that needs no key in demo mode, on the loopback."""

_WITHOUT_LIMIT = RateLimit(per_minute=10_000_000, burst=1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A recognised credential's rights. `any_loopback_origin` stands in for a list in demo mode only."""

    account_id: str
    kind: GrantKind
    key_id: str = ""
    indexes: frozenset[str] | None = None
    allowed_origins: frozenset[str] = frozenset()
    any_loopback_origin: bool = False
    forced_filter: Filter | None = None
    groups: frozenset[str] = frozenset()
    per_key: RateLimit = _WITHOUT_LIMIT
    per_address: RateLimit = _WITHOUT_LIMIT
    in_flight: int = 100_000
    expires_at: float | None = None
    operator: bool = False

    def caller(self, request_id: str) -> Caller:
        """Return who is asking, for everything behind the gateway."""
        return Caller(
            account_id=self.account_id,
            key_kind=self.kind,
            key_id=self.key_id,
            groups=self.groups,
            forced_filter=self.forced_filter,
            indexes=self.indexes,
            request_id=request_id,
        )


OPEN_GRANT = Grant(account_id=DEMO_ACCOUNT, kind="open", any_loopback_origin=True)
"""Everything of the demo account, nothing beyond it."""


def key_grant(account: Account, key: KeyRecord) -> Grant:
    """Return what a stored key allows.

    Raises:
        ValueError: Its forced filter cannot be read; such a key must open nothing.
    """
    return _grant(account.account_id, key.kind, key.key_id, key.rights)


def public_grant(account: Account) -> Grant:
    """Return what the account's public identifier allows.

    Raises:
        ValueError: Its forced filter cannot be read.
    """
    return _grant(account.account_id, "public_id", "", account.public_access.rights)


def derived_grant(parent: Grant, claims: DerivedClaims) -> Grant:
    """Return what a derived key allows: never more than its parent, and never to administer.

    Raises:
        ValueError: Its filter cannot be read.
    """
    own_filter = parse_filter(claims.filter) if claims.filter is not None else None
    origins = parent.allowed_origins if claims.origins is None else frozenset(claims.origins)
    return Grant(
        account_id=parent.account_id,
        kind="publishable",
        key_id=parent.key_id,
        indexes=_both(parent.indexes, claims.indexes),
        allowed_origins=origins,
        forced_filter=merge_filters(parent.forced_filter, own_filter),
        groups=parent.groups | frozenset(claims.groups),
        per_key=parent.per_key,
        per_address=parent.per_address,
        in_flight=parent.in_flight,
        expires_at=claims.expires if parent.expires_at is None else min(claims.expires, parent.expires_at),
    )


def _grant(account_id: str, kind: GrantKind, key_id: str, rights: KeyRights) -> Grant:
    return Grant(
        account_id=account_id,
        kind=kind,
        key_id=key_id,
        indexes=None if rights.indexes is None else frozenset(rights.indexes),
        allowed_origins=frozenset(rights.allowed_origins),
        forced_filter=None if rights.forced_filter is None else parse_filter(rights.forced_filter),
        groups=frozenset(rights.groups),
        per_key=RateLimit.of(rights.requests_per_minute),
        per_address=RateLimit.of(rights.requests_per_minute_per_address),
        in_flight=rights.requests_in_flight,
        expires_at=rights.expires_at,
        operator=rights.operator and kind == "secret",
    )


def _both(one: frozenset[str] | None, other: Collection[str] | None) -> frozenset[str] | None:
    if other is None:
        return one
    return frozenset(other) if one is None else one & frozenset(other)
