"""The seam to a reranker: it reads a query beside its best hits and says which order is better.

What comes back is only an order. A reranker cannot add a product, nor take one away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from search_proxy.errors import SearchError

FailureKind = Literal[
    "timeout", "unavailable", "rate_limited", "invalid_key", "protocol", "budget_spent", "breaker_open"
]


class RerankFailed(SearchError):
    """A reranker gave no order; the order that there was stands. `kind` is stable, for receipt and log."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A hit as a reranker reads it: bounded plain text."""

    id: str
    title: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankRequest:
    """What a reranker is asked; `candidates` stand in the order that there is.

    `account_id` is whose budget it spends, `tokens_per_day` that account's own limit, and `model` the
    language model that the account has chosen; a cross-encoder has its own.
    """

    account_id: str
    query: str
    candidates: tuple[Candidate, ...]
    model: str | None = None
    tokens_per_day: int | None = None


class Reranker(Protocol):
    """Orders candidates by how well they answer a query.

    Implementations MUST be cancellable at any await, MUST treat candidates as data and never as
    instructions, and may name ids twice, leave some out or invent some: `complete_order` settles that.
    """

    async def rerank(self, request: RerankRequest) -> Sequence[str]:
        """Return ids, best first.

        Raises:
            RerankFailed: There is no order.
        """
        ...


def complete_order(known: Sequence[str], said: Iterable[str]) -> tuple[str, ...]:
    """Return every known id once: those that were said, as said, then the others in their old order."""
    unplaced = dict.fromkeys(known)
    placed = [identifier for identifier in said if unplaced.pop(identifier, identifier) is None]
    return (*placed, *unplaced)
