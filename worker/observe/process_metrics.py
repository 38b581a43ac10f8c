"""What the process itself uses: memory, CPU, descriptors, and how late its event loop is."""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from worker.observe.metric_families import Family, Timed, counter, gauge

LOOK_EVERY_SECONDS = 0.25
_LAG_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_STATUS = Path("/proc/self/statm")
_DESCRIPTORS = Path("/proc/self/fd")
_STARTED_AT = "process_start_time_seconds"


class LoopLag:
    """Notes how late a timer of the event loop comes: what every request of this process waits."""

    def __init__(self) -> None:
        self._lags = Timed(
            "aisle_event_loop_lag_seconds", "How late the event loop was.", buckets=_LAG_BUCKETS
        )

    async def watch(self) -> None:
        """Look again and again, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LOOK_EVERY_SECONDS
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            self._lags.observe((), max(0.0, loop.time() - due))

    def family(self) -> Family:
        """Return what was noted."""
        return self._lags.family()


@asynccontextmanager
async def open_loop_lag() -> AsyncIterator[LoopLag]:
    """Watch the event loop while the block lasts."""
    lag = LoopLag()
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(lag.watch(), name="loop-lag")
        yield lag
        watching.cancel()


def process_families(started_at: float) -> list[Family]:
    """Return what this process uses, under the names that every Prometheus client uses."""
    times = os.times()
    families = [
        counter("process_cpu_seconds_total", "CPU time used.", {(): times.user + times.system}),
        gauge("process_resident_memory_bytes", "Memory in use.", {(): float(_resident_bytes())}),
        gauge(_STARTED_AT, "When the youngest worker started.", {(): started_at}, merge="max"),
        gauge("aisle_worker_processes", "Worker processes that answered this scrape.", {(): 1.0}),
    ]
    if _DESCRIPTORS.exists():
        in_use = float(len(os.listdir(_DESCRIPTORS)))
        limit = float(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        families.append(gauge("process_open_fds", "Descriptors in use.", {(): in_use}))
        families.append(gauge("process_max_fds", "Descriptors allowed.", {(): limit}))
    return families


def _resident_bytes() -> int:
    if _STATUS.exists():
        return int(_STATUS.read_text().split()[1]) * resource.getpagesize()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
