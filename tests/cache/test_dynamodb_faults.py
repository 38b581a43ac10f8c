"""DynamoDB throttling, timing out, cut, absent, refusing: a miss in time, and the log names the tier."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cache.config import DynamoConfig
from cache.dynamodb_calls import DynamoTarget
from cache.dynamodb_schema import create_table, table_definition, table_name
from cache.dynamodb_table import DynamoDBTable
from cache.errors import EntryTooLarge, TableAbsent, TierThrottled, TierUnavailable
from cache.keys import QueryKey
from cache.query_cache import QueryCache, StoreReport
from cache.query_table import TableRow
from tests.support.cache_process import cache_process, settled
from tests.support.dynamodb_servers import moto_server, target
from tests.support.fault_proxy import FaultProxy, http_answer

pytestmark = pytest.mark.anyio

KEY = QueryKey.of("acme", "shoes", "red running shoes")
ROW = TableRow(entry=b"answer" * 1000, written_at_ms=1_800_000_000_000, expires_at=None)
THROTTLED = http_answer(
    "400 Bad Request",
    json.dumps(
        {"__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}
    ).encode(),
)
BROKEN = http_answer("500 Internal Server Error", b'{"__type": "InternalServerError"}')


@pytest.fixture(scope="module")
def server_port() -> Iterator[int]:
    """Run one protocol server for the module."""
    with moto_server() as url:
        yield int(url.rsplit(":", 1)[1])


@pytest.fixture(scope="module")
def direct(server_port: int) -> DynamoTarget:
    """Return a table, without a proxy."""
    made = target(f"http://127.0.0.1:{server_port}", table_name(f"t{uuid.uuid4().hex}"))
    create_table(made)
    return made


@pytest.fixture
async def proxy(server_port: int) -> AsyncIterator[FaultProxy]:
    """Yield a proxy before the server."""
    async with FaultProxy(server_port) as running:
        yield running


@pytest.fixture
async def table(direct: DynamoTarget, proxy: FaultProxy) -> AsyncIterator[DynamoDBTable]:
    """Yield the table as a client behind the proxy sees it, with one row in it."""
    behind = replace(direct, endpoint_url=f"http://127.0.0.1:{proxy.port}", deadline_seconds=1.0)
    made = DynamoDBTable(behind)
    patient = DynamoDBTable(direct)
    await patient.put(KEY, ROW)
    await patient.close()
    yield made
    await made.close()


def _config(proxy: FaultProxy, direct: DynamoTarget, **more: Any) -> dict[str, Any]:
    environment = direct.table_name.removesuffix("-AgenticCachedQueriesTable")
    where = DynamoConfig(
        endpoint_url=f"http://127.0.0.1:{proxy.port}",
        access_key_id="test",
        secret_access_key="test",
        **more,
    )
    return {"table": "dynamodb", "dynamodb": where, "environment": environment}


async def _steps(cache: QueryCache, key: QueryKey = KEY) -> list[str]:
    return [str(step) for step in (await cache.lookup(key)).steps]


async def _warm(table: DynamoDBTable) -> None:
    # The first call makes the client, which may take longer than a tight deadline.
    for _ in range(20):
        try:
            await table.get(KEY)
        except TierUnavailable:
            continue
        return


async def test_throttling_is_retried_within_the_deadline_and_then_told(
    table: DynamoDBTable, proxy: FaultProxy
) -> None:
    """Several tries, then a refusal that names throttling."""
    await _warm(table)
    proxy.canned = THROTTLED
    asked = proxy.requests
    with pytest.raises(TierThrottled, match="throttles get_item"):
        await table.get(KEY)
    assert proxy.requests - asked > 2
    proxy.canned = None
    assert await table.get(KEY) == ROW


async def test_a_server_error_is_retried_until_it_is_over(table: DynamoDBTable, proxy: FaultProxy) -> None:
    """A 500 that passes costs a retry and not the answer."""
    await _warm(table)
    proxy.canned = BROKEN
    with pytest.raises(TierUnavailable, match="InternalServerError"):
        await table.get(KEY)


async def test_a_silent_server_is_given_up_at_the_deadline(table: DynamoDBTable, proxy: FaultProxy) -> None:
    """The call returns while the server still says nothing."""
    await _warm(table)
    proxy.fall_silent()
    with pytest.raises(TierUnavailable):
        await table.get(KEY)
    proxy.speak()


async def test_an_answer_that_is_cut_in_the_middle_is_never_served(
    table: DynamoDBTable, proxy: FaultProxy
) -> None:
    """Half an item is an error, and the next whole one is read."""
    await _warm(table)
    proxy.break_connections()
    proxy.cut_after_bytes = 2000
    with pytest.raises(TierUnavailable):
        await table.get(KEY)
    proxy.cut_after_bytes = None
    assert await table.get(KEY) == ROW


async def test_a_server_that_is_not_there_is_told(table: DynamoDBTable, proxy: FaultProxy) -> None:
    """Connection refused."""
    await _warm(table)
    await proxy.stop()
    with pytest.raises(TierUnavailable, match="not reachable"):
        await table.get(KEY)


async def test_an_absent_table_says_how_to_make_it(direct: DynamoTarget) -> None:
    """It is not retried: nothing would change."""
    absent = DynamoDBTable(replace(direct, table_name="nowhere"))
    with pytest.raises(TableAbsent, match="aisle cache create-table"):
        await absent.get(KEY)
    await absent.close()


async def test_an_item_over_the_servers_limit_is_told_as_such(direct: DynamoTarget) -> None:
    """400 KB. Source: storage contract, §1."""
    table = DynamoDBTable(direct)
    with pytest.raises(EntryTooLarge):
        await table.put(KEY, TableRow(entry=bytes(410_000), written_at_ms=1, expires_at=None))
    await table.close()


async def test_a_slow_table_is_a_miss_now_and_a_hit_for_the_next_caller(
    tmp_path: Path, direct: DynamoTarget, proxy: FaultProxy
) -> None:
    """The read completes behind the shopper's back. Source: lookup budget."""
    async with cache_process(tmp_path, **_config(proxy, direct, deadline_seconds=5.0)) as writer:
        await writer.store(KEY, b"plan")
    async with cache_process(
        tmp_path, table_budget_seconds=0.05, **_config(proxy, direct, deadline_seconds=5.0)
    ) as cache:
        proxy.fall_silent()
        assert await _steps(cache) == ["edge=miss", "filter=unbuilt", "table=timeout"]
        proxy.speak()
        await settled(cache)
        assert await _steps(cache) == ["edge=hit"]


