"""SQLite locked, full, damaged: a miss or a refusal in time, and never a wrong answer."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from cache.errors import TierBusy, TierFull, TierUnavailable
from cache.keys import QueryKey
from cache.query_cache import StoreReport
from cache.query_table import TableRow
from cache.sqlite_table import SqliteTable
from tests.support.cache_process import cache_process
from tests.support.clocks import FakeClock

pytestmark = pytest.mark.anyio

KEY = QueryKey.of("acme", "shoes", "red running shoes")


async def test_while_another_process_holds_the_lock_reads_go_on_and_writes_are_refused(
    tmp_path: Path,
) -> None:
    """A writer that waits holds up no lookup."""
    path = tmp_path / "cache.sqlite3"
    table = SqliteTable(path, max_bytes=10_000_000, busy_seconds=0.05)
    row = TableRow(entry=b"answer", written_at_ms=1, expires_at=None)
    await table.put(KEY, row)
    locker = sqlite3.connect(path, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    with pytest.raises(TierBusy, match="locked"):
        await table.put(KEY, row)
    assert await table.get(KEY) == row
    locker.execute("COMMIT")
    locker.close()
    assert await table.put(KEY, row)
    await table.close()


async def test_a_full_disk_refuses_writes_and_still_reads(tmp_path: Path) -> None:
    """SQLITE_FULL, by the file's own limit."""
    table = SqliteTable(tmp_path / "cache.sqlite3", max_bytes=200_000)
    await table.put(KEY, TableRow(entry=b"answer", written_at_ms=1, expires_at=None))
    with pytest.raises(TierFull):
        await table.put(KEY, TableRow(entry=bytes(300_000), written_at_ms=2, expires_at=None))
    found = await table.get(KEY)
    assert found is not None
    assert found.entry == b"answer"
    await table.close()


async def test_a_full_disk_leaves_the_answer_at_the_edge(tmp_path: Path) -> None:
    """The shopper's process serves it all the same; after a minute the table is asked what it has instead."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock, sqlite_max_bytes=100_000) as cache:
        assert await cache.store(KEY, bytes(300_000)) == StoreReport(table="error", edge="stored")
        assert (await cache.lookup(KEY)).reason == "hit"
        clock.advance(61)
        assert (await cache.lookup(KEY)).reason == "stale"


async def test_a_file_that_is_no_database_is_a_miss_until_it_is_replaced(tmp_path: Path) -> None:
    """Damaged: told, and opened again by the next call."""
    path = tmp_path / "cache.sqlite3"
    path.write_bytes(b"this is not a database" * 1000)
    table = SqliteTable(path, max_bytes=10_000_000)
    with pytest.raises(TierUnavailable):
        await table.get(KEY)
    path.unlink()
    assert await table.get(KEY) is None
    await table.close()


async def test_a_folder_that_cannot_be_made_is_a_miss(tmp_path: Path) -> None:
    """The process starts and answers without a table."""
    (tmp_path / "blocked").write_text("a file where the folder should be")
    async with cache_process(tmp_path / "blocked") as cache:
        decision = await cache.lookup(KEY)
        assert (decision.is_hit, decision.reason) == (False, "table_error")
        assert (await cache.store(KEY, b"plan")).edge == "stored"


async def test_processes_that_start_together_open_the_new_file_together(tmp_path: Path) -> None:
    """Switching to WAL ignores the busy timeout; the file lock does not. Source: storage contract, §4."""
    tables = [SqliteTable(tmp_path / "cache.sqlite3", max_bytes=10_000_000) for _ in range(8)]
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        for number, table in enumerate(tables):
            key = QueryKey.of("acme", "shoes", f"q{number}")
            row = TableRow(entry=b"x", written_at_ms=1, expires_at=None)
            group.create_task(table.put(key, row), name=f"put:{number}")
    for table in tables:
        await table.close()


async def test_expired_rows_are_purged(tmp_path: Path) -> None:
    """The file does not grow with what nobody sees."""
    clock = FakeClock()
    table = SqliteTable(tmp_path / "cache.sqlite3", max_bytes=10_000_000, clock=clock)
    now = int(clock())
    await table.put(KEY, TableRow(entry=b"x", written_at_ms=now * 1000, expires_at=now + 10))
    assert await table.purge_expired() == 0
    clock.advance(11)
    assert await table.purge_expired() == 1
    await table.close()
