"""The table throttled, silent, cut, absent, locked, full, damaged, and rebuilt twice, behind a whole server.

Every shopper gets hits, categories, a summary and the end of the stream; receipt and log line name the tier.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from cache.dynamodb_schema import create_table, table_name
from cache.entry import CacheEntry
from cache.errors import FilterBusy
from cache.keys import QueryKey
from cache.query_cache import QueryCache
from tests.support.cached_shop import GENEROUS, OTHER, QUERY, CachedShop, cached_shop
from tests.support.dynamodb_servers import moto_server, target
from tests.support.fault_proxy import FaultProxy, http_answer

pytestmark = pytest.mark.anyio

KEY = QueryKey.of("demo", "demo", QUERY)
THROTTLED = http_answer(
    "400 Bad Request",
    json.dumps({"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException"}).encode(),
)
TIGHT = {"cache_table_budget_seconds": 0.05}


@pytest.fixture(scope="module")
def protocol_port() -> Iterator[int]:
    """Run one DynamoDB protocol server for the module."""
    with moto_server() as url:
        yield int(url.rsplit(":", 1)[1])


@pytest.fixture
async def proxy(protocol_port: int) -> AsyncIterator[FaultProxy]:
    """Yield a proxy before it."""
    async with FaultProxy(protocol_port) as running:
        yield running


@pytest.fixture
def environment(protocol_port: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return an environment that has its table, and credentials that mean nothing to anybody."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    name = f"t{uuid.uuid4().hex[:12]}"
    create_table(target(f"http://127.0.0.1:{protocol_port}", table_name(name)))
    return name


def _dynamodb(proxy: FaultProxy, environment: str) -> dict[str, Any]:
    return {
        "cache_table": "dynamodb",
        "environment": environment,
        "dynamodb_endpoint_url": f"http://127.0.0.1:{proxy.port}",
    }


async def _store_elsewhere(folder: Path, proxy: FaultProxy, environment: str) -> None:
    """Let another server answer and store the question, so that only the table has it."""
    async with cached_shop(folder, **_dynamodb(proxy, environment), **GENEROUS) as shop:
        await shop.ask()
        await shop.settle()
        assert shop.stored() == [("stored", "stored")]


async def test_what_another_server_has_stored_comes_from_the_table(
    tmp_path: Path, proxy: FaultProxy, environment: str
) -> None:
    """The healthy case that the faults below are compared with."""
    await _store_elsewhere(tmp_path / "one", proxy, environment)
    async with cached_shop(tmp_path / "two", **_dynamodb(proxy, environment), **GENEROUS) as shop:
        heard = await shop.ask()
    assert (heard.source, heard.tier, heard.reason) == ("cached", "table", "hit")


async def test_a_throttling_table_is_a_miss_within_its_budget(
    tmp_path: Path, proxy: FaultProxy, environment: str
) -> None:
    """The model answers while the table is still being retried; the edge keeps that answer."""
    settings = _dynamodb(proxy, environment) | TIGHT
    async with cached_shop(tmp_path, **settings) as shop:
        proxy.canned = THROTTLED
        first = await shop.ask()
        await shop.settle()
        second = await shop.ask()
    assert (first.source, first.reason, first.steps[-1]) == ("llm", "table_timeout", "table=timeout")
    assert (second.source, second.tier) == ("cached", "edge")
    assert {tier for tier, _ in shop.failures()} == {"table"}
    assert any("throttles" in error for _, error in shop.failures())


async def test_nobody_waits_for_a_table_that_says_nothing(
    tmp_path: Path, proxy: FaultProxy, environment: str
) -> None:
    """Timing out: the whole answer is there while the table still says nothing."""
    settings = _dynamodb(proxy, environment) | TIGHT
    async with cached_shop(tmp_path, **settings) as shop:
        proxy.fall_silent()
        heard = await shop.ask()
        proxy.speak()
        await shop.settle()
    assert (heard.source, heard.reason) == ("llm", "table_timeout")
    assert ("table", "over 50 ms") in shop.failures()


async def test_an_answer_that_is_cut_in_the_middle_is_never_served(
    tmp_path: Path, proxy: FaultProxy, environment: str
) -> None:
    """Half an item, however often it is asked for, is an error of the table."""
    await _store_elsewhere(tmp_path / "one", proxy, environment)
    async with cached_shop(tmp_path / "two", **_dynamodb(proxy, environment), **GENEROUS) as shop:
        proxy.break_connections()
        proxy.cut_after_bytes = 400
        heard = await shop.ask()
        proxy.cut_after_bytes = None
        await shop.settle()
    assert (heard.source, heard.steps[-1]) == ("llm", "table=error(TierUnavailable)")
    assert {tier for tier, _ in shop.failures()} == {"table"}


async def test_a_table_that_is_absent_says_what_makes_it(
    tmp_path: Path, proxy: FaultProxy, environment: str
) -> None:
    """The shopper gets an answer, the operator the command."""
    settings = _dynamodb(proxy, "nowhere") | GENEROUS
    async with cached_shop(tmp_path, **settings) as shop:
        first = await shop.ask()
        await shop.settle()
        second = await shop.ask()
    assert (first.source, first.reason, first.steps[-1]) == ("llm", "table_error", "table=error(TableAbsent)")
    assert shop.stored() == [("error", "stored")]
    assert (second.source, second.tier) == ("cached", "edge")
    assert any("aisle cache create-table" in error for _, error in shop.failures())


async def test_an_item_that_is_too_large_is_told_and_nothing_else_suffers(
    tmp_path: Path, proxy: FaultProxy, environment: str
) -> None:
    """Over 400 KB: refused by name before DynamoDB refuses it, and the next answer is stored."""
    async with cached_shop(tmp_path, **_dynamodb(proxy, environment), **GENEROUS) as shop:
        cache: QueryCache = shop.shop.services.cache
        report = await cache.store(KEY, bytes(400_001), {})
        await shop.ask()
        await shop.settle()
        entry = await cache.read(KEY)
    assert (report.table, report.edge) == ("too_large", "too_large")
    assert shop.stored() == [("stored", "stored")]
    assert isinstance(entry, CacheEntry)


async def test_a_locked_file_is_read_and_the_answer_stays_at_the_edge(tmp_path: Path) -> None:
    """SQLite locked by another program: reads go on, the write is told and given up."""
    async with cached_shop(tmp_path, **GENEROUS) as shop:
        await shop.ask()
        await shop.settle()
        with closing(sqlite3.connect(tmp_path / "cache.sqlite3", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            new = await shop.ask(OTHER)
            await shop.settle()
            again = await shop.ask(OTHER)
            other.execute("ROLLBACK")
    assert (new.source, shop.stored()[-1]) == ("llm", ("error", "stored"))
    assert (again.source, again.tier) == ("cached", "edge")
    assert ("table", "table: the file is locked by another process") in shop.failures()


async def test_a_full_disk_leaves_answers_at_the_edge(tmp_path: Path) -> None:
    """SQLite full, by the file's own limit: what is there is read, what does not fit is told."""
    settings = GENEROUS | {"cache_sqlite_max_bytes": 120_000}
    async with cached_shop(tmp_path, **settings) as shop:
        cache: QueryCache = shop.shop.services.cache
        await shop.ask()
        await shop.settle()
        filler = await cache.store(QueryKey.of("demo", "demo", "filler"), bytes(300_000), {})
        new = await shop.ask(OTHER)
        await shop.settle()
        again = await shop.ask(OTHER)
    assert (filler.table, filler.edge) == ("error", "stored")
    assert new.source == "llm"
    assert again.from_cache
    assert ("table", "table: the disk or the file's size limit is full") in shop.failures()


