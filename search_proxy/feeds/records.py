"""What travels while a feed is read: a record of the file, then a product or a refusal of that record.

A bad record is data, never an exception: it stops nothing. Only a file that is no feed at all raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

FeedFormat = Literal["jsonl", "csv", "tsv", "shopify", "google"]

MAX_LINE_BYTES = 8 * 1_048_576
"""A line, row or item longer than this is skipped without being kept in memory."""

MAX_FIELD_BYTES = 1_048_576
"""A product text of this size is a mistake in the feed, not a description."""

MAX_DOCUMENT_BYTES = 1_048_576
"""The engine's own limit for a product, all fields together."""

MAX_FIELDS = 1_000
"""Fields of one product; the richest electronics catalogs have about 300."""

MAX_NAME_LENGTH = 200
MAX_ID_LENGTH = 500
MAX_LIST_LENGTH = 10_000

MAX_NESTING = 8
"""Levels of objects inside a product; each level is one dot in the field's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One raw entry of a feed: `values` by column, as the file has them; `line` is where it starts."""

    line: int
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedItem:
    """One product of a feed, ready to be indexed; `size` is what it takes as JSON, in bytes."""

    line: int
    document: dict[str, Any]
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One entry that could not be used: where, which field if one is to blame, why, and its kind.

    `kind` groups refusals in a report: `not_json`, `missing_title`, `bad_price`, ...
    """

    line: int
    field: str | None
    reason: str
    kind: str


class FeedError(Exception):
    """The file as a whole cannot be read as a feed; the message says what it is and what would be right."""


class Refused(Exception):
    """Ends the reading of one record; the reader turns it into a `Refusal` of that record's line."""

    def __init__(self, kind: str, field: str | None, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.field = field
        self.reason = reason

    def at(self, line: int) -> Refusal:
        """Return the refusal of the record at `line`."""
        return Refusal(line=line, field=self.field, reason=self.reason, kind=self.kind)


def quoted(value: object) -> str:
    """Return the value as a message shows it: quoted, and never longer than a line."""
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:79]}…"
