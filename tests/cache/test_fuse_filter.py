"""The filter says "absent" only when it is sure, and learns what other processes write."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cache.change_feed import ChangeFeed
from cache.errors import FilterBusy
from cache.filter_files import FilterFiles
from cache.fuse_filter import OVERLAP_MS, FuseFilters
from cache.keys import QueryKey
from cache.membership_filter import FilterVerdict
from cache.query_table import TableRow
from cache.sqlite_table import SqliteTable
from tests.support.clocks import FakeClock

pytestmark = pytest.mark.anyio


@dataclass
class _Process:
    """One process's filter and feed over the shared table and folder."""

    filters: FuseFilters
    feed: ChangeFeed
    table: SqliteTable
    changed: list[str]
    dropped: list[str]

    async def write(self, key: QueryKey, clock: FakeClock) -> None:
        now_ms = int(clock() * 1000)
        self.filters.add(key, written_at_ms=now_ms)
        self.feed.note_own(key.text, now_ms)
        await self.table.put(key, TableRow(entry=b"x", written_at_ms=now_ms, expires_at=None))


@dataclass
class _Machine:
    """Two processes of one machine."""

    one: _Process
    two: _Process
    clock: FakeClock
    files: FilterFiles


def _process(folder: Path, clock: FakeClock) -> _Process:
    table = SqliteTable(folder / "cache.sqlite3", max_bytes=100_000_000, clock=clock)
    files = FilterFiles(folder / "filters")
    filters = FuseFilters(files, table, max_age_seconds=86_400, clock=clock, monotonic=clock)
    changed: list[str] = []
    dropped: list[str] = []

    async def on_change(text: str) -> None:
        changed.append(text)

    async def on_drop(account_id: str, at_ms: int) -> None:
        dropped.append(account_id)

    feed = ChangeFeed(
        table, filters, on_foreign_change=on_change, on_drop=on_drop, clock=clock, monotonic=clock
    )
    return _Process(filters, feed, table, changed, dropped)


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[_Machine]:
    """Yield two processes that share a table and a folder, and the clock of both."""
    clock = FakeClock()
    one, two = _process(tmp_path, clock), _process(tmp_path, clock)
    yield _Machine(one, two, clock, FilterFiles(tmp_path / "filters"))
    await one.table.close()
    await two.table.close()


def _key(query: str, index: str = "shoes") -> QueryKey:
    return QueryKey.of("acme", index, query)


async def test_without_a_filter_it_says_maybe(machine: _Machine) -> None:
    """Missing: it answers "maybe"."""
    assert machine.one.filters.verdict(_key("a")) is FilterVerdict.UNBUILT


async def test_a_built_filter_knows_what_is_there_and_what_is_not(machine: _Machine) -> None:
    """After a build and one look at the feed it can deny."""
    keys = [_key(f"query {n}") for n in range(200)]
    for key in keys:
        await machine.one.write(key, machine.clock)
    machine.clock.advance(100)
    assert await machine.two.filters.rebuild("acme", "shoes") == 200
    assert machine.two.filters.verdict(_key("x")) is FilterVerdict.BEHIND
    await machine.two.feed.poll()
    assert {machine.two.filters.verdict(key) for key in keys} == {FilterVerdict.PRESENT}
    verdicts = [machine.two.filters.verdict(_key(f"absent {n}")) for n in range(200)]
    assert verdicts.count(FilterVerdict.ABSENT) > 190


async def test_a_key_written_since_the_build_is_visible_here_at_once_and_there_with_the_next_poll(
    machine: _Machine,
) -> None:
    """Source: design, decision 15: others within 5 s."""
    key = _key("new")
    for process in (machine.one, machine.two):
        await process.filters.rebuild("acme", "shoes")
        await process.feed.poll()
    assert machine.two.filters.verdict(key) is FilterVerdict.ABSENT
    machine.clock.advance(1)
    await machine.one.write(key, machine.clock)
    assert machine.one.filters.verdict(key) is FilterVerdict.ADDED
    machine.clock.advance(2)
    await machine.two.feed.poll()
    assert machine.two.filters.verdict(key) is FilterVerdict.ADDED


async def test_without_news_for_five_seconds_it_says_maybe(machine: _Machine) -> None:
    """The bound holds though the feed has stopped: "absent" is never older than five seconds."""
    await machine.two.filters.rebuild("acme", "shoes")
    await machine.two.feed.poll()
    await machine.one.write(_key("new"), machine.clock)
    machine.clock.advance(5.1)
    assert machine.two.filters.verdict(_key("new")) is FilterVerdict.BEHIND


