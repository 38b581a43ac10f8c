"""What every table of cached queries keeps: SQLite, and DynamoDB over two protocol servers."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, aclosing
from pathlib import Path

import pytest

from cache.dynamodb_schema import create_table
from cache.dynamodb_table import DynamoDBTable
from cache.keys import QueryKey
from cache.query_table import CLOCK_SKEW_MS, DROPS_SCOPE, QueryTable, TableRow
from cache.sqlite_table import SqliteTable
from tests.support.clocks import FakeClock
from tests.support.dynamodb_servers import SERVERS, target

pytestmark = pytest.mark.anyio

KEY = QueryKey.of("acme", "shoes", "red running shoes")
NOW_MS = 1_800_000_000_000


class _Endpoints:
    """Starts each server when the first test asks for it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._urls: dict[str, str] = {}

    def url(self, name: str) -> str:
        if name not in self._urls:
            self._urls[name] = self._stack.enter_context(SERVERS[name]())
        return self._urls[name]


@pytest.fixture(scope="module")
def endpoints() -> Iterator[_Endpoints]:
    """Run the protocol servers for the module."""
    with ExitStack() as stack:
        yield _Endpoints(stack)


@pytest.fixture
def clock() -> FakeClock:
    """Return a clock that the test moves."""
    return FakeClock(NOW_MS / 1000)


@pytest.fixture(params=["sqlite", *SERVERS])
async def table(
    request: pytest.FixtureRequest, endpoints: _Endpoints, clock: FakeClock, tmp_path: Path
) -> AsyncIterator[QueryTable]:
    """Yield each implementation, empty."""
    made: QueryTable
    if request.param == "sqlite":
        made = SqliteTable(tmp_path / "cache.sqlite3", max_bytes=100_000_000, clock=clock)
    else:
        where = target(endpoints.url(request.param), f"test-{uuid.uuid4().hex}")
        create_table(where)
        made = DynamoDBTable(where, clock=clock)
    try:
        yield made
    finally:
        await made.close()


def _row(
    entry: bytes = b"answer", *, at_ms: int = NOW_MS, seconds: int | None = 3600, pinned: bool = False
) -> TableRow:
    expires_at = None if seconds is None else at_ms // 1000 + seconds
    return TableRow(entry=entry, written_at_ms=at_ms, expires_at=expires_at, pinned=pinned)


async def _changes(table: QueryTable, scope: str, since_ms: int = 0) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    async with aclosing(table.changes(scope, since_ms)) as pages:
        async for page in pages:
            found += [(text, at) for text, at in page]
    return found


async def test_a_row_comes_back_as_it_was(table: QueryTable) -> None:
    """Bytes, times and pin, whatever the bytes are."""
    row = _row(bytes(range(256)) * 40)
    assert await table.put(KEY, row)
    assert await table.get(KEY) == row


async def test_an_unknown_key_has_no_row(table: QueryTable) -> None:
    """A miss is None, not an error."""
    assert await table.get(KEY) is None


async def test_an_expired_row_is_not_returned_though_it_is_still_there(
    table: QueryTable, clock: FakeClock
) -> None:
    """DynamoDB deletes hours late, so the time is checked on read. Source: storage contract, §1."""
    await table.put(KEY, _row(seconds=3600))
    clock.advance(3599)
    assert await table.get(KEY) is not None
    clock.advance(1)
    assert await table.get(KEY) is None


async def test_a_newer_row_replaces_an_older_one_and_not_the_other_way(table: QueryTable) -> None:
    """A slow writer does not undo a later answer."""
    assert await table.put(KEY, _row(b"second", at_ms=NOW_MS + 1000))
    assert not await table.put(KEY, _row(b"first"))
    assert await table.put(KEY, _row(b"third", at_ms=NOW_MS + 2000))
    found = await table.get(KEY)
    assert found is not None
    assert found.entry == b"third"


