"""What every account store keeps, as tests over a `store` and a second view of the same place."""

from __future__ import annotations

import asyncio
from typing import Protocol

import pytest

from search_proxy.accounts.account import Account
from search_proxy.accounts.errors import AccountConflict, AccountRefused
from search_proxy.accounts.history import AuditEntry, PromptVersion
from search_proxy.accounts.prompt_slots import PromptSlots
from search_proxy.accounts.store import AccountStore


class StorePair(Protocol):
    """Two stores over one place, as two processes have them."""

    @property
    def one(self) -> AccountStore:
        """The first."""
        ...

    @property
    def other(self) -> AccountStore:
        """The second."""
        ...


def account(version: int = 1, **changes: object) -> Account:
    """Return an account of that version."""
    values = {"account_id": "acme", "name": "Acme", "version": version, "created_at": 1.0} | changes
    return Account.model_validate(values)


def entry(version: int, action: str = "test") -> AuditEntry:
    """Return the audit entry of that version."""
    return AuditEntry(account_id="acme", version=version, at=float(version), actor="me", action=action)


def prompt(version: int, voice: str = "calm") -> PromptVersion:
    """Return a prompt version."""
    return PromptVersion(
        account_id="acme", index="store", version=version, slots=PromptSlots(voice=voice), created_at=1.0
    )


class AccountStoreContract:
    """One body, run over every implementation of `AccountStore`."""

    async def test_what_one_process_writes_the_other_reads(self, stores: StorePair) -> None:
        """A write is whole and durable when the call returns."""
        written = account(settings={"store": {"cached_query_percentage": 5}})
        await stores.one.write(written, entry(1))
        assert await stores.other.read("acme") == written
        assert await stores.other.read("nobody") is None

    async def test_a_write_over_a_newer_version_is_a_conflict_and_changes_nothing(
        self, stores: StorePair
    ) -> None:
        """The condition is part of the write. Source: design, seam AccountStore."""
        await stores.one.write(account(1), entry(1))
        await stores.other.write(account(2, name="second"), entry(2))
        with pytest.raises(AccountConflict):
            await stores.one.write(account(2, name="late"), entry(2, "late"), prompt(1))
        with pytest.raises(AccountConflict):
            await stores.one.write(account(1, name="again"), entry(1))
        found = await stores.one.read("acme")
        assert found is not None
        assert (found.version, found.name) == (2, "second")
        assert await stores.one.prompt_version("acme", "store", 1) is None
        assert [one.action for one in await stores.one.audit("acme", 10)] == ["test", "test"]

    async def test_of_many_writers_of_one_version_exactly_one_wins(self, stores: StorePair) -> None:
        """Concurrent writers of two processes never both succeed."""
        await stores.one.write(account(1), entry(1))
        won: list[int] = []

        async def attempt(store: AccountStore, number: int) -> None:
            try:
                await store.write(account(2, name=f"writer {number}"), entry(2))
            except AccountConflict:
                return
            won.append(number)

        async with asyncio.timeout(20), asyncio.TaskGroup() as writers:
            for number in range(8):
                store = stores.one if number % 2 else stores.other
                writers.create_task(attempt(store, number), name=f"writer {number}")
        found = await stores.one.read("acme")
        assert len(won) == 1
        assert found is not None
        assert found.name == f"writer {won[0]}"

    async def test_changes_are_returned_from_the_cursor_on(self, stores: StorePair) -> None:
        """A reader who follows sees every account that was written."""
        nothing, cursor = await stores.other.changed_since(0)
        assert nothing == []
        await stores.one.write(account(1), entry(1))
        first, cursor = await stores.other.changed_since(cursor)
        assert [one.account_id for one in first] == ["acme"]
        await stores.one.write(account(2, name="second"), entry(2))
        second, cursor = await stores.other.changed_since(cursor)
        assert [(one.version, one.name) for one in second] == [(2, "second")]
        everything, _ = await stores.one.changed_since(0)
        assert [one.version for one in everything] == [2]

    async def test_prompt_versions_are_kept_newest_first(self, stores: StorePair) -> None:
        """A version is written with the account that counts it."""
        for version in (1, 2, 3):
            await stores.one.write(account(version), entry(version), prompt(version, f"voice {version}"))
        versions = await stores.other.prompt_versions("acme", "store")
        assert [one.version for one in versions] == [3, 2, 1]
        assert await stores.other.prompt_version("acme", "store", 2) == prompt(2, "voice 2")
        assert await stores.other.prompt_versions("acme", "elsewhere") == []
        assert await stores.other.prompt_version("acme", "store", 9) is None

    async def test_the_audit_log_is_newest_first_and_bounded(self, stores: StorePair) -> None:
        """Every write leaves exactly one entry."""
        for version in range(1, 13):
            await stores.one.write(account(version), entry(version, f"change {version}"))
        assert [one.version for one in await stores.other.audit("acme", 3)] == [12, 11, 10]
        assert len(await stores.other.audit("acme", 100)) == 12

    async def test_an_account_too_large_for_any_store_is_refused(self, stores: StorePair) -> None:
        """The bound is the same everywhere, so that moving to another store never fails."""
        large = account(1, settings={"store": {"note": "x" * 400_000}})
        with pytest.raises(AccountRefused, match="at most 350000 fit"):
            await stores.one.write(large, entry(1))
        assert await stores.one.read("acme") is None
