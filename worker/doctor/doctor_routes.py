"""`GET /api/v1/diagnosis`: what the server finds of itself, for the account's secret key."""

from __future__ import annotations

import time
from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.responses import Response

from search_proxy.accounts.grant import Grant
from search_proxy.caller import Caller
from search_proxy.gateway_errors import Refusal
from worker.doctor.all_looks import diagnosis
from worker.doctor.examination import Examined
from worker.doctor.recent_requests import RecentRequests
from worker.replies import json_response
from worker.services import Services
from worker.tool_parts import product_version

_PARAMETERS = ("index", "q", "session", "conversation", "model")
_LONGEST = 1000


def doctor_routes(services_of: Callable[[], Services], recent_of: Callable[[], RecentRequests]) -> APIRouter:
    """Return the route; the door has asked for a secret key."""
    router = APIRouter(tags=["operations"])

    @router.get("/api/v1/diagnosis", summary="Examine the server for this account")
    async def diagnose(request: Request) -> Response:
        caller: Caller = request.state.caller
        grant: Grant = request.state.grant
        asked = _asked(request)
        index = asked.get("index")
        if index is not None and caller.indexes is not None and index not in caller.indexes:
            raise Refusal(403, f"this key is for {', '.join(sorted(caller.indexes))}, not for {index!r}")
        findings = await diagnosis(
            Examined(
                services=services_of(),
                caller=caller,
                recent=recent_of(),
                index=index,
                query=asked.get("q"),
                session=asked.get("session"),
                conversation=asked.get("conversation"),
                asks_model=asked.get("model") == "true",
                is_operator=grant.operator or caller.key_kind == "open",
            )
        )
        return json_response(
            {
                "account": caller.account_id,
                "version": product_version(),
                "time": time.time(),
                "findings": [finding.to_json() for finding in findings],
            }
        )

    return router


def _asked(request: Request) -> dict[str, str]:
    asked: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in _PARAMETERS or name in asked:
            raise Refusal(400, f"{name!r} is unknown or stands twice; there are {', '.join(_PARAMETERS)}")
        if not 0 < len(value) <= _LONGEST:
            raise Refusal(400, f"{name} must have 1 to {_LONGEST} characters")
        asked[name] = value
    if asked.get("model", "true") not in {"true", "false"}:
        raise Refusal(400, f"model {asked['model']!r} is neither true nor false")
    if "q" in asked and "index" not in asked:
        raise Refusal(400, "q needs the index that it would be asked in")
    return asked