async def test_a_damaged_file_is_a_miss_by_name(tmp_path: Path) -> None:
    """A file that is no database: nothing of it is served, the model and the edge go on."""
    tmp_path.joinpath("cache.sqlite3").write_bytes(b"this is not a database" * 1000)
    async with cached_shop(tmp_path, **GENEROUS) as shop:
        first = await shop.ask()
        await shop.settle()
        second = await shop.ask()
    assert (first.source, first.reason) == ("llm", "table_error")
    assert (second.source, second.tier) == ("cached", "edge")
    assert any("not a database" in error for _, error in shop.failures())


async def test_a_damaged_row_is_a_miss_and_is_replaced_by_the_next_answer(tmp_path: Path) -> None:
    """Bytes that fail their checksum are never an answer."""
    async with cached_shop(tmp_path / "shop", **GENEROUS) as shop:
        await shop.ask()
        await shop.settle()
    with closing(sqlite3.connect(tmp_path / "shop" / "cache.sqlite3")) as other, other:
        other.execute("UPDATE cached_query SET entry = substr(entry, 1, length(entry) - 9) || 'otherwise'")
    async with cached_shop(tmp_path / "shop", **GENEROUS) as shop:
        first = await shop.ask()
        await shop.settle()
    async with cached_shop(tmp_path / "shop", **GENEROUS) as shop:
        second = await shop.ask()
    assert (first.source, first.reason) == ("llm", "table_damaged")
    assert (second.source, second.tier) == ("cached", "table")


async def test_two_servers_that_rebuild_at_once_go_on_answering_from_what_is_stored(tmp_path: Path) -> None:
    """One builds, the other is told; neither ever denies a stored answer.."""
    async with AsyncExitStack() as stack:
        shops = [await stack.enter_async_context(cached_shop(tmp_path, **GENEROUS)) for _ in range(2)]
        await shops[0].ask()
        await shops[0].settle()
        built: list[int] = []
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            for shop in shops:
                for number in range(4):
                    group.create_task(_rebuild(shop, built), name=f"rebuild:{number}")
                asking = [group.create_task(shop.ask(), name=f"ask:{number}") for number in range(4)]
            heard = [await task for task in asking]
        after = [await shop.ask() for shop in shops]
        for shop in shops:
            await shop.shop.services.cache.poll_changes()
        absent = [await shop.shop.services.cache.lookup(QueryKey.of("demo", "demo", "?")) for shop in shops]
    assert built
    assert set(built) == {1}
    assert all(one.from_cache for one in (*heard, *after))
    assert [decision.reason for decision in absent] == ["never_stored"] * 2


async def _rebuild(shop: CachedShop, built: list[int]) -> None:
    try:
        built.append(await shop.shop.services.cache.rebuild_filter("demo", "demo"))
    except FilterBusy:
        return
