"""Keys handed out, rotated and revoked. A token is returned once, by the call that made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search_proxy.accounts.account import MAX_KEYS, Account, KeyRecord, KeyRights
from search_proxy.accounts.administration import AccountAdministration, checked_account
from search_proxy.accounts.derived_keys import DerivedClaims, derive_with
from search_proxy.accounts.errors import AccountRefused, KeyNotFound
from search_proxy.accounts.keys import KeyKind, mint, secret_hash, signing_key

MAX_OVERLAP_SECONDS = 30 * 86_400
"""How long a rotated key may go on beside its successor."""

MAX_DERIVED_SECONDS = 366 * 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key just made; `token` is shown now and never again."""

    record: KeyRecord
    token: str


class KeyDesk:
    """Makes and ends keys."""

    def __init__(self, administration: AccountAdministration) -> None:
        self._administration = administration

    async def create(
        self, account_id: str, kind: KeyKind, rights: Mapping[str, Any], *, label: str = "", actor: str
    ) -> NewKey:
        """Make a key with the given rights.

        Raises:
            AccountRefused: The rights cannot be used, or the account has too many keys.
        """
        checked: KeyRights = checked_account(KeyRights, rights)
        if checked.operator and kind != "secret":
            raise AccountRefused("operator is for secret keys")
        new = self._mint(kind, checked, label, actor)
        await self._administration.change(
            account_id,
            lambda account: _with_key(account, new.record),
            actor=actor,
            action="key.create",
            target=new.record.key_id,
            detail={"kind": kind, "label": label, "rights": checked.model_dump(mode="json")},
        )
        return new

    async def rotate(self, account_id: str, key_id: str, *, overlap_seconds: float, actor: str) -> NewKey:
        """Make a successor with the same rights; the old key ends after the overlap.

        Raises:
            KeyNotFound: There is no such key in use.
            AccountRefused: The overlap is out of range.
        """
        if not 0 <= overlap_seconds <= MAX_OVERLAP_SECONDS:
            raise AccountRefused(
                f"overlap_seconds is {overlap_seconds!r}; it takes a number from 0 to {MAX_OVERLAP_SECONDS}"
            )
        old = _key(await self._administration.account(account_id), key_id)
        new = self._mint(old.kind, old.rights, old.label, actor)
        ends_at = self._administration.now() + overlap_seconds

        def change(account: Account) -> Account:
            known = _key(account, key_id)
            known_end = known.rights.expires_at
            rights = known.rights.model_copy(
                update={"expires_at": ends_at if known_end is None else min(ends_at, known_end)}
            )
            ending = known.model_copy(update={"rights": rights})
            return _with_key(_replaced(account, ending), new.record)

        await self._administration.change(
            account_id,
            change,
            actor=actor,
            action="key.rotate",
            target=key_id,
            detail={"successor": new.record.key_id, "ends_at": ends_at},
        )
        return new

    async def revoke(self, account_id: str, key_id: str, *, actor: str) -> None:
        """End a key, and with it everything that it has signed.

        Raises:
            KeyNotFound: There is no such key in use.
        """

        def change(account: Account) -> Account:
            ended = _key(account, key_id).model_copy(update={"revoked_at": self._administration.now()})
            return _replaced(account, ended)

        await self._administration.change(account_id, change, actor=actor, action="key.revoke", target=key_id)

    async def derive(self, account_id: str, key_id: str, claims: DerivedClaims) -> str:
        """Return a derived key signed by a secret key of the account.

        Raises:
            KeyNotFound: There is no such key in use.
            AccountRefused: It is not a secret key, or the expiry is not ahead within a year.
        """
        parent = _key(await self._administration.account(account_id), key_id)
        now = self._administration.now()
        if not now < claims.expires <= now + MAX_DERIVED_SECONDS:
            raise AccountRefused(
                f"expires is {claims.expires!r}; it takes a time within a year from now ({now:.0f})"
            )
        try:
            return derive_with(parent.key_id, parent.signing_key, claims)
        except ValueError as error:
            raise AccountRefused(str(error)) from error

    def _mint(self, kind: KeyKind, rights: KeyRights, label: str, actor: str) -> NewKey:
        key_id, token = mint(kind)
        record = checked_account(
            KeyRecord,
            {
                "key_id": key_id,
                "kind": kind,
                "label": label,
                "secret_hash": secret_hash(token),
                "signing_key": signing_key(token) if kind == "secret" else "",
                "rights": rights,
                "created_at": self._administration.now(),
                "created_by": actor,
            },
        )
        return NewKey(record=record, token=token)


def _key(account: Account, key_id: str) -> KeyRecord:
    key = account.key(key_id)
    if key is None or key.revoked_at is not None:
        raise KeyNotFound(key_id)
    return key


def _replaced(account: Account, key: KeyRecord) -> Account:
    keys = tuple(key if known.key_id == key.key_id else known for known in account.keys)
    return account.model_copy(update={"keys": keys})


def _with_key(account: Account, key: KeyRecord) -> Account:
    if len(account.keys) < MAX_KEYS:
        return account.model_copy(update={"keys": (*account.keys, key)})
    # The audit log remembers a revoked key; the account may forget the oldest one to make room.
    kept = list(account.keys)
    oldest = next((known for known in kept if known.revoked_at is not None), None)
    if oldest is None:
        raise AccountRefused(f"the account has {len(kept)} keys; revoke one first, at most {MAX_KEYS} fit")
    kept.remove(oldest)
    return account.model_copy(update={"keys": (*kept, key)})
