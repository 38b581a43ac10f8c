"""Sixty-four concurrent table reads: how long each takes, and how long the event loop waits for them."""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path

import uvloop

from bench.loop_pause import LoopPause, OtherThreads
from bench.table import Row, percentile
from cache.dynamodb_schema import create_table
from cache.dynamodb_table import DynamoDBTable
from cache.entry import CacheEntry
from cache.keys import QueryKey
from cache.query_table import QueryTable, TableRow
from cache.sqlite_table import SqliteTable
from tests.support.dynamodb_servers import DYNOXIDE, dynoxide_server, moto_server, target

_READERS = 64
_READS_EACH = 20
_ENTRY_BYTES = 3_000
_IDLE_SECONDS = 1.0


def table_rows(folder: Path) -> list[Row]:
    """Measure SQLite and DynamoDB."""
    rows = [uvloop.run(_idle_row())]
    rows += uvloop.run(
        _rows("SQLite", SqliteTable(folder / "table" / "cache.sqlite3", max_bytes=100_000_000))
    )
    server, name = (dynoxide_server, "dynoxide") if DYNOXIDE.exists() else (moto_server, "moto")
    with server() as url:
        where = target(url, "bench-AgenticCachedQueriesTable")
        create_table(where)
        rows += uvloop.run(_rows(f"DynamoDB ({name})", DynamoDBTable(where)))
    return rows


async def _idle_row() -> Row:
    # What this machine does to a loop with nothing to do: the pauses below are to be read beside it.
    pauses: list[float] = []
    async with LoopPause(pauses):
        await asyncio.sleep(_IDLE_SECONDS)
    return _row("table: event-loop pause of an idle process", pauses, f"ms, longest {max(pauses):.1f}")


async def _rows(name: str, table: QueryTable) -> list[Row]:
    keys = [QueryKey.of("acme", "shoes", f"query {number}") for number in range(_READERS)]
    for key in keys:
        entry = CacheEntry(key_text=key.text, payload=bytes(_ENTRY_BYTES), created_at_ms=1)
        await table.put(key, TableRow(entry=entry.encode(), written_at_ms=1, expires_at=None))
    taken: list[float] = []
    pauses: list[float] = []
    others: list[float] = []
    await _read_all(table, keys, [])
    async with LoopPause(pauses), OtherThreads(others):
        await _read_all(table, keys, taken)
    alone = []
    for _ in range(200):
        started = time.perf_counter()
        await table.get(keys[0])
        alone.append((time.perf_counter() - started) * 1e3)
    await table.close()
    return [
        _row(f"table: read from {name}, one at a time", alone, "ms"),
        _row(f"table: read from {name}, 64 at a time", taken, "ms"),
        _row(f"table: event-loop pause under 64 readers, {name}", pauses, f"ms, longest {max(pauses):.1f}"),
        _row("  of it for threads of this process", others, f"ms, longest {max(others):.1f}"),
    ]


async def _read_all(table: QueryTable, keys: list[QueryKey], taken: list[float]) -> None:
    async def read(key: QueryKey) -> None:
        for _ in range(_READS_EACH):
            started = time.perf_counter()
            assert await table.get(key) is not None
            taken.append((time.perf_counter() - started) * 1e3)

    async with asyncio.TaskGroup() as group:
        for key in keys:
            group.create_task(read(key), name=f"read:{key.query}")


def _row(name: str, values: list[float], unit: str) -> Row:
    return Row(name, f"{statistics.median(values):.2f}", f"{percentile(values, 99):.2f}", unit)