async def test_a_row_from_a_clock_that_is_wrong_can_be_replaced(table: QueryTable) -> None:
    """A clock that jumped a day ahead and back does not lock the key for a day."""
    await table.put(KEY, _row(b"future", at_ms=NOW_MS + CLOCK_SKEW_MS + 1))
    assert await table.put(KEY, _row(b"now"))


async def test_a_pinned_row_stays_until_it_is_deleted(table: QueryTable, clock: FakeClock) -> None:
    """An approved answer is not replaced by a later one of the model, and does not expire."""
    await table.put(KEY, _row(b"model"))
    assert await table.put(KEY, _row(b"approved", seconds=None, pinned=True))
    assert not await table.put(KEY, _row(b"model again", at_ms=NOW_MS + 5000))
    clock.advance(10 * 365 * 86_400)
    found = await table.get(KEY)
    assert found is not None
    assert (found.entry, found.pinned) == (b"approved", True)
    assert await table.delete(KEY, written_at_ms=int(clock() * 1000))
    assert await table.get(KEY) is None
    assert await table.put(KEY, _row(b"model", at_ms=int(clock() * 1000)))


async def test_deleting_says_whether_there_was_a_row(table: QueryTable, clock: FakeClock) -> None:
    """A deleted or expired row is not there to be deleted."""
    await table.put(KEY, _row())
    assert await table.delete(KEY, written_at_ms=NOW_MS + 1)
    assert not await table.delete(KEY, written_at_ms=NOW_MS + 2)
    assert not await table.delete(QueryKey.of("acme", "shoes", "nothing"), written_at_ms=NOW_MS)
    await table.put(KEY, _row(at_ms=NOW_MS + 3000, seconds=10))
    clock.advance(60)
    assert not await table.delete(KEY, written_at_ms=NOW_MS + 60_000)


async def test_changes_tell_writes_and_deletions_of_one_scope_in_order(table: QueryTable) -> None:
    """Other processes learn what is new, and only of the scope they ask for."""
    one, two = QueryKey.of("acme", "shoes", "one"), QueryKey.of("acme", "shoes", "two")
    other = QueryKey.of("acme", "hats", "three")
    await table.put(one, _row(at_ms=NOW_MS))
    await table.put(two, _row(at_ms=NOW_MS + 10))
    await table.put(other, _row(at_ms=NOW_MS + 20))
    await table.delete(one, written_at_ms=NOW_MS + 30)
    assert await _changes(table, one.scope) == [(two.text, NOW_MS + 10), (one.text, NOW_MS + 30)]
    assert await _changes(table, one.scope, NOW_MS + 11) == [(one.text, NOW_MS + 30)]
    assert await _changes(table, one.scope, NOW_MS + 31) == []
    assert await _changes(table, other.scope) == [(other.text, NOW_MS + 20)]


async def test_a_dropped_account_loses_every_row_of_every_index_and_it_is_told(table: QueryTable) -> None:
    """Pinned rows too; nobody else loses anything. Source: the edge cache drops an account the same way."""
    mine = [QueryKey.of("ac#me", index, f"q{n}") for index in ("shoes", "h#ats") for n in range(30)]
    rival = QueryKey.of("ac", "me#shoes", "q1")
    for key in mine:
        await table.put(key, _row(pinned=key.query == "q3", seconds=None))
    await table.put(rival, _row())
    assert await table.drop_account("ac#me", written_at_ms=NOW_MS + 1000) == 60
    assert [await table.get(key) for key in mine] == [None] * 60
    assert await table.get(rival) is not None
    assert await _changes(table, DROPS_SCOPE) == [("ac#me", NOW_MS + 1000)]


async def test_a_drop_is_remembered_longer_than_any_entry(table: QueryTable, clock: FakeClock) -> None:
    """A process that starts months later still refuses what was dropped."""
    await table.drop_account("acme", written_at_ms=NOW_MS)
    clock.advance(300 * 86_400)
    if isinstance(table, SqliteTable):
        await table.purge_expired()
    assert await _changes(table, DROPS_SCOPE) == [("acme", NOW_MS)]
