"""One turn of a conversation as it is kept: what was asked, what was answered, what was shown.

Storage sees only the bytes; this file is the one place that knows their JSON:
`{"query": "red shoes", "summary": "...", "product_ids": ["p1"], "categories": ["Shoes"], "state": {}}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from conversation.errors import InteractionTooLarge, StorageDamaged

MAX_BYTES = 64 * 1024
"""One encoded turn: 100 of them are then at most 6.4 MB, read only by an export."""

MAX_PRODUCT_IDS = 200
"""Six categories of 30 hits and a page of plain ones."""

MAX_CATEGORIES = 24

MAX_QUERY_CHARACTERS = 1_000

MAX_SUMMARY_CHARACTERS = 4_000
"""The summary of a turn is what the model gets of it ten turns later; two pages are too much already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """A turn; `number` (1, 2, 3, ... without a gap) and `created_at` are given when it is committed.

    `state` is small JSON that the next turn needs and the model does not: constraints, what was shown where.
    """

    query: str
    summary: str = ""
    product_ids: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)
    created_at: float = 0.0
    number: int = 0


def fitted_interaction(
    *,
    query: str,
    summary: str = "",
    product_ids: Sequence[str] = (),
    categories: Sequence[str] = (),
    state: Mapping[str, Any] | None = None,
) -> Interaction:
    """Return a turn cut to its limits: the first products and categories, the beginning of the texts."""
    return Interaction(
        query=query[:MAX_QUERY_CHARACTERS],
        summary=summary[:MAX_SUMMARY_CHARACTERS],
        product_ids=tuple(product_ids[:MAX_PRODUCT_IDS]),
        categories=tuple(categories[:MAX_CATEGORIES]),
        state=state or {},
    )


def encode_interaction(interaction: Interaction) -> bytes:
    """Return the stored bytes of a turn.

    Raises:
        InteractionTooLarge: A part is over its limit, or `state` is not JSON.
    """
    if len(interaction.product_ids) > MAX_PRODUCT_IDS:
        raise InteractionTooLarge(
            f"a turn has {len(interaction.product_ids)} product ids, at most {MAX_PRODUCT_IDS} are kept"
        )
    if len(interaction.categories) > MAX_CATEGORIES:
        raise InteractionTooLarge(
            f"a turn has {len(interaction.categories)} categories, at most {MAX_CATEGORIES} are kept"
        )
    try:
        body = orjson.dumps(
            {
                "query": interaction.query,
                "summary": interaction.summary,
                "product_ids": interaction.product_ids,
                "categories": interaction.categories,
                "state": dict(interaction.state),
            }
        )
    except TypeError as error:
        raise InteractionTooLarge(f"a turn cannot be written as JSON: {error}") from error
    if len(body) > MAX_BYTES:
        raise InteractionTooLarge(f"a turn has {len(body)} bytes, at most {MAX_BYTES} are kept")
    return body


def decode_interaction(body: bytes, *, number: int, created_at: float) -> Interaction:
    """Return the turn of stored bytes.

    Raises:
        StorageDamaged: The bytes are not what `encode_interaction` writes.
    """
    try:
        value = orjson.loads(body)
        return Interaction(
            query=value["query"],
            summary=value["summary"],
            product_ids=tuple(value["product_ids"]),
            categories=tuple(value["categories"]),
            state=value["state"],
            created_at=created_at,
            number=number,
        )
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise StorageDamaged(f"turn {number} of a conversation cannot be read: {error}") from error
