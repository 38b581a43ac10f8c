"""Files as they come: compressed, cut off, damaged, of another kind, or with no end of line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from search_proxy.feeds import FeedError, FeedItem, Refusal, open_feed, read_feed
from search_proxy.feeds.records import MAX_LINE_BYTES
from tests.search_proxy.feeds.feed_files import feed_of, lines_of, read_all

_PRODUCTS = [{"id": str(n), "title": f"Product {n * n} of {n}", "price": n} for n in range(2_000)]


def test_a_compressed_feed_is_told_by_its_bytes_not_its_name(tmp_path: Path) -> None:
    """Several members, as `cat a.gz b.gz` makes them, are one feed."""
    first, second = lines_of(*_PRODUCTS[:1_000]), lines_of(*_PRODUCTS[1_000:])
    path = feed_of(tmp_path, gzip.compress(first.encode()) + gzip.compress(second.encode()), "feed.dat")
    products, refusals = read_all(path)
    assert ([product["_id"] for product in products], refusals) == ([str(n) for n in range(2_000)], [])


def test_a_compressed_feed_that_ends_early_gives_what_could_be_read(tmp_path: Path) -> None:
    """And one refusal that says where it ended."""
    whole = gzip.compress(lines_of(*_PRODUCTS).encode())
    products, refusals = read_all(feed_of(tmp_path, whole[: len(whole) * 3 // 4]))
    assert 500 < len(products) < 2_000
    assert refusals == [
        Refusal(
            line=len(products) + 1,
            field=None,
            reason="the gzip file ends early; what follows is missing",
            kind="damaged_file",
        )
    ]


def test_a_damaged_compressed_feed_gives_what_could_be_read(tmp_path: Path) -> None:
    """The bytes after the damage are lost, those before it are not."""
    whole = bytearray(gzip.compress(lines_of(*_PRODUCTS * 20).encode(), mtime=0))
    middle = len(whole) * 9 // 10
    whole[middle : middle + 200] = bytes(200)
    _, refusals = read_all(feed_of(tmp_path, bytes(whole)))
    assert refusals[-1].kind == "damaged_file"


@pytest.mark.parametrize("content", ["csv", "xml"])
def test_tables_and_merchant_feeds_say_so_too(tmp_path: Path, content: str) -> None:
    """A cut-off row or item is not mistaken for a product."""
    rows = [f"<item><g:id>{p['id']}</g:id><title>{p['title']}</title></item>" for p in _PRODUCTS]
    if content == "csv":
        rows = ["id,title", *(f"{p['id']},{p['title']}" for p in _PRODUCTS)]
    whole = gzip.compress("\n".join(rows).encode())
    products, refusals = read_all(feed_of(tmp_path, whole[: len(whole) // 2]))
    assert products == [
        {"_id": str(n), "parentProductId": str(n), "productTitle": f"Product {n * n} of {n}"}
        for n in range(len(products))
    ]
    assert [refusal.kind for refusal in refusals] == ["damaged_file"]


def test_a_line_without_end_is_skipped_without_being_kept(tmp_path: Path) -> None:
    """Memory stays bounded, and the next line is read."""
    content = lines_of(_PRODUCTS[1], "x" * (MAX_LINE_BYTES + 1), _PRODUCTS[2], "y" * (3 * MAX_LINE_BYTES))
    products, refusals = read_all(feed_of(tmp_path, content))
    assert [product["_id"] for product in products] == ["1", "2"]
    assert [(refusal.line, refusal.kind) for refusal in refusals] == [(2, "too_long"), (4, "too_long")]


def test_products_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    """A feed of any size starts at once; what is not asked for is not read."""
    path = feed_of(tmp_path, lines_of(*_PRODUCTS * 20))
    feed = open_feed(path)
    first = next(iter(feed))
    assert isinstance(first, FeedItem)
    assert 0 < feed.bytes_read < feed.total_bytes == path.stat().st_size


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"PK\x03\x04rest of a workbook", "a ZIP or Excel file; save the sheet as CSV"),
        ("id,title\n".encode("utf-16"), "UTF-16 text; save it as UTF-8"),
        (b"%PDF-1.7", "a PDF file"),
        (b'[{"id": "1"}]', "is one JSON array; write one object per line instead"),
        (b"just some words\nand more\n", "is no feed: expected a header line with at least two columns"),
        (b"\x00\x01\x02\x03", "the header cannot be read: a line must not hold NUL bytes"),
        (b"id,caf\xe9\n", "the header cannot be read: the line is not UTF-8"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (gzip.compress(b"id,title\n1,Tent\n", mtime=0)[:12], "the gzip file ends early"),
        (b"\x1f\x8bnot gzip at all", "the gzip file is damaged"),
    ],
)
def test_a_file_that_is_no_feed_is_one_clear_error(tmp_path: Path, content: bytes, message: str) -> None:
    """Said before anything is read or written."""
    with pytest.raises(FeedError) as error:
        open_feed(feed_of(tmp_path, content))
    assert message in str(error.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    """The reading function says so at once too, not at the first product."""
    with pytest.raises(FeedError, match="'/no/such/missing.jsonl' cannot be read: no such file"):
        read_feed(Path("/no/such/missing.jsonl"))
    with pytest.raises(FeedError, match="cannot be read: is a directory"):
        read_feed(tmp_path)
