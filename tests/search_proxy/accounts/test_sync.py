"""A change made in one process is used by the others within seconds, whole, and without restart."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from search_proxy.accounts.account import Account
from search_proxy.accounts.account_office import open_office
from search_proxy.accounts.directory import AccountDirectory
from search_proxy.accounts.errors import AccountConflict, StoreUnavailable
from search_proxy.accounts.sqlite_store import SqliteAccountStore
from search_proxy.accounts.sync import AccountSync, synced_directory
from tests.contracts.account_store_contract import account, entry
from tests.search_proxy.accounts.served_office import serve_office

pytestmark = pytest.mark.anyio

_OTHER_PROCESS = """
import asyncio, sys
from pathlib import Path
from search_proxy.accounts.open_accounts import open_account_office

async def main():
    async with open_account_office(Path(sys.argv[1])) as office:
        await office.administration.create_account("acme", actor="other process")
        new = await office.keys.create("acme", "publishable", {}, actor="other process")
        await office.administration.set_settings(
            "acme", "store", {"feature_flags": {"agentic_search": False}}, actor="other process"
        )
        sys.stdout.write(new.token)

asyncio.run(main())
"""


async def test_what_another_process_sets_is_in_use_here_within_five_seconds(tmp_path: Path) -> None:
    """Keys and settings, while the server runs. Source: flow document, Settings Sync."""
    async with serve_office(tmp_path) as served:
        served.backend.put("acme", "store", {"_id": "p1"})
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", _OTHER_PROCESS, str(tmp_path)],
            capture_output=True,
            timeout=30,
            check=True,
        )
        token = done.stdout.decode()
        async with asyncio.timeout(5):
            while True:
                answer = await served.client.get(
                    "/api/v1/indexes/store/agentic-search", headers={"x-api-key": token}
                )
                if answer.status_code == 200:
                    break
        assert answer.json()["flags"]["agentic_search"] is False
        assert answer.json()["settings_version"] == 1


async def test_a_store_that_fails_leaves_the_known_state_in_use_and_is_asked_again() -> None:
    """The age of the last good answer grows; then the change arrives."""

    class Flaky:
        def __init__(self) -> None:
            self.is_down = False
            self.asked = asyncio.Event()
            self.accounts = [account(1, name="first")]

        async def changed_since(self, cursor: int) -> tuple[Sequence[Account], int]:
            self.asked.set()
            if self.is_down:
                raise StoreUnavailable("down")
            return self.accounts, cursor + 1

    store = Flaky()
    async with (
        asyncio.timeout(5),
        synced_directory(store, interval_seconds=0.01) as (directory, sync),  # type: ignore[arg-type]
    ):
        store.is_down = True
        store.accounts = [account(2, name="second")]
        for _ in range(3):
            store.asked.clear()
            await store.asked.wait()
        known = directory.account("acme")
        assert known is not None
        assert known.name == "first"
        assert sync.age_seconds > 0
        store.is_down = False
        await sync.refresh()
        known = directory.account("acme")
        assert known is not None
        assert known.name == "second"


async def test_a_process_whose_first_reading_fails_does_not_start() -> None:
    """Serving without accounts would refuse everybody."""

    class Down:
        async def changed_since(self, cursor: int) -> tuple[Sequence[Account], int]:
            raise StoreUnavailable("down")

    with pytest.raises(StoreUnavailable):
        async with synced_directory(Down()):  # type: ignore[arg-type]
            raise AssertionError("it started")


async def test_an_older_state_never_replaces_a_newer_one(tmp_path: Path) -> None:
    """A reader that returns an account again changes nothing."""
    store = await SqliteAccountStore.open(tmp_path / "accounts.sqlite3")
    directory = AccountDirectory()
    sync = AccountSync(store, directory)
    await store.write(account(1), entry(1))
    assert await sync.refresh() == 1
    assert await sync.refresh() == 0
    assert directory.apply(account(2, name="newer"))
    assert not directory.apply(account(1))
    known = directory.account("acme")
    assert known is not None
    assert known.name == "newer"
    await store.close()


async def test_changes_made_at_once_in_two_processes_are_both_kept(tmp_path: Path) -> None:
    """A conflict is read again and applied to the newer state; the audit log has each."""
    stores = [await SqliteAccountStore.open(tmp_path / "accounts.sqlite3") for _ in range(2)]
    async with open_office(stores[0]) as one, open_office(stores[1]) as other:
        await one.administration.create_account("acme", actor="test")

        async def change(office_number: int, field: int) -> None:
            office = (one, other)[office_number]
            await office.administration.set_settings(
                "acme", f"index{field}", {"cached_query_percentage": field}, actor=f"office {office_number}"
            )

        async with asyncio.timeout(20), asyncio.TaskGroup() as changes:
            for number in range(6):
                changes.create_task(change(number % 2, number), name=f"change {number}")
        stored = await one.administration.account("acme")
        assert {name: values["cached_query_percentage"] for name, values in stored.settings.items()} == {
            f"index{number}": number for number in range(6)
        }
        assert (stored.version, stored.settings_version) == (7, 6)
        assert len(await one.administration.audit("acme")) == 7
        with pytest.raises(AccountConflict):
            await one.administration.set_settings("acme", "index0", {}, actor="test", if_version=1)
    for store in stores:
        await store.close()


async def test_an_account_of_a_newer_release_does_not_hold_the_others_up(tmp_path: Path) -> None:
    """Its last known state stays in use, and nothing of it is guessed."""
    path = tmp_path / "accounts.sqlite3"
    store = await SqliteAccountStore.open(path)
    async with open_office(store) as office:
        await office.administration.create_account("acme", actor="test")
        await office.administration.create_account("rival", actor="test")
        with sqlite3.connect(path) as connection:
            connection.execute(
                "UPDATE accounts SET version = 9, change = 100,"
                " body = json_set(body, '$.version', 9, '$.of_a_newer_release', 1) WHERE account_id = 'acme'"
            )
        connection.close()
        other = await SqliteAccountStore.open(path)
        async with open_office(other) as second:
            await second.administration.set_settings(
                "rival", "*", {"cached_query_percentage": 3}, actor="test"
            )
            assert second.directory.account("acme") is None
        await office.sync.refresh()
        assert office.directory.snapshot("rival", "store").settings.cached_query_percentage == 3
        known = office.directory.account("acme")
        assert known is not None
        assert known.version == 1
        with pytest.raises(StoreUnavailable, match="cannot be read by this release: of_a_newer_release"):
            await office.administration.account("acme")
        await other.close()
    await store.close()
