"""A feed is loaded into the real engine: in batches, with a report, and a bad entry costs only itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.errors import IndexNotFound
from search_proxy.feeds import FeedError, Refusal, open_feed
from search_proxy.feeds.loading import BATCH_PRODUCTS, LoadReport, LoadTarget, load_feed
from tests.search_proxy.feeds.feed_files import feed_of, lines_of

pytestmark = pytest.mark.anyio

_TARGET = LoadTarget(account_id="demo", index="shop")


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[EmbeddedBackend]:
    """An engine over an empty folder."""
    async with open_embedded(tmp_path / "data") as backend:
        yield backend


def _products(count: int, title: str = "Tent") -> list[dict[str, object]]:
    return [{"id": f"{title}-{n}", "title": f"{title} {n}", "price": n} for n in range(count)]


async def test_a_feed_of_several_batches_is_loaded_whole(engine: EmbeddedBackend, tmp_path: Path) -> None:
    """Refusals are counted by kind, the first ones kept, all handed on; progress ends at the file's size."""
    bad = ["oops", {"id": "x"}, "oops again"]
    feed = open_feed(feed_of(tmp_path, lines_of(*_products(BATCH_PRODUCTS + 10), *bad)))
    report, refusals, progress = LoadReport(max_examples=2), list[Refusal](), list[int]()
    await load_feed(feed, engine, _TARGET, report, on_refusal=refusals.append, on_progress=progress.append)
    assert (report.loaded, dict(report.refused)) == (BATCH_PRODUCTS + 10, {"not_json": 2, "missing_title": 1})
    assert [refusal.line for refusal in refusals] == [BATCH_PRODUCTS + 11 + at for at in range(3)]
    assert report.examples == refusals[:2]
    assert progress[-1] == feed.total_bytes
    description = await engine.describe("demo", "shop")
    assert description.documents == BATCH_PRODUCTS + 10


async def test_large_products_are_written_in_smaller_batches(engine: EmbeddedBackend, tmp_path: Path) -> None:
    """What a batch takes in memory is bounded, whatever the products are: forty of a megabyte are two."""
    large = [{**one, "notes": ["x" * 250_000] * 4} for one in _products(40)]
    progress: list[int] = []
    feed = open_feed(feed_of(tmp_path, lines_of(*large)))
    await load_feed(feed, engine, _TARGET, LoadReport(), on_progress=progress.append)
    assert len(progress) == 2
    assert (await engine.describe("demo", "shop")).documents == 40


async def test_a_second_feed_adds_to_the_index_and_replaces_products_of_the_same_id(
    engine: EmbeddedBackend, tmp_path: Path
) -> None:
    """Unless it is to replace the index."""
    path = feed_of(tmp_path, lines_of(*_products(3)))
    await load_feed(open_feed(path), engine, _TARGET, LoadReport())
    more = feed_of(tmp_path, lines_of({"id": "Tent-1", "title": "New"}, {"id": "other", "title": "Other"}))
    await load_feed(open_feed(more), engine, _TARGET, LoadReport())
    assert (await engine.describe("demo", "shop")).documents == 4
    replacing = LoadTarget(account_id="demo", index="shop", replace=True)
    await load_feed(open_feed(more), engine, replacing, LoadReport())
    assert (await engine.describe("demo", "shop")).documents == 2


async def test_a_feed_without_one_good_product_replaces_nothing(
    engine: EmbeddedBackend, tmp_path: Path
) -> None:
    """The index goes only when something is there to take its place."""
    await load_feed(open_feed(feed_of(tmp_path, lines_of(*_products(3)))), engine, _TARGET, LoadReport())
    replacing = LoadTarget(account_id="demo", index="shop", replace=True)
    bad = open_feed(feed_of(tmp_path, lines_of({"id": "1"}, "{oops")))
    await load_feed(bad, engine, replacing, LoadReport())
    with pytest.raises(FeedError):
        await load_feed(open_feed(feed_of(tmp_path, "<rss/>")), engine, replacing, LoadReport())
    assert (await engine.describe("demo", "shop")).documents == 3


async def test_a_limit_counts_products_not_refusals(engine: EmbeddedBackend, tmp_path: Path) -> None:
    """Nothing behind the last product is read."""
    feed = open_feed(feed_of(tmp_path, lines_of("oops", *_products(5), "oops")))
    report = LoadReport()
    await load_feed(feed, engine, _TARGET, report, limit=2)
    assert (report.loaded, report.refused.total()) == (2, 1)


async def test_a_feed_of_refusals_makes_no_index(engine: EmbeddedBackend, tmp_path: Path) -> None:
    """An index appears with its first product."""
    await load_feed(open_feed(feed_of(tmp_path, "{oops\n")), engine, _TARGET, LoadReport())
    with pytest.raises(IndexNotFound):
        await engine.describe("demo", "shop")


async def test_whatever_the_feed_accepts_the_engine_can_index(
    engine: EmbeddedBackend, tmp_path: Path
) -> None:
    """At the limits: a product that the engine refused would take its whole batch down."""
    at_the_limits = [
        {"id": "n" * 500, "title": "T"},
        {"id": "fields", "title": "T", **{f"f{n}": n for n in range(997)}},
        {"id": "text", "title": "T", "description": "x" * 1_048_000},
        {"id": "numbers", "title": "T", "a": 2**63 - 1, "b": -(2**63), "c": 2**64, "d": 1e308, "e": -0.0},
        {
            "id": "names",
            "title": "T",
            "a b": 1,
            "é": 2,
            "x:y": 3,
            "(": 4,
            "_score": 5,
            "m": {"n": {"o": [1, "2"]}},
        },
        {"id": "texts", "title": "\u202e \ufffd \U0010ffff", "c": "\x01\x7f"},
    ]
    report = LoadReport()
    await load_feed(open_feed(feed_of(tmp_path, lines_of(*at_the_limits))), engine, _TARGET, report)
    assert (report.loaded, report.examples) == (len(at_the_limits), [])
