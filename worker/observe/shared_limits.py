"""The limits that say "per key" and "per account": this process's own, or those of all workers together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

from search_proxy.rate_limits import RateLimits, Rates
from search_proxy.shared_rate_limits import SharedRateLimits
from worker.llm.shared_spending import SharedSpending
from worker.llm.token_budget import OwnSpending, Spending
from worker.observe.worker_place import WorkerPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How fast callers may ask, and what accounts have spent today."""

    rates: Rates
    spending: Spending


@contextmanager
def open_limits(place: WorkerPlace) -> Iterator[Limits]:
    """Open the limits of one process; workers share them through files in their folder."""
    if place.folder is None:
        yield Limits(rates=RateLimits(), spending=OwnSpending())
        return
    with ExitStack() as stack:
        rates = SharedRateLimits(place.folder / "rates", slot=place.slot, workers=place.workers)
        spending = SharedSpending(place.folder / "spending")
        stack.enter_context(closing(rates))
        stack.enter_context(closing(spending))
        yield Limits(rates=rates, spending=spending)
