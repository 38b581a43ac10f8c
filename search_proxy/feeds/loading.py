"""Loads a feed into an index in batches, and keeps count of what was refused and why."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from search_proxy.backend import CatalogWriter
from search_proxy.errors import IndexNotFound
from search_proxy.feeds.derived_categories import FIELD
from search_proxy.feeds.reader import Feed
from search_proxy.feeds.records import FeedItem, Refusal

BATCH_PRODUCTS = 10_000
BATCH_BYTES = 32 * 1_048_576
"""Products per commit and their size as JSON: enough to make its cost small, few enough to show progress and
stay in memory. A commit costs per field, too, of which a real catalog has thousands."""


@dataclass(slots=True)
class LoadReport:
    """What came of a load; `examples` are the first refusals."""

    max_examples: int = 10
    loaded: int = 0
    categories_derived: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    examples: list[Refusal] = field(default_factory=list)

    def refuse(self, refusal: Refusal) -> None:
        """Count a refusal."""
        self.refused[refusal.kind] += 1
        if len(self.examples) < self.max_examples:
            self.examples.append(refusal)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTarget:
    """Where a feed goes. `replace` deletes the index once the first good products are at hand."""

    account_id: str
    index: str
    replace: bool = False


async def load_feed(
    feed: Feed,
    writer: CatalogWriter,
    target: LoadTarget,
    report: LoadReport,
    *,
    limit: int | None = None,
    categories: Mapping[str, str] | None = None,
    on_refusal: Callable[[Refusal], None] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> None:
    """Write the feed's products, at most `limit`; `on_progress` gets the bytes of the file read so far.

    `categories` are derived ones by product id, for products that have none of their own.
    Every batch is one commit, so an interrupted load keeps what was written before.
    """
    entries = _until(limit, iter(feed))
    while batch := await asyncio.to_thread(_take, entries):
        for entry in batch:
            if isinstance(entry, Refusal):
                report.refuse(entry)
                if on_refusal:
                    on_refusal(entry)
        documents = [entry.document for entry in batch if isinstance(entry, FeedItem)]
        if documents:
            report.categories_derived += _categorise(documents, categories or {})
            if target.replace and report.loaded == 0:
                await _delete_index(writer, target)
            await writer.add_documents(target.account_id, target.index, documents)
            report.loaded += len(documents)
        if on_progress:
            on_progress(feed.bytes_read)


def _categorise(documents: list[dict[str, Any]], categories: Mapping[str, str]) -> int:
    found = [document for document in documents if document["_id"] in categories and FIELD not in document]
    for document in found:
        document[FIELD] = categories[document["_id"]]
    return len(found)


def _take(entries: Iterator[FeedItem | Refusal]) -> list[FeedItem | Refusal]:
    batch: list[FeedItem | Refusal] = []
    size = 0
    for entry in itertools.islice(entries, BATCH_PRODUCTS):
        batch.append(entry)
        size += entry.size if isinstance(entry, FeedItem) else 0
        if size >= BATCH_BYTES:
            break
    return batch


def _until(limit: int | None, entries: Iterator[FeedItem | Refusal]) -> Iterator[FeedItem | Refusal]:
    products = 0
    for entry in entries:
        if products == limit:
            return
        yield entry
        products += isinstance(entry, FeedItem)


async def _delete_index(writer: CatalogWriter, target: LoadTarget) -> None:
    try:
        await writer.delete_index(target.account_id, target.index)
    except IndexNotFound:
        return
