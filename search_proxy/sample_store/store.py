"""Reads the sample store that ships with the package: its documents, and a picture of each by id."""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

from search_proxy.sample_store.images import draw


def load_sample() -> list[dict[str, Any]]:
    """Return every document of the sample store, as it would stand in a feed."""
    packed = (files("search_proxy.sample_store") / "products.jsonl.gz").read_bytes()
    return [json.loads(line) for line in gzip.decompress(packed).splitlines()]


@lru_cache(maxsize=4096)
def draw_image(document_id: str) -> str | None:
    """Return the picture of a document of the sample store as SVG, or None where there is none of that id."""
    document = _by_id().get(document_id)
    return None if document is None else draw(document)


@lru_cache(maxsize=1)
def _by_id() -> dict[str, dict[str, Any]]:
    return {document["_id"]: document for document in load_sample()}
