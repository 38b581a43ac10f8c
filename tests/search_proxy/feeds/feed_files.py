"""Writes small feeds and reads them back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from search_proxy.feeds import FeedFormat, FeedItem, Refusal, read_feed

Document = dict[str, Any]


def feed_of(folder: Path, content: str | bytes, name: str = "feed") -> Path:
    """Write a feed and return its path."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def lines_of(*objects: Any) -> str:
    """Return JSON Lines; a text stands for itself, so that a line can be broken."""
    return "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in objects)


def read_all(
    path: Path, *, format_: FeedFormat | None = None, mapping: dict[str, str] | None = None
) -> tuple[list[Document], list[Refusal]]:
    """Return the products and the refusals of a feed."""
    entries = list(read_feed(path, format=format_, mapping=mapping))
    products = [entry.document for entry in entries if isinstance(entry, FeedItem)]
    return products, [entry for entry in entries if isinstance(entry, Refusal)]
