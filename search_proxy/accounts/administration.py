"""Every change of an account, for the admin API and the command line alike.

A change is a function from the newest stored account to the next one. It is written on the condition that
nobody wrote in between, with its audit entry in the same transaction, and is in use here before it returns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from search_proxy.accounts.account import ACCOUNT_ID, EVERY_INDEX, INDEX_NAME, Account, PublicAccess
from search_proxy.accounts.directory import AccountDirectory
from search_proxy.accounts.errors import (
    AccountConflict,
    AccountExists,
    AccountNotFound,
    AccountRefused,
)
from search_proxy.accounts.history import AuditEntry, PromptVersion
from search_proxy.accounts.settings_schema import checked_settings, merged_settings
from search_proxy.accounts.store import AccountStore
from search_proxy.accounts.validation_messages import validation_message

Change = Callable[[Account], Account]

_TRIES = 8
"""Two people rarely change one account at once; a script that does gets through."""

MAX_INDEXES_WITH_SETTINGS = 200


class AccountAdministration:
    """Changes accounts, each change whole, recorded and at once in use."""

    def __init__(
        self, store: AccountStore, directory: AccountDirectory, *, now: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._directory = directory
        self.now = now

    async def create_account(self, account_id: str, *, name: str = "", actor: str) -> Account:
        """Create an account.

        Raises:
            AccountRefused: The id is not one.
            AccountExists: The id is taken, now or by a deleted account.
        """
        if ACCOUNT_ID.match(account_id) is None:
            raise AccountRefused(
                f"{account_id!r} is not an account id: 3 to 32 lower-case letters and digits, no hyphen"
            )
        account: Account = checked_account(
            Account, {"account_id": account_id, "name": name, "version": 1, "created_at": self.now()}
        )
        try:
            await self._write(account, actor, "account.create", account_id, {"name": name})
        except AccountConflict as error:
            raise AccountExists(account_id) from error
        return account

    async def ensure_account(self, account_id: str, *, actor: str) -> Account:
        """Return the account, created if it was not there."""
        known = await self._store.read(account_id)
        if known is not None:
            self._directory.apply(known)
            return known
        try:
            return await self.create_account(account_id, actor=actor)
        except AccountExists:
            return await self.account(account_id)

    async def account(self, account_id: str) -> Account:
        """Return the newest stored state.

        Raises:
            AccountNotFound: There is none.
        """
        account = await self._store.read(account_id)
        if account is None or account.deleted:
            raise AccountNotFound(account_id)
        return account

    async def accounts(self) -> Sequence[Account]:
        """Return every account, by id."""
        accounts, _ = await self._store.changed_since(0)
        return sorted((one for one in accounts if not one.deleted), key=lambda one: one.account_id)

    async def delete_account(self, account_id: str, *, actor: str) -> None:
        """Close an account: its keys open nothing from now on; its history stays."""
        await self.change(
            account_id,
            lambda account: account.model_copy(update={"deleted": True, "keys": ()}),
            actor=actor,
            action="account.delete",
        )

    async def set_public_access(self, account_id: str, values: Mapping[str, Any], *, actor: str) -> Account:
        """Set whether and how the public identifier reads.

        Raises:
            AccountRefused: The message names the field.
        """
        access = checked_account(PublicAccess, values)
        return await self.change(
            account_id,
            lambda account: account.model_copy(update={"public_access": access}),
            actor=actor,
            action="public_access.set",
            detail=access.model_dump(mode="json"),
        )

    async def set_settings(
        self,
        account_id: str,
        index: str,
        values: Mapping[str, Any],
        *,
        actor: str,
        merge: bool = True,
        if_version: int | None = None,
    ) -> Account:
        """Set the settings of an index, or with `*` of the account; `merge` keeps what `values` leaves out.

        Raises:
            SettingsRefused: The message names the field and what it takes.
            AccountConflict: The settings are not of `if_version` any more.
        """
        check_scope(index)

        def change(account: Account) -> Account:
            if if_version is not None and account.settings_version != if_version:
                raise AccountConflict(account_id)
            own = merged_settings(account.settings.get(index, {}), values) if merge else dict(values)
            return with_settings(account, index, own)

        return await self.change(
            account_id, change, actor=actor, action="settings.set", target=index, detail=dict(values)
        )

    async def audit(self, account_id: str, *, limit: int = 100) -> Sequence[AuditEntry]:
        """Return the newest changes, the newest first."""
        return await self._store.audit(account_id, min(max(limit, 1), 1_000))

    async def change(
        self,
        account_id: str,
        change: Change,
        *,
        actor: str,
        action: str,
        target: str = "",
        detail: Mapping[str, Any] | None = None,
        prompt: Callable[[Account], PromptVersion] | None = None,
    ) -> Account:
        """Apply `change` to the newest state and write it; one that changes nothing is not written.

        Raises:
            AccountNotFound: There is no such account.
            AccountConflict: Others kept changing it.
        """
        for _ in range(_TRIES):
            known = await self.account(account_id)
            changed = change(known)
            if changed == known:
                return known
            changed = changed.model_copy(update={"version": known.version + 1})
            try:
                await self._write(
                    changed, actor, action, target, detail or {}, prompt(changed) if prompt else None
                )
            except AccountConflict:
                continue
            return changed
        raise AccountConflict(account_id)

    async def _write(
        self,
        account: Account,
        actor: str,
        action: str,
        target: str,
        detail: Mapping[str, Any],
        prompt: PromptVersion | None = None,
    ) -> None:
        entry = AuditEntry(
            account_id=account.account_id,
            version=account.version,
            at=self.now(),
            actor=actor,
            action=action,
            target=target,
            detail=dict(detail),
        )
        await self._store.write(account, entry, prompt)
        self._directory.apply(account)


def with_settings(account: Account, index: str, own: Mapping[str, Any]) -> Account:
    """Return the account with an index's own settings, checked together with those of the account.

    Raises:
        SettingsRefused: They cannot be used.
        AccountRefused: Too many indexes have settings of their own.
    """
    kept = {name: values for name, values in account.settings.items() if name != index}
    if own:
        kept[index] = dict(own)
    if len(kept) > MAX_INDEXES_WITH_SETTINGS:
        raise AccountRefused(
            f"{len(kept)} indexes would have settings; at most {MAX_INDEXES_WITH_SETTINGS} may"
        )
    account_wide = kept.get(EVERY_INDEX, {})
    for values in kept.values():
        checked_settings(merged_settings(account_wide, values))
    if kept == account.settings:
        return account
    return account.model_copy(update={"settings": kept, "settings_version": account.settings_version + 1})


def check_scope(index: str) -> None:
    """Refuse what is neither an index name nor `*`.

    Raises:
        AccountRefused: It is neither.
    """
    if index != EVERY_INDEX and INDEX_NAME.match(index) is None:
        raise AccountRefused(f"{index!r} is neither an index name nor '*' (all indexes of the account)")


def checked_account(model: Any, values: Mapping[str, Any]) -> Any:
    """Return a part of an account from outside values.

    Raises:
        AccountRefused: The message names the field and what it takes.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise AccountRefused(validation_message(error, model)) from error
