"""A process of its own that leads or joins a flight: `python -m tests.support.flight_process MODE ...`."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

from cache.errors import FlightAbandoned
from cache.keys import QueryKey
from cache.query_cache import QueryCache
from tests.support.cache_process import cache_process

KEY = QueryKey.of("acme", "shoes", "red running shoes")
EVENTS = [b"event %d" % number for number in range(10)]
CALLERS = 500


_REPO = Path(__file__).resolve().parents[2]


async def flight_process(mode: str, folder: Path, environment: str, redis_url: str) -> Process:
    """Start this module as a process; it writes one line when it is under way."""
    command = [sys.executable, "-m", __name__, mode, str(folder), environment, redis_url]
    return await asyncio.create_subprocess_exec(*command, cwd=_REPO, stdin=PIPE, stdout=PIPE)


async def hold(cache: QueryCache) -> None:
    """Lead, say so, and never finish."""
    async with cache.single_flight(KEY):
        sys.stdout.write("leading\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


async def ask(cache: QueryCache) -> None:
    """Ask one question five hundred times at once, as soon as a line comes in; report what came of it."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    report = {"computed": 0, "answered": 0}
    async with asyncio.TaskGroup() as group:
        for number in range(CALLERS):
            group.create_task(_ask_once(cache, report), name=f"caller:{number}")
    sys.stdout.write(json.dumps(report))


async def _ask_once(cache: QueryCache, report: dict[str, int]) -> None:
    for _ in range(5):
        if (await cache.lookup(KEY)).is_hit:
            report["answered"] += 1
            return
        async with cache.single_flight(KEY) as seat:
            if seat.found is not None:
                report["answered"] += 1
                return
            if seat.leads:
                await _compute(cache, report, seat.publish)
                await seat.finish()
                report["answered"] += 1
                return
            try:
                async with aclosing(seat.events()) as events:
                    heard = [event async for event in events]
            except FlightAbandoned:
                continue
            report["answered"] += heard == EVENTS
            return


async def _compute(cache: QueryCache, report: dict[str, int], publish: Callable[[bytes], None]) -> None:
    report["computed"] += 1
    for event in EVENTS:
        await asyncio.sleep(0.02)
        publish(event)
    await cache.store(KEY, b"plan")


async def _main() -> None:
    mode, folder, environment, redis_url = sys.argv[1:]
    async with cache_process(
        Path(folder), environment=environment, redis_url=redis_url, edge="redis", flight_lease_seconds=1.5
    ) as cache:
        await {"hold": hold, "ask": ask}[mode](cache)


if __name__ == "__main__":
    asyncio.run(_main())
