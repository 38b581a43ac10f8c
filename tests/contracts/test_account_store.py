"""Every account store keeps one contract: SQLite in two connections, DynamoDB over two real servers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from search_proxy.accounts.dynamodb_store import DynamoDBAccountStore
from search_proxy.accounts.errors import StoreUnavailable
from search_proxy.accounts.sqlite_store import SqliteAccountStore
from search_proxy.accounts.store import AccountStore
from tests.contracts.account_store_contract import AccountStoreContract
from tests.support.dynamodb_servers import SERVERS

pytestmark = pytest.mark.anyio

_CREDENTIALS = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}


@pytest.fixture(scope="module", params=sorted(SERVERS))
def dynamodb_endpoint(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a running server, each in turn."""
    name: str = request.param
    with SERVERS[name]() as endpoint:
        yield endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Two stores over one place."""

    one: AccountStore
    other: AccountStore


class TestSqliteAccountStore(AccountStoreContract):
    """The embedded default."""

    @pytest.fixture
    async def stores(self, tmp_path: Path) -> AsyncIterator[Stores]:
        """Two connections to one file."""
        path = tmp_path / "data" / "accounts.sqlite3"
        one = await SqliteAccountStore.open(path)
        other = await SqliteAccountStore.open(path)
        yield Stores(one=one, other=other)
        await one.close()
        await other.close()


class TestDynamoDBAccountStore(AccountStoreContract):
    """The same over the DynamoDB protocol, each server in turn."""

    @pytest.fixture
    async def stores(self, dynamodb_endpoint: str) -> AsyncIterator[Stores]:
        """Two clients of one fresh table."""
        table = f"accounts-{uuid4().hex}"
        one = await _open(table, dynamodb_endpoint, create=True)
        other = await _open(table, dynamodb_endpoint, create=False)
        yield Stores(one=one, other=other)
        await one.close()
        await other.close()


async def test_opening_a_table_that_exists_already_keeps_it(dynamodb_endpoint: str) -> None:
    """Every process may be told to create the table."""
    table = f"accounts-{uuid4().hex}"
    for _ in range(2):
        store = await _open(table, dynamodb_endpoint, create=True)
        assert await store.read("acme") is None
        await store.close()


async def test_a_table_that_is_not_there_is_unavailable(dynamodb_endpoint: str) -> None:
    """Foreign errors are translated, with the table's name."""
    store = await _open("absent", dynamodb_endpoint, create=False)
    with pytest.raises(StoreUnavailable, match="accounts table 'absent' cannot be used"):
        await store.read("acme")
    await store.close()


async def test_a_file_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    """A folder stands where the file should be."""
    path = tmp_path / "accounts.sqlite3"
    path.mkdir()
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        await SqliteAccountStore.open(path)


async def test_the_accounts_file_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    """It holds signing keys."""
    path = tmp_path / "accounts.sqlite3"
    store = await SqliteAccountStore.open(path)
    assert path.stat().st_mode & 0o077 == 0
    await store.close()


async def _open(table: str, endpoint: str, *, create: bool) -> DynamoDBAccountStore:
    return await DynamoDBAccountStore.open(
        table, region="eu-west-1", endpoint_url=endpoint, credentials=_CREDENTIALS, create_table=create
    )
