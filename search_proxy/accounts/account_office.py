"""Everything that changes accounts, together, as the admin API and the command line take it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from search_proxy.accounts.administration import AccountAdministration
from search_proxy.accounts.directory import AccountDirectory
from search_proxy.accounts.key_desk import KeyDesk
from search_proxy.accounts.prompt_desk import PromptDesk
from search_proxy.accounts.store import AccountStore
from search_proxy.accounts.sync import INTERVAL_SECONDS, AccountSync, synced_directory


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOffice:
    """The directory that requests read, and the desks that change what it holds."""

    directory: AccountDirectory
    sync: AccountSync
    administration: AccountAdministration
    keys: KeyDesk
    prompts: PromptDesk


@asynccontextmanager
async def open_office(
    store: AccountStore,
    *,
    interval_seconds: float = INTERVAL_SECONDS,
    now: Callable[[], float] = time.time,
) -> AsyncIterator[AccountOffice]:
    """Yield the office over an open store, following what other processes write, until the block ends.

    Raises:
        AccountError: The store could not be read.
    """
    async with synced_directory(store, interval_seconds=interval_seconds) as (directory, sync):
        administration = AccountAdministration(store, directory, now=now)
        yield AccountOffice(
            directory=directory,
            sync=sync,
            administration=administration,
            keys=KeyDesk(administration),
            prompts=PromptDesk(administration, store),
        )
