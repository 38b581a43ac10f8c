"""Opens a feed of any known format and reads its products and refusals as a stream.

The format is told by the content, not by the file's name: a first line of JSON, a table's header, XML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from search_proxy.feeds.columns import ColumnMapping
from search_proxy.feeds.delimited import Table, read_table
from search_proxy.feeds.feed_file import FeedFile
from search_proxy.feeds.google_xml import read_google_xml
from search_proxy.feeds.jsonl import read_jsonl
from search_proxy.feeds.products import ProductReader
from search_proxy.feeds.records import FeedError, FeedFormat, FeedItem, Record, Refusal, quoted
from search_proxy.feeds.shopify import NAMES, is_shopify, read_shopify

_SAMPLE_LINES = 20
_GOOGLE_COLUMNS = frozenset(("id", "title", "link", "image_link", "price"))


class Feed:
    """One feed being read, once; after reading, `columns` says which column became which field."""

    def __init__(
        self, path: Path, format_: FeedFormat | None, mapping: Mapping[str, str] | None, id_prefix: str
    ) -> None:
        self._file = FeedFile(path)
        self._explicit = dict(mapping or {})
        self._id_prefix = id_prefix
        self._decided = ColumnMapping(self._explicit)
        self.format, self._records = self._open(format_)

    @property
    def total_bytes(self) -> int:
        """The size of the file."""
        return self._file.total_bytes

    @property
    def bytes_read(self) -> int:
        """How much of the file has been read, of `total_bytes`."""
        return self._file.bytes_read

    @property
    def columns(self) -> dict[str, str]:
        """`{column: field}` of all records read so far."""
        if self.format == "shopify":
            return {column: field for field, column in (NAMES | self._explicit).items()}
        return dict(self._decided.decided)

    @property
    def missing_columns(self) -> list[str]:
        """Columns that the caller named and no record had."""
        return [] if self.format == "shopify" else self._decided.never_seen()

    def __iter__(self) -> Iterator[FeedItem | Refusal]:
        # The records of a Shopify export arrive under the names of fields already.
        mapping = ColumnMapping() if self.format == "shopify" else self._decided
        products = ProductReader(mapping, self._id_prefix)
        for record in self._records:
            yield record if isinstance(record, Refusal) else products.read(record)

    def _open(self, format_: FeedFormat | None) -> tuple[FeedFormat, Iterator[Record | Refusal]]:
        start = self._file.head.lstrip()[:1]
        mostly_objects = _is_mostly_objects(self._file.head)
        if start == b"[" and not mostly_objects and format_ in ("jsonl", None):
            name = quoted(str(self._file.path))
            raise FeedError(f"feed {name} is one JSON array; write one object per line instead")
        if format_ is None and (start == b"{" or mostly_objects):
            format_ = "jsonl"
        if format_ == "jsonl":
            return "jsonl", read_jsonl(self._file)
        if start == b"<" and format_ in ("google", None):
            return "google", read_google_xml(self._file)
        table = Table(self._file, "\t" if format_ == "tsv" else None)
        for column in self._explicit.values():
            if column not in table.header:
                known = ", ".join(repr(name) for name in table.header[:50])
                raise FeedError(f"no column {quoted(column)}; this file has {known}")
        if format_ == "shopify" or (format_ is None and is_shopify(table.header)):
            return "shopify", read_shopify(table, self._explicit)
        return format_ or _table_format(table), read_table(table)


def open_feed(
    path: Path | str,
    *,
    format: FeedFormat | None = None,  # noqa: A002 - the command line's own word
    mapping: Mapping[str, str] | None = None,
    id_prefix: str = "",
) -> Feed:
    """Open a feed; `mapping` is `{field: column}`, and wins over what the columns' names suggest.

    Raises:
        FeedError: The file as a whole is no feed: missing, empty, of another kind, without a named column.
    """
    return Feed(Path(path), format, mapping, id_prefix)


def read_feed(
    path: Path | str,
    *,
    format: FeedFormat | None = None,  # noqa: A002 - the command line's own word
    mapping: Mapping[str, str] | None = None,
) -> Iterator[FeedItem | Refusal]:
    """Yield every product of a feed, and a refusal for every entry that is none.

    Raises:
        FeedError: As `open_feed`.
    """
    return iter(open_feed(path, format=format, mapping=mapping))


def _is_mostly_objects(head: bytes) -> bool:
    # The first line of a JSON feed may be a broken one.
    lines = [line.strip() for line in head.split(b"\n", _SAMPLE_LINES)[:_SAMPLE_LINES] if line.strip()]
    objects = sum(line.startswith(b"{") and line.endswith(b"}") for line in lines)
    return objects * 2 >= len(lines) > 0 and objects > 0


def _table_format(table: Table) -> FeedFormat:
    names = {name.removeprefix("g:").strip().casefold().replace(" ", "_") for name in table.header}
    if names >= _GOOGLE_COLUMNS:
        return "google"
    return "tsv" if table.delimiter == "\t" else "csv"
