"""Opens the accounts of a process: the store that the settings name, and the office over it.

boto3 takes 10 MB, so that it is loaded with a DynamoDB table alone.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from search_proxy.accounts.account_office import AccountOffice, open_office
from search_proxy.accounts.directory import AccountDirectory
from search_proxy.accounts.grant import DEMO_ACCOUNT
from search_proxy.accounts.sqlite_store import SqliteAccountStore
from search_proxy.accounts.store import AccountStore

FILE_NAME = "accounts.sqlite3"


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamoDBPlace:
    """Where the accounts table is; `credentials` are boto3's client arguments, else its usual chain."""

    table: str
    region: str
    endpoint_url: str | None = None
    credentials: Mapping[str, str] = field(default_factory=dict)
    create_table: bool = False


@asynccontextmanager
async def open_account_office(
    data_dir: Path, *, dynamodb: DynamoDBPlace | None = None, demo: bool = False
) -> AsyncIterator[AccountOffice]:
    """Yield the accounts in `data_dir`, or in a DynamoDB table; `demo` has the open account ready.

    Raises:
        AccountError: The store could not be opened or read.
    """
    store = await _open_store(data_dir, dynamodb)
    try:
        async with open_office(store) as office:
            if demo:
                await office.administration.ensure_account(DEMO_ACCOUNT, actor="demo")
            yield office
    finally:
        await store.close()


@asynccontextmanager
async def open_accounts(
    data_dir: Path, *, dynamodb: DynamoDBPlace | None = None
) -> AsyncIterator[AccountDirectory]:
    """Yield the directory alone, for a process that changes no account."""
    async with open_account_office(data_dir, dynamodb=dynamodb) as office:
        yield office.directory


class _ClosableStore(AccountStore, Protocol):
    async def close(self) -> None: ...


async def _open_store(data_dir: Path, dynamodb: DynamoDBPlace | None) -> _ClosableStore:
    if dynamodb is None:
        return await SqliteAccountStore.open(data_dir / FILE_NAME)
    module = importlib.import_module("search_proxy.accounts.dynamodb_store")
    store: _ClosableStore = await module.DynamoDBAccountStore.open(
        dynamodb.table,
        region=dynamodb.region,
        endpoint_url=dynamodb.endpoint_url,
        credentials=dynamodb.credentials,
        create_table=dynamodb.create_table,
    )
    return store
