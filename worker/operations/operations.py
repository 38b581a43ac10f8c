"""What the operations page of one account shows, from this process and its peers."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import orjson

from worker.doctor.recent_requests import RecentRequests
from worker.observe.completion import Completion
from worker.operations.days import Days, open_days
from worker.operations.minutes import KEPT_MINUTES, Minutes, merged_minutes
from worker.operations.prices import Prices, read_prices
from worker.services import Services
from worker.tail.tail_summary import percentile

_CALL = "operations"
_OBSERVER = "operations"
_SLOWEST = 20
_SECONDS_RECENT = 15 * 60


class Operations:
    """Reads what the page shows; made by `opened_operations`."""

    def __init__(
        self, services: Services, *, minutes: Minutes, days: Days, recent: RecentRequests, prices: Prices
    ) -> None:
        self.recent = recent
        self._minutes, self._days, self._prices = minutes, days, prices
        self._peers, self._runs = services.peers, services.runs

    async def summary(self, account: str, minutes: int) -> dict[str, Any]:
        """Return everything of an account over the last `minutes`, all worker processes together."""
        parts = [self._part(account, minutes)]
        told = await self._peers.ask_all(_CALL, {"account": account, "minutes": minutes})
        parts += [orjson.loads(answer) for answer in told.values()]
        slowest = sorted(
            (each for part in parts for each in part["slowest"]), key=lambda each: each["ms"], reverse=True
        )
        return {
            "account": account,
            "time": time.time(),
            "minutes": merged_minutes([part["minutes"] for part in parts]),
            "stages": _stages([part["stages"] for part in parts]),
            "slowest": slowest[:_SLOWEST],
            "openStreams": sum(part["openStreams"] for part in parts),
            "runs": sum(part["runs"] for part in parts),
            "days": self._priced(await self._days.of(account)),
            "prices": {
                "date": self._prices.date,
                "currency": self._prices.currency,
                "note": self._prices.note,
                "models": self._prices.models,
            },
        }

    async def tell(self, argument: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        """Answer a peer with the part of this process."""
        await self._days.write()
        yield orjson.dumps(self._part(str(argument["account"]), int(argument["minutes"])))

    def _part(self, account: str, minutes: int) -> dict[str, Any]:
        now = time.time()
        recent = [each for each in self.recent.of(account) if each.at >= now - _SECONDS_RECENT]
        stages: dict[str, list[float]] = {}
        for each in recent:
            for stage, ms in each.timings.items():
                stages.setdefault(stage, []).append(ms)
        open_streams, runs = self._runs.of(account)
        slowest = sorted(recent, key=lambda each: each.timings.get("E2E", 0.0), reverse=True)[:_SLOWEST]
        return {
            "minutes": self._minutes.of(account, now - minutes * 60),
            "stages": stages,
            "slowest": [_slow(each) for each in slowest],
            "openStreams": open_streams,
            "runs": runs,
        }

    def _priced(self, days: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [day | {"money": self._prices.cost(day["model"], day["tokens"])} for day in days]


@asynccontextmanager
async def opened_operations(services: Services) -> AsyncIterator[Operations]:
    """Count every completion while the block lasts.

    Raises:
        PricesUnreadable: The table of prices that the settings name is none.
    """
    settings, observers = services.settings, services.observers
    prices = read_prices(settings.prices_file)
    minutes, recent = Minutes(), RecentRequests(observers)
    async with open_days(settings.data_dir / "days.sqlite3") as days:

        def observe(completion: Completion) -> None:
            minutes.observe(completion)
            days.observe(completion)

        operations = Operations(services, minutes=minutes, days=days, recent=recent, prices=prices)
        observers.add(_OBSERVER, observe)
        services.peers.answer(_CALL, operations.tell)
        try:
            yield operations
        finally:
            observers.remove(_OBSERVER)


def _slow(completion: Completion) -> dict[str, Any]:
    return {
        "ms": completion.timings.get("E2E", 0.0),
        "at": completion.at,
        "query": completion.query,
        "queryHash": completion.query_hash,
        "source": completion.source,
        "outcome": completion.outcome,
        "index": completion.index,
        "runId": completion.run_id,
        "timings": completion.timings,
        "starts": completion.starts or {},
    }


def _stages(parts: list[dict[str, list[float]]]) -> dict[str, dict[str, float]]:
    together: dict[str, list[float]] = {}
    for part in parts:
        for stage, values in part.items():
            together.setdefault(stage, []).extend(values)
    return {
        stage: {
            "p50": percentile(sorted(values), 0.5),
            "p95": percentile(sorted(values), 0.95),
            "count": len(values),
        }
        for stage, values in together.items()
    }


def checked_minutes(text: str) -> int:
    """Return how many minutes are asked for.

    Raises:
        ValueError: The message says what would be right.
    """
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= KEPT_MINUTES:
        raise ValueError(f"minutes {text[:20]!r} is no number from 1 to {KEPT_MINUTES}")
    return int(text)
