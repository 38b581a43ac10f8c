"""All metrics of one server: of this process and, where there are several, of its peers.

What requests count is counted as they end; everything else is read when somebody asks. Building the text of a
busy server takes about a millisecond of the event loop.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import orjson

from search_proxy.edge_services import EdgeServices
from worker.observe.exposition import exposition
from worker.observe.metric_families import Family, gauge, merged, of_worker
from worker.observe.process_metrics import LoopLag, open_loop_lag, process_families
from worker.observe.request_metrics import RequestMetrics
from worker.observe.state_metrics import ready_family, state_families
from worker.services import Services

Source = Callable[[], Sequence[Family]]
"""Gives families from memory, without waiting."""

_CALL = "metrics"


class Metrics:
    """Reads the metrics of one process; made by `open_metrics`.

    `edge` is set once it is there; other parts add what they count with `add`.
    """

    def __init__(self, services: Services, requests: RequestMetrics, lag: LoopLag, version: str) -> None:
        self.edge: EdgeServices | None = None
        self._services = services
        self._requests = requests
        self._lag = lag
        self._version = version
        self._started_at = time.time()
        self._sources: list[Source] = []

    def add(self, source: Source) -> None:
        """Read one more source from now on; its families need names of their own."""
        self._sources.append(source)

    def families(self) -> list[Family]:
        """Return what this process has to tell."""
        edge = self.edge
        found = [
            gauge("aisle_info", "The version that runs.", {(self._version,): 1.0}, ("version",), merge="max"),
            *self._requests.families(),
            *process_families(self._started_at),
            self._lag.family(),
        ]
        if edge is not None:
            ready = edge.readiness().get("ready", True) is not False
            found += [*state_families(self._services, edge), ready_family(ready)]
        for source in self._sources:
            found += source()
        return found

    async def text(self) -> bytes:
        """Return the metrics of the whole server as Prometheus reads them."""
        peers = self._services.peers
        if not peers.others:
            return exposition(self.families())
        parts = {peers.place.slot: self.families()}
        for slot, answer in (await peers.ask_all(_CALL)).items():
            parts[slot] = [Family.from_json(family) for family in orjson.loads(answer)]
        return exposition(
            merged([of_worker(family, slot) for family in part] for slot, part in sorted(parts.items()))
        )

    async def tell(self, _: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        """Answer a peer with the metrics of this process."""
        yield orjson.dumps([family.to_json() for family in self.families()])


@asynccontextmanager
async def open_metrics(services: Services, version: str) -> AsyncIterator[Metrics]:
    """Count every completion and watch the event loop while the block lasts."""
    requests = RequestMetrics(by_account=services.settings.metrics_by_account)
    services.observers.add("metrics", requests.observe)
    async with open_loop_lag() as lag:
        metrics = Metrics(services, requests, lag, version)
        services.peers.answer(_CALL, metrics.tell)
        try:
            yield metrics
        finally:
            services.observers.remove("metrics")
