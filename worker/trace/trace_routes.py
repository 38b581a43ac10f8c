"""`GET /api/v1/runs/{run_id}/trace`: a kept trace, for the account's secret key."""

from __future__ import annotations

import logging
from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.responses import Response

from search_proxy.caller import Caller
from search_proxy.gateway_errors import Refusal
from worker.replies import json_response
from worker.services import Services
from worker.trace.trace_files import TraceUnreadable

logger = logging.getLogger(__name__)


def trace_routes(services_of: Callable[[], Services]) -> APIRouter:
    """Return the route; the door has asked for a secret key."""
    router = APIRouter(tags=["operations"])

    @router.get("/api/v1/runs/{run_id}/trace", summary="Show what one run did")
    async def trace(run_id: str, request: Request) -> Response:
        caller: Caller = request.state.caller
        try:
            found = await services_of().traces.read(caller.account_id, run_id)
        except (OSError, TraceUnreadable) as error:
            logger.warning("trace_unreadable", extra={"run_id": run_id, "error": str(error)})
            raise Refusal(502, "the trace cannot be read just now") from error
        if found is None or (caller.indexes is not None and found["index"] not in caller.indexes):
            raise Refusal(
                404,
                f"there is no trace of run {run_id[:64]!r}; runs are traced where the account has set"
                " agentic_config.keep_traces, and traces are kept for a time",
            )
        return json_response(found)

    return router
