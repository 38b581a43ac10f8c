"""Stands before a reranker: a deadline, a breaker, and the orders that it gave before.

A shopper who comes back to a list, or pages around it, is not a reason to pay for its order again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable

from search_proxy.reranking.reranker import Reranker, RerankFailed, RerankRequest, complete_order
from worker.llm.breaker import CircuitBreaker

REMEMBERED_ORDERS = 512
"""Of 50 ids each that is about 2 MB."""


class GuardedReranker:
    """A reranker with the time that it has when an account does not say."""

    def __init__(
        self,
        reranker: Reranker,
        *,
        breaker: CircuitBreaker,
        timeout_seconds: float,
        remembers: int = REMEMBERED_ORDERS,
    ) -> None:
        self.breaker = breaker
        self.timeout_seconds = timeout_seconds
        self._reranker = reranker
        self._remembers = remembers
        self._orders: OrderedDict[bytes, tuple[str, ...]] = OrderedDict()

    async def order(self, request: RerankRequest, until: float) -> tuple[str, ...]:
        """Return every candidate's id once, best first; `until` is a time of the loop's clock.

        Raises:
            RerankFailed: The reranker failed, was not in time, or has been failing.
        """
        key = _key(request)
        known = self._orders.get(key)
        if known is not None:
            self._orders.move_to_end(key)
            return known
        order = await self._asked(request, until)
        self._orders[key] = order
        if len(self._orders) > self._remembers:
            self._orders.popitem(last=False)
        return order

    async def _asked(self, request: RerankRequest, until: float) -> tuple[str, ...]:
        if not self.breaker.allow():
            raise RerankFailed("breaker_open", "the reranker has been failing and is left alone for a while")
        tell: Callable[[], None] = self.breaker.released
        try:
            async with asyncio.timeout_at(until):
                said = await self._reranker.rerank(request)
            tell = self.breaker.succeeded
        except TimeoutError as error:
            tell = lambda: self.breaker.failed("timeout")  # noqa: E731
            raise RerankFailed("timeout", "the better order did not come in time") from error
        except RerankFailed as error:
            kind = error.kind
            tell = lambda: self.breaker.failed(kind)  # noqa: E731
            raise
        finally:
            tell()
        return complete_order([each.id for each in request.candidates], said)


def _key(request: RerankRequest) -> bytes:
    """Return what stands for everything that the order depends on, and for whose it is."""
    texts = (part for each in request.candidates for part in (each.id, each.title, each.text))
    parts = (request.account_id, request.model or "", request.query, *texts)
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).digest()
