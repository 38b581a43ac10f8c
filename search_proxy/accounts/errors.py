"""What can go wrong with accounts.

AccountError
├── AccountNotFound     there is no such account
├── AccountExists       the id is taken
├── AccountConflict     somebody else changed the account in between
├── AccountRefused      the change cannot be made as asked; the message says what would be right
├── KeyNotFound         the account has no such key
├── PromptNotFound      the index has no such prompt version
└── StoreUnavailable    the store could not answer
"""

from __future__ import annotations


class AccountError(Exception):
    """The base of every error about accounts; its message is for the caller and holds no secret."""


class AccountNotFound(AccountError):
    """There is no such account."""

    def __init__(self, account_id: str) -> None:
        super().__init__(f"account {account_id!r} does not exist")


class AccountExists(AccountError):
    """The id is taken."""

    def __init__(self, account_id: str) -> None:
        super().__init__(f"account {account_id!r} exists already")


class AccountConflict(AccountError):
    """Somebody else changed the account in between."""

    def __init__(self, account_id: str) -> None:
        super().__init__(f"account {account_id!r} was changed by somebody else; read it again")


class AccountRefused(AccountError):
    """The change cannot be made as asked."""


class KeyNotFound(AccountError):
    """The account has no such key."""

    def __init__(self, key_id: str) -> None:
        super().__init__(f"key {key_id!r} does not exist")


class PromptNotFound(AccountError):
    """The index has no such prompt version."""

    def __init__(self, index: str, version: int | str) -> None:
        super().__init__(f"index {index!r} has no prompt version {version}")


class StoreUnavailable(AccountError):
    """The store could not answer."""
