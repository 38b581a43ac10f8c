"""Other people's real catalogs, read from beside the checkout where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from search_proxy.feeds import FeedItem, open_feed


@pytest.mark.parametrize(
    ("name", "format_", "products", "parents"),
    [
        ("icecat/products.jsonl.gz", "jsonl", 19_406, 19_406),
        ("retail_demo/products.jsonl.gz", "jsonl", 2_465, 2_465),
        ("shopify/apparel.csv", "shopify", 22, 20),
        ("shopify/home-and-garden.csv", "shopify", 21, 20),
        ("shopify/jewelery.csv", "shopify", 23, 20),
    ],
)
def test_a_real_catalog_is_read_whole(
    shared_data: Path, name: str, format_: str, products: int, parents: int
) -> None:
    """Nothing in these is bad, so nothing is refused; every product has a title and a price."""
    feed = open_feed(shared_data / name)
    entries = list(feed)
    documents = [entry.document for entry in entries if isinstance(entry, FeedItem)]
    assert (feed.format, len(entries), len(documents)) == (format_, products, products)
    assert len({document["parentProductId"] for document in documents}) == parents
    assert all(document["productTitle"] and document["price"] >= 0 for document in documents)
    assert feed.bytes_read == feed.total_bytes


def test_the_electronics_catalog_keeps_its_typed_attributes(shared_data: Path) -> None:
    """Its `attributes` object is unwrapped, its price column names the currency."""
    feed = open_feed(shared_data / "icecat" / "products.jsonl.gz")
    notebook = next(e.document for e in feed if isinstance(e, FeedItem) and e.document["_id"] == "2101957")
    wanted = ("price", "currency", "category", "brand", "display_diagonal", "touchscreen", "processor_family")
    assert [notebook[field] for field in wanted] == [
        *(109.95, "EUR", "notebook", "HP"),
        *(17.0, False, "Intel Core 2 Duo"),
    ]