async def test_a_filter_past_its_age_says_maybe(machine: _Machine) -> None:
    """Old: it answers "maybe"."""
    await machine.one.filters.rebuild("acme", "shoes")
    machine.clock.advance(86_401)
    machine.one.filters.verdict(_key("a"))
    await machine.one.feed.poll()
    assert machine.one.filters.verdict(_key("a")) is FilterVerdict.OLD


async def test_a_damaged_file_says_maybe_until_it_is_built_again(machine: _Machine) -> None:
    """Damaged: it answers "maybe", and is due."""
    await machine.one.filters.rebuild("acme", "shoes")
    path = machine.files.path("acme#shoes")
    path.write_bytes(path.read_bytes()[:-9])
    machine.two.filters.verdict(_key("a"))
    await machine.two.feed.poll()
    assert machine.two.filters.verdict(_key("a")) is FilterVerdict.DAMAGED
    assert machine.two.filters.rebuild_due("acme#shoes", every_seconds=9, after_writes=9) == "damaged"
    await machine.one.filters.rebuild("acme", "shoes")
    await machine.two.feed.poll()
    assert machine.two.filters.verdict(_key("a")) is FilterVerdict.ABSENT


async def test_every_process_takes_over_a_filter_that_one_has_built(machine: _Machine) -> None:
    """The file is the machine's; a rename swaps it everywhere."""
    await machine.one.write(_key("a"), machine.clock)
    machine.two.filters.verdict(_key("a"))
    machine.clock.advance(100)
    await machine.one.filters.rebuild("acme", "shoes")
    await machine.two.feed.poll()
    assert machine.two.filters.verdict(_key("a")) is FilterVerdict.PRESENT
    assert machine.two.filters.describe()["acme#shoes"]["keys"] == 1


async def test_a_key_written_during_a_build_is_in_the_overlay_of_both_sides(machine: _Machine) -> None:
    """Neither the old nor the new filter has it; the overlay must."""
    for process in (machine.one, machine.two):
        await process.filters.rebuild("acme", "shoes")
        await process.feed.poll()
    late = _key("late")
    await machine.one.write(late, machine.clock)
    await machine.two.feed.poll()
    machine.clock.advance(OVERLAP_MS / 1000 - 1)
    await machine.one.filters.rebuild("acme", "shoes")
    for process in (machine.one, machine.two):
        await process.feed.poll()
        assert process.filters.verdict(late) in (FilterVerdict.ADDED, FilterVerdict.PRESENT)


async def test_two_processes_that_rebuild_at_once_build_once(machine: _Machine) -> None:
    """The second is told, and takes over the first one's file."""
    refused = pytest.raises(FilterBusy, match="being built by another process")
    with machine.files.building("acme#shoes"), refused:
        await machine.two.filters.rebuild("acme", "shoes")
    assert await machine.two.filters.rebuild("acme", "shoes") == 0


async def test_a_build_that_cannot_be_written_leaves_the_old_filter(machine: _Machine) -> None:
    """A failed rename or a full disk costs freshness, not the filter."""
    await machine.one.filters.rebuild("acme", "shoes")
    before = machine.files.read("acme#shoes")
    blocked = machine.files.path("acme#hats")
    blocked.mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        await machine.one.filters.rebuild("acme", "hats")
    assert machine.files.read("acme#shoes") == before
    assert not list(blocked.parent.glob("*.new"))


async def test_a_rebuild_is_due_after_writes_and_on_schedule(machine: _Machine) -> None:
    """Source: design, decision 15."""
    await machine.one.filters.rebuild("acme", "shoes")

    def due() -> str | None:
        return machine.one.filters.rebuild_due("acme#shoes", every_seconds=3600, after_writes=3)

    assert due() is None
    for number in range(3):
        await machine.one.write(_key(f"q{number}"), machine.clock)
    assert due() == "writes"
    machine.clock.advance(60)
    await machine.one.filters.rebuild("acme", "shoes")
    assert due() is None
    machine.clock.advance(3600)
    assert due() == "schedule"


