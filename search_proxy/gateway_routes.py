"""The product routes of the edge: `search` and `get-documents`, and whether the process is well."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from starlette.responses import Response

from search_proxy.accounts.settings_schema import IndexSettings
from search_proxy.browse_payload import body_in_url
from search_proxy.edge_services import EdgeServices
from search_proxy.errors import SearchError, SearchTimeout
from search_proxy.gateway_errors import json_response, refusal_of
from search_proxy.models import FoundDocument, SearchRequest, SearchResult
from search_proxy.search_payload import (
    GetDocumentsPayload,
    Payload,
    SearchPayload,
    read_document_ids,
    read_search,
)
from search_proxy.search_report import SearchReport

_LONG_BODY_BYTES = 32_768
"""A filter of thousands of terms takes longer to read than the event loop should pause."""

_T = TypeVar("_T")


def product_routes() -> APIRouter:
    """Return `POST|GET search` and `POST get-documents`."""
    router = APIRouter(prefix="/api/v1/indexes/{index}", tags=["search"])
    router.add_api_route(
        "/search",
        _search,
        methods=["POST"],
        summary="Search an index",
        openapi_extra=body_schema(SearchPayload),
    )
    router.add_api_route("/search", _search, methods=["GET"], summary="Search or browse an index")
    router.add_api_route(
        "/get-documents",
        _get_documents,
        methods=["POST"],
        summary="Get documents by id",
        openapi_extra=body_schema(GetDocumentsPayload),
    )
    return router


def health_routes() -> APIRouter:
    """Return `/livez`, `/readyz` and the published settings schema."""
    router = APIRouter(tags=["health"])
    router.add_api_route("/livez", _livez, methods=["GET"], summary="Whether the process runs")
    router.add_api_route("/readyz", _readyz, methods=["GET"], summary="Whether it can serve")
    router.add_api_route(
        "/api/v1/admin/settings-schema",
        _settings_schema,
        methods=["GET"],
        summary="JSON Schema of the settings",
    )
    return router


async def _search(index: str, request: Request) -> Response:
    body = await request.body() if request.method == "POST" else body_in_url(request.query_params)
    if len(body) > _LONG_BODY_BYTES:
        return await answer_search(request, await asyncio.to_thread(read_search, index, body))
    return await answer_search(request, read_search(index, body))


async def answer_search(request: Request, wanted: SearchRequest) -> Response:
    """Return the answer to a search that was read from a request."""
    edge: EdgeServices = request.state.edge
    began = time.perf_counter()
    result: SearchResult | None = None
    try:
        result = await within_search_time(edge, edge.search.handle_search(request.state.caller, wanted))
        timing = f"search;dur={result.processing_time_ms:.2f}"
        body = _search_body(result, with_facets=wanted.facets is not None)
        return json_response(body, headers={"server-timing": timing})
    finally:
        edge.on_search(_report(request, wanted, result, time.perf_counter() - began))


def _report(
    request: Request, wanted: SearchRequest, result: SearchResult | None, seconds: float
) -> SearchReport:
    failure = sys.exception()
    error = refusal_of(failure).code if isinstance(failure, SearchError) else "internal"
    canceled = isinstance(failure, asyncio.CancelledError)
    return SearchReport(
        caller=request.state.caller,
        index=wanted.index,
        query=wanted.q,
        may_log_query=request.state.settings.settings.agentic_config.log_queries,
        outcome="ok" if failure is None else "canceled" if canceled else "error",
        seconds=seconds,
        total_hits=None if result is None else result.total_hits,
        withheld=0 if result is None else result.withheld,
        error=None if failure is None or canceled else error,
    )


async def within_search_time(edge: EdgeServices, asked: Awaitable[_T]) -> _T:
    """Return what the product side answers within the time that a search has.

    Raises:
        SearchTimeout: It did not answer in time.
    """
    try:
        async with asyncio.timeout(edge.search_timeout_seconds):
            return await asked
    except TimeoutError as error:
        raise SearchTimeout(f"no answer within {edge.search_timeout_seconds:g} s") from error


async def _get_documents(index: str, request: Request) -> Response:
    edge: EdgeServices = request.state.edge
    ids = read_document_ids(await request.body())
    usable = [document_id for document_id in ids if document_id]
    found = await within_search_time(edge, edge.search.get_documents(request.state.caller, index, usable))
    by_id = {entry.id: entry for entry in found}
    return json_response({"results": [_document_item(document_id, by_id) for document_id in ids]})


async def _livez() -> Response:
    return json_response({"status": "alive"})


async def _readyz(request: Request) -> Response:
    edge: EdgeServices = request.state.edge
    facts = dict(edge.readiness())
    ready = facts.pop("ready", True) is not False
    settings: dict[str, Any] = {"changes": edge.accounts.changes}
    if edge.office is not None:
        settings["ageSeconds"] = round(edge.office.sync.age_seconds, 1)
    body = {"status": "ready" if ready else "not ready", "settings": settings, **facts}
    return json_response(body, 200 if ready else 503)


async def _settings_schema() -> Response:
    return json_response(IndexSettings.model_json_schema())


def _search_body(result: SearchResult, *, with_facets: bool) -> dict[str, Any]:
    body: dict[str, Any] = {
        "hits": result.hits,
        "query": result.query,
        "limit": result.limit,
        "offset": result.offset,
        "totalHits": result.total_hits,
        "processingTimeMs": round(result.processing_time_ms, 3),
    }
    if result.universe_size is not None:
        body["universeSize"] = result.universe_size
    if with_facets:
        body["facets"] = result.facets
    if result.below_floor is not None:
        body["belowFloor"] = result.below_floor
    if result.withheld:
        body["withheld"] = result.withheld
    return body


def _document_item(document_id: str, found: dict[str, FoundDocument]) -> dict[str, Any]:
    if not document_id:
        return {"_id": "", "_found": False, "status": 400, "message": "an id is empty"}
    entry = found.get(document_id)
    if entry is None or entry.document is None:
        return {"_id": document_id, "_found": False, "status": 404, "message": "document does not exist"}
    return {**entry.document, "_id": document_id, "_found": True}


def body_schema(model: type[Payload]) -> dict[str, Any]:
    """Return what OpenAPI says of a route that takes the model as its body."""
    schema = model.model_json_schema(by_alias=True)
    return {"requestBody": {"content": {"application/json": {"schema": schema}}, "required": False}}
