"""`/metrics` and `/version`."""

from __future__ import annotations

import platform
from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.responses import Response

from search_proxy.gateway_errors import Refusal
from worker.observe.completion import SCHEMA_VERSION
from worker.observe.exposition import CONTENT_TYPE
from worker.observe.metrics import Metrics
from worker.observe.operator_access import is_on_this_machine, is_operator
from worker.replies import json_response
from worker.services import Services

_CLOSED = (
    "metrics are for this machine and for an operator's secret key, sent as 'Authorization: Bearer KEY'"
    " (aisle account key create --kind secret --operator); AISLE_METRICS_OPEN=true opens them to all"
)


def observe_routes(
    services: Callable[[], Services], metrics: Callable[[], Metrics], version: str
) -> APIRouter:
    """Return the routes; what they show is asked for when they are."""
    router = APIRouter(tags=["health"])

    async def get_metrics(request: Request) -> Response:
        parts = services()
        is_known = is_on_this_machine(request) or is_operator(request, parts.accounts)
        if not (parts.settings.metrics_open or is_known):
            raise Refusal(401, _CLOSED, headers={"www-authenticate": "Bearer"})
        return Response(
            await metrics().text(), media_type=CONTENT_TYPE, headers={"cache-control": "no-store"}
        )

    async def get_version() -> Response:
        return json_response(
            {
                "name": "aisle",
                "version": version,
                "logSchema": SCHEMA_VERSION,
                "python": platform.python_version(),
            }
        )

    router.add_api_route("/metrics", get_metrics, methods=["GET"], summary="Metrics for Prometheus")
    router.add_api_route("/version", get_version, methods=["GET"], summary="Which version runs")
    return router
