"""The outermost application: the edge in front of everything that one process serves.

`create_gateway` opens the edge's services for its lifetime, puts the door in front of every route, and hands
agentic requests to the worker through its binding.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from search_proxy.accounts.errors import AccountError
from search_proxy.accounts.settings_schema import SettingsRefused
from search_proxy.edge_services import EdgeServices
from search_proxy.errors import SearchError
from search_proxy.filters import FilterSyntaxError
from search_proxy.gateway_admin import admin_routes
from search_proxy.gateway_admin_prompts import prompt_routes
from search_proxy.gateway_browse_routes import browse_routes
from search_proxy.gateway_document_routes import document_routes
from search_proxy.gateway_door import FAILED, Door, ExtraPolicy
from search_proxy.gateway_errors import Refusal, account_refusal, error_body, json_response, refusal_of
from search_proxy.gateway_openapi import document_forwarded_routes
from search_proxy.gateway_routes import health_routes, product_routes
from search_proxy.gateway_schema_routes import schema_routes

logger = logging.getLogger(__name__)


def create_gateway(
    open_edge: Callable[[], AbstractAsyncContextManager[EdgeServices]],
    *,
    extra_routers: Sequence[APIRouter] = (),
    extra_policies: Sequence[ExtraPolicy] = (),
) -> FastAPI:
    """Return the application.

    `extra_routers` come before the gateway's own health routes and win over them. A path under `/api/` needs
    a secret key unless `gateway_policy` says otherwise; `extra_policies` bring paths outside `/api/` under
    the same rules. A route finds `edge`, `caller`, `settings` and `request_id` in its `request.state`.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, Any]]:
        async with open_edge() as edge:
            yield {"edge": edge}

    app = _Gateway(
        title="aisle",
        summary="Agentic commerce search",
        lifespan=lifespan,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        strict_content_type=False,
        telemetry={"operation_spans": False},
    )
    app.door = Door(app.enter, policies=tuple(extra_policies))
    for routes in (product_routes, browse_routes, document_routes, schema_routes):
        app.include_router(routes())
    app.include_router(admin_routes())
    app.include_router(prompt_routes())
    for router in extra_routers:
        app.include_router(router)
    app.include_router(health_routes())
    document_forwarded_routes(app)
    app.add_exception_handler(Refusal, _answer_refusal)
    app.add_exception_handler(SearchError, _answer_search_error)
    app.add_exception_handler(AccountError, _answer_account_error)
    app.add_exception_handler(SettingsRefused, _answer_account_error)
    app.add_exception_handler(FilterSyntaxError, _answer_filter_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(Exception, _answer_failure)
    return app


class _Gateway(FastAPI):
    """The routes behind the door: what it refuses or hands on never enters the framework's layers."""

    door: Door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self.door(scope, receive, send)
        else:
            await self.enter(scope, receive, send)

    async def enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by a route what the door lets in."""
        await super().__call__(scope, receive, send)


async def _answer_refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return error.response()


async def _answer_search_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, SearchError)
    refusal = refusal_of(error)
    if refusal.status >= 500:
        logger.warning(
            "search_failed",
            extra={"request_id": request.state.request_id, "error": str(error), "status": refusal.status},
        )
    return refusal.response()


async def _answer_account_error(_: Request, error: Exception) -> Response:
    return account_refusal(error).response()


async def _answer_filter_error(_: Request, error: Exception) -> Response:
    return Refusal(400, f"filter: {error}").response()


async def _answer_invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    return json_response({**error_body(422, f"{name}: {first['msg']}"), "detail": []}, 422)


async def _answer_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    body = error_body(error.status_code, _http_message(error))
    return json_response(body, error.status_code, error.headers)


async def _answer_failure(_: Request, __: Exception) -> Response:
    # The framework raises the error again behind this answer, and the door logs it.
    return Refusal(500, FAILED).response()


def _http_message(error: HTTPException) -> str:
    return "there is nothing at this path" if error.status_code == 404 else str(error.detail)
