"""The admin API over approved answers; the door has asked for a secret key already."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Request
from starlette.responses import Response

from search_proxy.caller import Caller
from worker.approved_answers import pin_answer, read_answer, remove_answer, show_answer
from worker.errors import InvalidRequest, WorkerError
from worker.replies import json_response, worker_error_response
from worker.services import Services


def answer_routes(services_of: Callable[[], Services]) -> APIRouter:
    """Return `GET | PUT | DELETE /api/v1/admin/answers/{index}?q=`."""
    router = APIRouter(prefix="/api/v1/admin/answers", tags=["admin"])

    @router.get("/{index}", summary="Show the stored answer of a question")
    async def show(index: str, request: Request) -> Response:
        async def act() -> Response:
            cache = services_of().cache
            return json_response(await show_answer(cache, _account(request), index, _question(request)))

        return await _answered(request, act)

    @router.put("/{index}", summary="Approve an answer until it is removed")
    async def pin(index: str, request: Request) -> Response:
        async def act() -> Response:
            answer = read_answer(await request.body())
            cache = services_of().cache
            await pin_answer(cache, _account(request), index, _question(request), answer)
            return json_response(await show_answer(cache, _account(request), index, _question(request)))

        return await _answered(request, act)

    @router.delete("/{index}", summary="Remove the stored answer of a question")
    async def remove(index: str, request: Request) -> Response:
        async def act() -> Response:
            await remove_answer(services_of().cache, _account(request), index, _question(request))
            return Response(status_code=204)

        return await _answered(request, act)

    return router


async def _answered(request: Request, act: Callable[[], Awaitable[Response]]) -> Response:
    try:
        return await act()
    except WorkerError as error:
        return await worker_error_response(request, error)


def _account(request: Request) -> str:
    caller: Caller = request.state.caller
    return caller.account_id


def _question(request: Request) -> str:
    query = request.query_params.get("q", "").strip()
    if not query:
        raise InvalidRequest("q must not be empty")
    return query