@pytest.mark.parametrize("fault", ["throttled", "stopped", "absent"])
async def test_whatever_fails_the_lookup_is_a_miss_that_names_the_table(
    fault: str, tmp_path: Path, direct: DynamoTarget, proxy: FaultProxy, caplog: pytest.LogCaptureFixture
) -> None:
    """The shopper's answer does not depend on the cache."""
    config = _config(proxy, direct, deadline_seconds=0.3)
    if fault == "absent":
        config["environment"] = "nowhere"
    async with cache_process(tmp_path, **config) as cache:
        if fault == "throttled":
            proxy.canned = THROTTLED
        elif fault == "stopped":
            await proxy.stop()
        with caplog.at_level(logging.WARNING):
            decision = await cache.lookup(KEY)
        await cache.lookup(QueryKey.of("acme", "shoes", "other"))
    assert not decision.is_hit
    assert decision.reason == "table_error"
    assert {record.__dict__["tier"] for record in caplog.records if record.msg == "cache_tier_failed"} == {
        "table"
    }


async def test_an_answer_that_the_table_cannot_take_is_kept_at_the_edge_for_a_minute(
    tmp_path: Path, direct: DynamoTarget, proxy: FaultProxy
) -> None:
    """Then the table is asked what it has: a pinned answer may stand there."""
    async with cache_process(tmp_path, **_config(proxy, direct, deadline_seconds=0.3)) as cache:
        await proxy.stop()
        assert await cache.store(KEY, b"plan") == StoreReport(table="error", edge="stored")
        decision = await cache.lookup(KEY)
        assert (decision.tier, decision.reason) == ("edge", "hit")


def test_the_definition_in_deploy_is_the_one_that_create_table_uses() -> None:
    """Whoever makes the table by hand makes the same one."""
    file = Path(__file__).resolve().parents[2] / "deploy" / "dynamodb" / "cached-queries-table.json"
    assert json.loads(file.read_text()) == table_definition(table_name("prod"))


def test_creating_a_table_twice_changes_nothing(direct: DynamoTarget) -> None:
    """The command may be run by every deployment."""
    assert create_table(direct) is False
