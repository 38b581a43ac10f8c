"""Traces and metrics reach a collector over real HTTP, and a collector that is down harms nobody."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.support.live_server import live_server
from tests.support.scripted_gemini import ScriptedGemini
from tests.support.scripted_gemini.scenarios import json_text
from tests.support.shop import AGENTIC, open_shop
from tests.worker.observe.test_metrics import values

pytestmark = pytest.mark.anyio

WINTER = "something warm for a winter camping trip"
PLAN = {"query_expansions": [["tent", "Tents", 0.9], ["stove", "Stoves", 0.8]], "summary": "Two."}


@dataclass
class Collector:
    """A collector's receiving end: every span and metric, as the protocol's own messages."""

    url: str = ""
    headers: list[dict[str, str]] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    services: set[str] = field(default_factory=set)
    metrics: set[str] = field(default_factory=set)

    async def traces(self, request: Request) -> Response:
        """Take spans."""
        self.headers.append(dict(request.headers))
        message = ExportTraceServiceRequest.FromString(await request.body())
        for resource in message.resource_spans:
            named = {each.key: each.value.string_value for each in resource.resource.attributes}
            self.services.add(named["service.name"])
            for scope in resource.scope_spans:
                self.spans += scope.spans
        return Response(b"", media_type="application/x-protobuf")

    async def take_metrics(self, request: Request) -> Response:
        """Take metrics."""
        message = ExportMetricsServiceRequest.FromString(await request.body())
        for resource in message.resource_metrics:
            self.metrics |= {metric.name for scope in resource.scope_metrics for metric in scope.metrics}
        return Response(b"", media_type="application/x-protobuf")


@asynccontextmanager
async def collector() -> AsyncIterator[Collector]:
    """Serve a collector."""
    made = Collector()
    routes = [
        Route("/v1/traces", made.traces, methods=["POST"]),
        Route("/v1/metrics", made.take_metrics, methods=["POST"]),
    ]
    async with live_server(Starlette(routes=routes)) as url:
        made.url = url
        yield made


def attributes(span: Span) -> dict[str, str | int]:
    """Return a span's texts and numbers."""
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


async def test_a_request_is_a_workflow_with_its_model_call_and_retrievals(tmp_path: Path) -> None:
    """Names of the conventions, one tree, who asked as its parent. Source: semantic-conventions-genai."""
    trace, asking = "ab" * 16, "cd" * 8
    async with asyncio.timeout(40), collector() as seen, ScriptedGemini(json_text(PLAN)) as gemini:
        settings = {
            "gemini_base_url": gemini.base_url,
            "gemini_api_key": "k" * 30,
            "otlp_endpoint": seen.url,
            "otlp_headers": "x-team=search, x-token=abc",
        }
        async with open_shop(tmp_path, None, **settings) as shop:
            answer = await shop.client.get(
                AGENTIC, params={"q": WINTER}, headers={"traceparent": f"00-{trace}-{asking}-01"}
            )
            assert answer.headers["x-request-id"] == f"{trace}-{asking}"
    assert seen.services == {"aisle"}
    assert {"x-team": "search", "x-token": "abc"}.items() <= seen.headers[0].items()
    by_name = {span.name: span for span in seen.spans}
    root = by_name["invoke_workflow agentic_search"]
    assert (root.trace_id.hex(), root.parent_span_id.hex()) == (trace, asking)
    assert all(span.parent_span_id == root.span_id for span in seen.spans if span is not root)
    assert all(span.start_time_unix_nano <= span.end_time_unix_nano for span in seen.spans)
    told = attributes(root)
    assert (told["gen_ai.operation.name"], told["aisle.source"], told["aisle.outcome"]) == (
        "invoke_workflow",
        "llm",
        "ok",
    )
    assert told["gen_ai.usage.input_tokens"]
    chat = next(span for span in seen.spans if span.name.startswith("chat "))
    assert attributes(chat)["gen_ai.provider.name"] == "gcp.gemini"
    assert attributes(by_name["retrieval demo"])["gen_ai.operation.name"] == "retrieval"
    assert not any(WINTER in str(attributes(span)) for span in seen.spans)
    assert {"gen_ai.client.operation.duration", "gen_ai.client.token.usage"} <= seen.metrics


async def test_a_collector_that_is_down_costs_spans_and_is_seen_in_the_metrics(tmp_path: Path) -> None:
    """Requests are answered all the same. Source: issue, faults."""
    async with asyncio.timeout(60), open_shop(tmp_path, otlp_endpoint="http://127.0.0.1:9") as shop:
        for _ in range(5):
            frames = await shop.stream("tent")
            assert frames[-1].name == "stream-end"
        for _ in range(400):
            seen = values((await shop.client.get("/metrics")).text)
            if seen["aisle_otlp_failed_total"]:
                break
            await asyncio.sleep(0.05)
    assert seen["aisle_otlp_failed_total"] == 5
    assert seen["aisle_otlp_failing"] == 1


def test_nothing_of_the_sdk_is_loaded_where_no_collector_is_configured() -> None:
    """A server without tracing pays for none of it."""
    script = "import sys, worker.cli; print([n for n in sys.modules if n.startswith('opentelemetry.sdk')])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
