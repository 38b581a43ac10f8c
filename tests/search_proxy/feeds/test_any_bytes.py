"""Whatever a file holds, reading it gives products and refusals, or one error about the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from search_proxy.engine.documents import prepare_document
from search_proxy.feeds import FeedError, FeedFormat, FeedItem, open_feed

_PIECES = [
    *(b"id,title,price\n", b"Handle,Title,Variant Price\n", b"{", b"}", b'{"id": 1, "title": "T"}\n', b"[1]"),
    *(
        b"\n",
        b"\r\n",
        b",",
        b";",
        b"\t",
        b'"',
        b'""',
        b"1",
        b"a",
        b"\xff",
        b"\x00",
        b"\xef\xbb\xbf",
        b"<",
        b">",
    ),
    *(
        b"<item>",
        b"</item>",
        b"<g:id>",
        b"</g:id>",
        b"<title>",
        b"</title>",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"]]>",
    ),
    *(
        b"&",
        b"&amp;",
        b'<?xml version="1.0" encoding="utf-8"?>',
        b"\x1f\x8b",
        b"\\u0000",
        b":",
        b"null",
        b"-1",
    ),
]
_FORMATS: list[FeedFormat | None] = [None, "jsonl", "csv", "tsv", "shopify", "google"]


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.sampled_from(_PIECES), max_size=20).map(b"".join) | st.binary(), st.sampled_from(_FORMATS))
@example(b"<item>", "google")
@example(b'id,title\n1,"\n2,b', None)
@example(b'{"id": 1, "title": "T", "attributes": {"": 1}}', None)
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes, format_: FeedFormat | None) -> None:
    """Nothing else is raised, lines are counted from 1, and the engine can index every product."""
    path = tmp_path / "feed"
    path.write_bytes(content)
    try:
        entries = list(open_feed(path, format=format_))
    except FeedError:
        return
    for entry in entries:
        assert entry.line >= 1
        if isinstance(entry, FeedItem):
            prepare_document(entry.document, 0)
        else:
            assert entry.reason
            assert not entry.reason.endswith(".")


@pytest.mark.parametrize("format_", ["csv", "shopify", "google", "tsv", "jsonl"])
def test_every_format_can_be_asked_for_by_name(tmp_path: Path, format_: FeedFormat) -> None:
    """A name that does not fit the content is an error of the file or refuses its lines."""
    path = tmp_path / "feed"
    path.write_bytes(b"Handle\tTitle\tVariant Price\nlamp\tLamp\t9\n")
    feed = open_feed(path, format=format_)
    assert feed.format == format_
    products = [entry for entry in feed if isinstance(entry, FeedItem)]
    assert len(products) == (0 if format_ == "jsonl" else 1)