async def test_a_foreign_change_is_reported_once_and_an_own_one_never(machine: _Machine) -> None:
    """A process lets go of its edge copy when another has written, pinned or deleted the answer."""
    key = _key("a")
    machine.two.filters.verdict(key)
    await machine.one.write(key, machine.clock)
    for _ in range(3):
        await machine.one.feed.poll()
        await machine.two.feed.poll()
    assert (machine.one.changed, machine.two.changed) == ([], [key.text])
    await machine.one.table.delete(key, written_at_ms=int(machine.clock() * 1000) + 5)
    await machine.two.feed.poll()
    assert machine.two.changed == [key.text, key.text]


async def test_a_row_that_arrives_late_is_still_noticed(machine: _Machine) -> None:
    """The time on a row is from before the write was acknowledged; the feed looks back that far."""
    await machine.two.filters.rebuild("acme", "shoes")
    await machine.one.write(_key("first"), machine.clock)
    await machine.two.feed.poll()
    late = int(machine.clock() * 1000) - OVERLAP_MS + 1000
    await machine.one.table.put(_key("late"), TableRow(entry=b"x", written_at_ms=late, expires_at=None))
    await machine.two.feed.poll()
    assert machine.two.filters.verdict(_key("late")) is FilterVerdict.ADDED


async def test_a_local_clock_that_jumps_ahead_skips_no_news(machine: _Machine) -> None:
    """The position in the feed moves with the rows, not with this process's clock."""
    await machine.two.filters.rebuild("acme", "shoes")
    await machine.two.feed.poll()
    machine.clock.advance(7200)
    machine.two.filters.verdict(_key("any"))
    await machine.two.feed.poll()
    machine.clock.advance(-7200)
    await machine.one.write(_key("new"), machine.clock)
    await machine.two.feed.poll()
    assert machine.two.filters.verdict(_key("new")) is FilterVerdict.ADDED


async def test_a_dropped_account_is_told_to_every_process(machine: _Machine) -> None:
    """One that starts later hears it too."""
    await machine.one.table.drop_account("acme", written_at_ms=5)
    await machine.two.feed.poll()
    await machine.two.feed.poll()
    assert machine.two.dropped == ["acme"]


async def test_indexes_of_one_account_have_filters_of_their_own(machine: _Machine) -> None:
    """A key of one index is absent in another."""
    await machine.one.write(_key("a"), machine.clock)
    for index in ("shoes", "hats"):
        machine.one.filters.verdict(_key("a", index))
        await machine.one.filters.rebuild("acme", index)
    await machine.one.feed.poll()
    assert machine.one.filters.verdict(_key("a", "hats")) is FilterVerdict.ABSENT
    assert machine.one.filters.verdict(_key("a")) is not FilterVerdict.ABSENT


async def test_a_filter_that_is_older_than_the_one_before_denies_nothing_that_it_lacks(
    machine: _Machine,
) -> None:
    """Somebody restores yesterday's file: what was written since is read again before anything is denied."""
    await machine.one.filters.rebuild("acme", "shoes")
    yesterday = machine.files.read("acme#shoes")
    machine.clock.advance(60)
    await machine.one.write(_key("since"), machine.clock)
    machine.clock.advance(86_000)
    await machine.two.filters.rebuild("acme", "shoes")
    await machine.two.feed.poll()
    assert machine.two.filters.verdict(_key("since")) is FilterVerdict.PRESENT
    machine.files.replace("acme#shoes", yesterday)
    await machine.two.filters.refresh("acme#shoes")
    assert machine.two.filters.verdict(_key("since")) is FilterVerdict.BEHIND
    await machine.two.feed.poll()
    assert machine.two.filters.verdict(_key("since")) is FilterVerdict.ADDED


async def test_what_was_written_while_a_scope_was_idle_is_read_before_anything_is_denied(
    machine: _Machine,
) -> None:
    """The position in the feed is kept though the scope was not polled."""
    await machine.two.filters.rebuild("acme", "shoes")
    machine.two.filters.verdict(_key("any"))
    await machine.two.feed.poll()
    machine.clock.advance(4 * 3600)
    await machine.one.write(_key("meanwhile"), machine.clock)
    machine.clock.advance(4 * 3600)
    await machine.two.feed.poll()
    assert machine.two.filters.verdict(_key("meanwhile")) is FilterVerdict.BEHIND
    await machine.two.feed.poll()
    assert machine.two.filters.verdict(_key("meanwhile")) is FilterVerdict.ADDED
