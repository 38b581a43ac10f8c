"""`GET /api/v1/ops/summary`: the numbers behind the operations page, for a secret key."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.responses import Response

from search_proxy.accounts.grant import Grant
from search_proxy.caller import Caller
from search_proxy.gateway_errors import Refusal
from worker.operations.operations import Operations, checked_minutes
from worker.replies import json_response

_PARAMETERS = frozenset({"minutes", "account"})


def operations_routes(operations_of: Callable[[], Operations]) -> APIRouter:
    """Return the route; an operator's key may name any account, others see their own."""
    router = APIRouter(tags=["operations"])

    @router.get("/api/v1/ops/summary", summary="Show the last hours and days of an account")
    async def summary(request: Request) -> Response:
        caller: Caller = request.state.caller
        grant: Grant = request.state.grant
        unknown = sorted(set(request.query_params) - _PARAMETERS)
        if unknown:
            raise Refusal(400, f"{unknown[0]!r} is unknown; there are account and minutes")
        if caller.indexes is not None:
            raise Refusal(403, "this key is for some indexes; the operations of an account need one for all")
        account = request.query_params.get("account", caller.account_id)
        if account != caller.account_id and not grant.operator:
            raise Refusal(403, f"this key is of account {caller.account_id!r}, not of {account[:64]!r}")
        try:
            minutes = checked_minutes(request.query_params.get("minutes", "60"))
        except ValueError as error:
            raise Refusal(400, str(error)) from error
        return json_response(
            await operations_of().summary(account, minutes), headers={"cache-control": "no-store"}
        )

    return router
