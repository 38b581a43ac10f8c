"""Sends traces and metrics to an OpenTelemetry collector, in a thread of its own, where one is configured.

A request leaves its completion in a bounded queue; the thread makes the spans and sends them. A collector
that is slow or down costs spans, which are counted, and nothing else. The SDK is an extra (`aisle[otel]`) and
is loaded only here, only when there is an endpoint.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from worker.observe.completion import Completion
from worker.observe.metric_families import Family, counter, gauge
from worker.observe.metrics import Metrics
from worker.observe.otlp_sdk import OtlpSdk
from worker.services import Services
from worker.settings import SettingsError

logger = logging.getLogger(__name__)

MAX_WAITING = 2048
_BATCH = 256
_GATHER_SECONDS = 1.0
_LAST_WORDS_SECONDS = 3.0


class OtlpExport:
    """One process's exporter; `observe` is its listener."""

    def __init__(self, endpoint: str, headers: dict[str, str], service: str, version: str) -> None:
        self.dropped = 0
        self.failed = 0
        self.is_failing = False
        self._waiting: queue.Queue[Completion | None] = queue.Queue(MAX_WAITING)
        self._sdk = OtlpSdk(endpoint, headers, service, version)
        self._thread = threading.Thread(target=self._run, name="otlp-export", daemon=True)
        self._thread.start()

    def observe(self, completion: Completion) -> None:
        """Queue one completion; never waits."""
        try:
            self._waiting.put_nowait(completion)
        except queue.Full:
            self.dropped += 1

    def families(self) -> list[Family]:
        """Return how sending goes."""
        return [
            counter(
                "aisle_otlp_dropped_total", "Requests whose spans had no place.", {(): float(self.dropped)}
            ),
            counter(
                "aisle_otlp_failed_total", "Requests whose spans were not taken.", {(): float(self.failed)}
            ),
            gauge(
                "aisle_otlp_failing",
                "Whether the collector fails.",
                {(): float(self.is_failing)},
                merge="max",
            ),
        ]

    def close(self) -> None:
        """Send what waits, within a bound."""
        try:
            self._waiting.put_nowait(None)
        except queue.Full:
            return
        self._thread.join(_LAST_WORDS_SECONDS)

    def _run(self) -> None:
        while True:
            batch = self._next_batch()
            completions = [each for each in batch if each is not None]
            if completions:
                self._send(completions)
            if None in batch:
                self._sdk.close()
                return

    def _next_batch(self) -> list[Completion | None]:
        batch = [self._waiting.get()]
        try:
            while len(batch) < _BATCH and batch[-1] is not None:
                batch.append(self._waiting.get(timeout=_GATHER_SECONDS))
        except queue.Empty:
            pass
        return batch

    def _send(self, completions: Sequence[Completion]) -> None:
        try:
            is_sent = self._sdk.send(completions)
        except Exception:
            # The edge of a foreign library: whatever it raises must not end the thread.
            logger.exception("otlp_export_failed")
            is_sent = False
        if not is_sent:
            self.failed += len(completions)
        if is_sent == self.is_failing:
            self.is_failing = not is_sent
            logger.warning("otlp_export_recovered" if is_sent else "otlp_export_failing")


@asynccontextmanager
async def opened_otlp_export(services: Services, version: str, metrics: Metrics) -> AsyncIterator[None]:
    """Export every completion while the block lasts, where an endpoint is configured.

    Raises:
        SettingsError: There is an endpoint, but the extra is not installed.
    """
    settings = services.settings
    if settings.otlp_endpoint is None:
        yield
        return
    endpoint = settings.otlp_endpoint.rstrip("/")
    try:
        export = OtlpExport(endpoint, settings.otlp_header_map(), settings.otlp_service, version)
    except ModuleNotFoundError as error:
        raise SettingsError(f"AISLE_OTLP_ENDPOINT needs aisle[otel]: {error}") from error
    services.observers.add("otlp", export.observe)
    metrics.add(export.families)
    try:
        yield
    finally:
        services.observers.remove("otlp")
        await asyncio.to_thread(export.close)
