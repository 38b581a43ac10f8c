"""Makes and sends spans and metrics with the OpenTelemetry SDK, which is an extra and is loaded only here.

Source: OpenTelemetry protocol over HTTP; semantic conventions for generative AI, metrics.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Sequence
from typing import Any

from worker.observe.completion import Completion
from worker.observe.span_tree import PROVIDER, SpanFacts, SpanTree, model_failure, span_tree

SEND_SECONDS = 5.0
_LAST_METRICS_MS = 1500
_TO_NS = 1_000_000_000


class OtlpSdk:
    """A tracer, its exporter and two histograms over the SDK, of whose types this file alone knows."""

    def __init__(self, endpoint: str, headers: dict[str, str], service: str, version: str) -> None:
        for noisy in ("opentelemetry", "urllib3"):
            # The exporter logs every failure with a traceback; ours says when it begins and ends.
            logging.getLogger(noisy).setLevel(logging.CRITICAL)
        sdk, trace = _module("opentelemetry.sdk.trace"), _module("opentelemetry.trace")
        http = "opentelemetry.exporter.otlp.proto.http"
        resource = _module("opentelemetry.sdk.resources").Resource.create(
            {"service.name": service, "service.version": version}
        )
        self._trace = trace
        self._ended: list[Any] = []
        provider = sdk.TracerProvider(resource=resource, shutdown_on_exit=False)
        provider.add_span_processor(_collecting(sdk, self._ended))
        self._tracer = provider.get_tracer("aisle", version)
        self._kinds = {
            "server": trace.SpanKind.SERVER,
            "client": trace.SpanKind.CLIENT,
            "internal": trace.SpanKind.INTERNAL,
        }
        self._spans = _module(f"{http}.trace_exporter").OTLPSpanExporter(
            endpoint=f"{endpoint}/v1/traces", headers=headers, timeout=SEND_SECONDS
        )
        metrics = _module("opentelemetry.sdk.metrics")
        exporter = _module(f"{http}.metric_exporter").OTLPMetricExporter(
            endpoint=f"{endpoint}/v1/metrics", headers=headers, timeout=SEND_SECONDS
        )
        reader = _module("opentelemetry.sdk.metrics.export").PeriodicExportingMetricReader(
            exporter, export_interval_millis=15_000, export_timeout_millis=int(SEND_SECONDS * 1000)
        )
        self._meters = metrics.MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        meter = self._meters.get_meter("aisle", version)
        self._durations = meter.create_histogram("gen_ai.client.operation.duration", unit="s")
        self._tokens = meter.create_histogram("gen_ai.client.token.usage", unit="{token}")

    def send(self, completions: Sequence[Completion]) -> bool:
        """Make and send the spans of some completions; return whether they were taken."""
        for completion in completions:
            self._make(span_tree(completion))
            self._measure(completion)
        spans, self._ended[:] = list(self._ended), []
        return bool(self._spans.export(spans).name == "SUCCESS")

    def close(self) -> None:
        """Send the last metrics and let go."""
        self._meters.shutdown(timeout_millis=_LAST_METRICS_MS)
        self._spans.shutdown()

    def _make(self, tree: SpanTree) -> None:
        context = None
        if tree.parent is not None:
            trace_id, span_id = tree.parent
            asking = self._trace.SpanContext(trace_id, span_id, True, self._trace.TraceFlags(1))
            context = self._trace.set_span_in_context(self._trace.NonRecordingSpan(asking))
        root = self._start(tree.root, context)
        inside = self._trace.set_span_in_context(root)
        for facts in tree.stages:
            self._start(facts, inside).end(int(facts.end * _TO_NS))
        root.end(int(tree.root.end * _TO_NS))

    def _start(self, facts: SpanFacts, context: Any) -> Any:
        span = self._tracer.start_span(
            facts.name,
            context=context,
            kind=self._kinds[facts.kind],
            attributes=dict(facts.attributes),
            start_time=int(facts.start * _TO_NS),
        )
        if facts.error is not None:
            span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, facts.error))
        return span

    def _measure(self, completion: Completion) -> None:
        named = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": PROVIDER}
        if completion.model is not None:
            named["gen_ai.request.model"] = completion.model
        for stage in ("LLM_FIRST_CALL", "LLM_SECOND_CALL"):
            if stage in completion.timings:
                failure = model_failure(completion) if stage == "LLM_FIRST_CALL" else None
                more = {} if failure is None else {"error.type": failure}
                self._durations.record(completion.timings[stage] / 1000, {**named, **more})
        for kind in ("input", "output"):
            if completion.model is not None and (count := (completion.tokens or {}).get(kind)):
                self._tokens.record(count, {**named, "gen_ai.token.type": kind})


def _collecting(sdk: Any, ended: list[Any]) -> Any:
    """Return a span processor that keeps what has ended for the next sending."""

    def on_end(_: Any, span: Any) -> None:
        ended.append(span)

    processor: Any = type("Collecting", (sdk.SpanProcessor,), {"on_end": on_end})()
    return processor


def _module(name: str) -> Any:
    return importlib.import_module(name)
