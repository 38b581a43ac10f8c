"""What an open cache does by itself."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cache.change_feed import ChangeFeed
from cache.filter_files import FilterFiles
from cache.fuse_filter import FuseFilters
from cache.keys import QueryKey
from cache.membership_filter import FilterVerdict
from cache.query_table import TableRow
from cache.sqlite_table import SqliteTable
from cache.upkeep import Upkeep
from tests.support.cache_process import cache_process
from tests.support.clocks import FakeClock

pytestmark = pytest.mark.anyio

KEY = QueryKey.of("acme", "shoes", "red running shoes")


@dataclass
class _Parts:
    upkeep: Upkeep
    filters: FuseFilters
    table: SqliteTable
    clock: FakeClock


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[_Parts]:
    """Yield the upkeep of one process."""
    clock = FakeClock()
    table = SqliteTable(tmp_path / "cache.sqlite3", max_bytes=10_000_000, clock=clock)
    filters = FuseFilters(
        FilterFiles(tmp_path / "filters"), table, max_age_seconds=86_400, clock=clock, monotonic=clock
    )

    async def ignore(*_: object) -> None:
        pass

    feed = ChangeFeed(table, filters, on_foreign_change=ignore, on_drop=ignore, clock=clock, monotonic=clock)
    upkeep = Upkeep(
        feed=feed,
        filters=filters,
        table=table,
        poll_seconds=0.001,
        upkeep_seconds=0.001,
        rebuild_seconds=3600,
        rebuild_writes=2,
    )
    yield _Parts(upkeep, filters, table, clock)
    await table.close()


async def test_a_filter_that_is_asked_for_is_built(parts: _Parts) -> None:
    """Nobody has to run a command for it."""
    assert parts.filters.verdict(KEY) is FilterVerdict.UNBUILT
    await parts.upkeep.maintain_once()
    await parts.upkeep.feed.poll()
    assert parts.filters.verdict(KEY) is FilterVerdict.ABSENT


async def test_enough_writes_make_it_build_again(parts: _Parts) -> None:
    """The overlay is folded into the filter."""
    parts.filters.verdict(KEY)
    await parts.upkeep.maintain_once()
    now_ms = int(parts.clock() * 1000)
    for number in range(2):
        key = QueryKey.of("acme", "shoes", f"q{number}")
        parts.filters.add(key, written_at_ms=now_ms)
        await parts.table.put(key, TableRow(entry=b"x", written_at_ms=now_ms, expires_at=None))
    parts.clock.advance(60)
    await parts.upkeep.maintain_once()
    assert parts.filters.describe()["acme#shoes"]["keys"] == 2
    assert parts.filters.describe()["acme#shoes"]["added"] == 0


async def test_what_has_expired_is_purged(parts: _Parts, tmp_path: Path) -> None:
    """The embedded table does not grow for ever."""
    now = int(parts.clock())
    await parts.table.put(KEY, TableRow(entry=b"x", written_at_ms=now * 1000, expires_at=now + 1))
    parts.clock.advance(2)
    await parts.upkeep.maintain_once()
    reader = sqlite3.connect(tmp_path / "cache.sqlite3")
    assert reader.execute("SELECT count(*) FROM cached_query").fetchone() == (0,)
    reader.close()


async def test_a_table_that_fails_is_logged_and_asked_again(
    parts: _Parts, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The loop survives, and the filter says "maybe" until the table is back."""
    damaged = tmp_path / "damaged.sqlite3"
    damaged.write_bytes(b"this is not a database" * 1000)
    table = SqliteTable(damaged, max_bytes=10_000_000, clock=parts.clock)
    polled = asyncio.Event()

    async def note(*_: object) -> None:
        polled.set()

    feed = ChangeFeed(
        table, parts.filters, on_foreign_change=note, on_drop=note, clock=parts.clock, monotonic=parts.clock
    )
    upkeep = replace(parts.upkeep, feed=feed)
    with caplog.at_level(logging.WARNING):
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            loop = group.create_task(upkeep.follow_changes(), name="changes")
            while "cache_feed_failed" not in caplog.messages:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            damaged.unlink()
            await table.drop_account("acme", written_at_ms=5)
            await polled.wait()
            loop.cancel()
    await table.close()


async def test_two_processes_that_rebuild_at_once_leave_one_whole_filter(tmp_path: Path) -> None:
    """Each either builds or says that the other does; the file is sound and complete either way."""
    table = SqliteTable(tmp_path / "cache.sqlite3", max_bytes=100_000_000)
    keys = [QueryKey.of("acme", "shoes", f"q{number}") for number in range(300)]
    for key in keys:
        await table.put(key, TableRow(entry=b"x", written_at_ms=1, expires_at=None))
    await table.close()
    script = (
        "import asyncio, sys, pathlib\n"
        "from cache.config import CacheConfig\n"
        "from cache.errors import FilterBusy\n"
        "from cache.opening import open_cache\n"
        "async def main():\n"
        "    async with open_cache(CacheConfig(data_dir=pathlib.Path(sys.argv[1]))) as cache:\n"
        "        built = 0\n"
        "        for _ in range(10):\n"
        "            try:\n"
        "                assert await cache.rebuild_filter('acme', 'shoes') == 300\n"
        "                built += 1\n"
        "            except FilterBusy:\n"
        "                pass\n"
        "        print(built)\n"
        "asyncio.run(main())\n"
    )
    async with asyncio.timeout(30):
        processes = [
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                script,
                str(tmp_path),
                cwd=Path(__file__).parents[2],
                stdout=asyncio.subprocess.PIPE,
            )
            for _ in range(2)
        ]
        outputs = [await process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sum(int(output) for output, _ in outputs) > 0
    async with cache_process(tmp_path) as cache:
        await cache.load_filter("acme", "shoes")
        assert cache.stats()["filters"]["acme#shoes"]["keys"] == 300
