"""Every account in memory: who a credential is, and which settings and prompts are in use.

A request is answered from here without waiting. Changes come in whole accounts (`apply`), from this process
at once and from others through `sync.py`; between two of them nothing is half changed.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Callable

from search_proxy.accounts.account import EVERY_INDEX, Account, KeyRecord
from search_proxy.accounts.derived_keys import parent_id_of, verified_claims
from search_proxy.accounts.grant import Grant, derived_grant, key_grant, public_grant
from search_proxy.accounts.keys import is_the_key, key_id_of
from search_proxy.accounts.prompt_slots import LivePrompts
from search_proxy.accounts.settings_schema import (
    IndexSettings,
    SettingsSnapshot,
    merged_settings,
    readable_settings,
)

logger = logging.getLogger(__name__)

_REMEMBERED_DERIVED_KEYS = 2_048
"""Checking one costs a signature and a parse; a shopper's next request comes with the same key."""


class AccountDirectory:
    """Recognises credentials and hands out settings, both from memory."""

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._accounts: dict[str, Account] = {}
        self._keys: dict[str, tuple[KeyRecord, Grant]] = {}
        self._public: dict[str, Grant] = {}
        self._origins: Counter[str] = Counter()
        self._snapshots: dict[tuple[str, str], SettingsSnapshot] = {}
        self._derived: OrderedDict[str, tuple[KeyRecord, Grant]] = OrderedDict()
        self._default = SettingsSnapshot(settings=IndexSettings(), version=0)
        self.changes = 0
        """How many account documents were taken in; it tells two states of this process apart."""

    def __len__(self) -> int:
        return len(self._accounts)

    def apply(self, account: Account) -> bool:
        """Take in a newer state of an account; return False if the known one is as new."""
        known = self._accounts.get(account.account_id)
        if known is not None and known.version >= account.version:
            return False
        if known is not None:
            self._forget(known)
        self._accounts[account.account_id] = account
        self.changes += 1
        if not account.deleted:
            self._take_in(account)
        return True

    def account(self, account_id: str) -> Account | None:
        """Return the newest known state of an account, or None."""
        account = self._accounts.get(account_id)
        return None if account is None or account.deleted else account

    def knows_origin(self, origin: str) -> bool:
        """Return whether any credential admits the origin; a preflight does not say which it will use."""
        return origin in self._origins

    def identify(self, token: str) -> Grant | None:
        """Return what a key allows, or None for a key that is unknown, revoked, expired or forged."""
        if token.startswith("dk_"):
            return self._derived_key(token)
        known = self._keys.get(key_id_of(token) or "")
        record, grant = known if known is not None else (None, None)
        if not is_the_key(token, record.secret_hash if record is not None else None) or grant is None:
            return None
        return self._unexpired(grant)

    def identify_public(self, index_id: str, index: str) -> Grant | None:
        """Return what the public identifier `{account}-{index}` allows for a request to `index`."""
        account_id, _, rest = index_id.partition("-")
        grant = self._public.get(account_id)
        return self._unexpired(grant) if grant is not None and rest == index else None

    def snapshot(self, account_id: str, index: str) -> SettingsSnapshot:
        """Return the newest known settings; defaults where nothing was set."""
        found = self._snapshots.get((account_id, index)) or self._snapshots.get((account_id, EVERY_INDEX))
        return found or self._default

    def _derived_key(self, token: str) -> Grant | None:
        known = self._keys.get(parent_id_of(token) or "")
        if known is None:
            return None
        record, parent = known
        remembered = self._derived.get(token)
        if remembered is not None and remembered[0] is record:
            return self._unexpired(remembered[1])
        claims = verified_claims(token, record.signing_key)
        if claims is None or self._unexpired(parent) is None:
            return None
        try:
            grant = derived_grant(parent, claims)
        except ValueError:
            logger.warning("derived_key_with_unreadable_filter", extra={"key_id": record.key_id})
            return None
        self._derived[token] = (record, grant)
        if len(self._derived) > _REMEMBERED_DERIVED_KEYS:
            self._derived.popitem(last=False)
        return self._unexpired(grant)

    def _unexpired(self, grant: Grant) -> Grant | None:
        return grant if grant.expires_at is None or grant.expires_at > self._now() else None

    def _take_in(self, account: Account) -> None:
        for key in account.keys:
            if key.revoked_at is None:
                self._take_in_key(account, key)
        if account.public_access.enabled:
            try:
                self._public[account.account_id] = public_grant(account)
            except ValueError:
                logger.exception("public_access_refused", extra={"account": account.account_id})
        self._origins.update(_origins(account))
        for index in {EVERY_INDEX, *account.settings, *account.prompts}:
            self._snapshots[account.account_id, index] = _snapshot(account, index)

    def _take_in_key(self, account: Account, key: KeyRecord) -> None:
        try:
            self._keys[key.key_id] = (key, key_grant(account, key))
        except ValueError:
            logger.exception("key_refused", extra={"account": account.account_id, "key_id": key.key_id})

    def _forget(self, account: Account) -> None:
        for key in account.keys:
            self._keys.pop(key.key_id, None)
        self._public.pop(account.account_id, None)
        if not account.deleted:
            self._origins.subtract(_origins(account))
            self._origins += Counter()
        for index in {EVERY_INDEX, *account.settings, *account.prompts}:
            self._snapshots.pop((account.account_id, index), None)


def _origins(account: Account) -> list[str]:
    lists = [key.rights.allowed_origins for key in account.keys if key.revoked_at is None]
    if account.public_access.enabled:
        lists.append(account.public_access.rights.allowed_origins)
    return [origin for origins in lists for origin in origins]


def _snapshot(account: Account, index: str) -> SettingsSnapshot:
    values = merged_settings(account.settings.get(EVERY_INDEX, {}), account.settings.get(index, {}))
    settings = readable_settings(values)
    prompts = account.prompts.get(index) or account.prompts.get(EVERY_INDEX) or LivePrompts()
    return SettingsSnapshot(settings=settings, version=account.settings_version, prompts=prompts)
