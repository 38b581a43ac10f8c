"""The negative filter at a million keys: size, lookup, build, and what a build does to the event loop."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from array import array
from pathlib import Path

import uvloop

from bench.loop_pause import LoopPause
from bench.table import Row, percentile
from cache.change_feed import ChangeFeed
from cache.filter_files import FilterFiles
from cache.fuse_blob import FuseBlob, hash_texts
from cache.fuse_filter import FuseFilters
from cache.keys import QueryKey
from cache.membership_filter import FilterVerdict
from cache.sqlite_table import SqliteTable

_KEYS = 1_000_000
_SCOPE = "acme#shoes"
_LOOKUPS = 50_000
_ROUNDS = 5


def filter_rows(folder: Path) -> list[Row]:
    """Measure it."""
    texts = [f"{_SCOPE}#query number {number}" for number in range(_KEYS)]
    builds = [_build(texts) for _ in range(3)]
    blob = builds[0][1]
    seconds = [taken for taken, _ in builds]
    rows = [
        Row(
            "filter: build of 1,000,000 keys",
            f"{statistics.median(seconds) * 1e3:.0f}",
            f"{max(seconds) * 1e3:.0f}",
            "ms",
        ),
        Row("filter: size", f"{len(blob.encode()) / _KEYS:.3f}", "", "bytes/key"),
        uvloop.run(_verdict_row(folder, blob)),
        _false_positive_row(blob),
        uvloop.run(_pause_row(texts)),
    ]
    return rows


def _build(texts: list[str]) -> tuple[float, FuseBlob]:
    started = time.perf_counter()
    fingerprints: array[int] = array("Q")
    hash_texts(texts, fingerprints)
    blob = FuseBlob.build(_SCOPE, fingerprints, covered_until_ms=0, built_at_ms=0)
    return time.perf_counter() - started, blob


async def _verdict_row(folder: Path, blob: FuseBlob) -> Row:
    table = SqliteTable(folder / "filter" / "cache.sqlite3", max_bytes=100_000_000)
    files = FilterFiles(folder / "filter" / "filters")
    filters = FuseFilters(files, table, max_age_seconds=1e12)
    files.replace(_SCOPE, blob.encode())
    feed = ChangeFeed(table, filters, on_foreign_change=_ignore, on_drop=_ignore)
    rng = random.Random(7)
    keys = [QueryKey.of("acme", "shoes", f"absent {rng.random()}") for _ in range(_LOOKUPS)]
    filters.verdict(keys[0])
    await feed.poll()
    assert sum(filters.verdict(key) is FilterVerdict.ABSENT for key in keys[:1000]) > 950
    await feed.poll()
    each = []
    for _ in range(_ROUNDS):
        started = time.thread_time()
        for key in keys:
            filters.verdict(key)
        each.append((time.thread_time() - started) / _LOOKUPS * 1e6)
        await feed.poll()
    await table.close()
    return Row(
        "filter: CPU of a lookup, overlay and age included",
        f"{statistics.median(each):.2f}",
        f"{max(each):.2f}",
        "us",
    )


def _false_positive_row(blob: FuseBlob) -> Row:
    wrong = sum(QueryKey.of("acme", "shoes", f"absent {n}").fingerprint in blob for n in range(200_000))
    return Row("filter: absent keys let through", f"{wrong / 2000:.2f}", "", "%")


async def _pause_row(texts: list[str]) -> Row:
    pauses: list[float] = []
    async with LoopPause(pauses):
        await asyncio.to_thread(_build, texts)
    return Row(
        "filter: event-loop pause during a build",
        f"{statistics.median(pauses):.2f}",
        f"{percentile(pauses, 99):.2f}",
        f"ms, longest {max(pauses):.1f}",
    )


async def _ignore(*_: object) -> None:
    pass
