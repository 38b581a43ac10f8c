"""The seam to where accounts are kept, for every process of a deployment."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Protocol

from pydantic import ValidationError

from search_proxy.accounts.account import Account
from search_proxy.accounts.errors import StoreUnavailable
from search_proxy.accounts.history import AuditEntry, PromptVersion

logger = logging.getLogger(__name__)

MAX_ACCOUNT_BYTES = 350_000
"""One account as JSON. DynamoDB refuses an item above 400 KB; every store keeps the same bound."""


class AccountStore(Protocol):
    """Keeps accounts, their prompt versions and their audit log.

    Every method raises `StoreUnavailable` when the store cannot answer.
    """

    async def changed_since(self, cursor: int) -> tuple[Sequence[Account], int]:
        """Return the accounts written since `cursor` (0 is the beginning) and the next cursor.

        Implementations MUST return every write, by this call or, where reads lag, by a later one with the
        returned cursor; they may return an account again.
        """
        ...

    async def read(self, account_id: str) -> Account | None:
        """Return the newest state of an account, a deleted one included."""
        ...

    async def write(self, account: Account, entry: AuditEntry, prompt: PromptVersion | None = None) -> None:
        """Write an account, its audit entry and a new prompt version, all of it or nothing.

        Raises:
            AccountConflict: The stored version is not `account.version - 1`.
            AccountRefused: The account is larger than `MAX_ACCOUNT_BYTES`.
        """
        ...

    async def prompt_versions(self, account_id: str, index: str) -> Sequence[PromptVersion]:
        """Return the versions of an index's prompt, the newest first, at most 200."""
        ...

    async def prompt_version(self, account_id: str, index: str, version: int) -> PromptVersion | None:
        """Return one version, or None."""
        ...

    async def audit(self, account_id: str, limit: int) -> Sequence[AuditEntry]:
        """Return the newest audit entries, the newest first."""
        ...


def account_from(body: str) -> Account:
    """Return the stored account in `body`.

    Raises:
        StoreUnavailable: This release cannot read it. A field that it does not know may be a restriction, so
            guessing is no way out.
    """
    try:
        return Account.model_validate_json(body)
    except ValidationError as error:
        places = ", ".join(
            ".".join(map(str, one["loc"])) for one in error.errors(include_input=False, include_url=False)
        )
        raise StoreUnavailable(f"a stored account cannot be read by this release: {places}") from None


def readable_accounts(bodies: Iterable[str]) -> list[Account]:
    """Return the accounts that can be read; of another the last known state stays in use."""
    accounts = []
    for body in bodies:
        try:
            accounts.append(account_from(body))
        except StoreUnavailable:
            logger.exception("account_unreadable")
    return accounts
