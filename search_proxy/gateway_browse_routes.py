"""Routes that storefronts use beside search: a collection's products, and completions while typing."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import Response

from search_proxy.browse_payload import (
    CollectionPayload,
    QueriesPayload,
    body_in_url,
    read_collection,
    read_queries,
)
from search_proxy.edge_services import EdgeServices
from search_proxy.filters import TermFilter, merge_filters
from search_proxy.gateway_errors import json_response
from search_proxy.gateway_routes import answer_search, body_schema, within_search_time
from search_proxy.suggestions import suggest_queries

COLLECTION_FIELDS = ("productCollections", "collections")
"""Where a product may name its collections, as its feed has it."""


def browse_routes() -> APIRouter:
    """Return `POST|GET collections` and `POST recommendations/queries`."""
    router = APIRouter(prefix="/api/v1/indexes/{index}", tags=["search"])
    listed = {"summary": "List a collection", "openapi_extra": body_schema(CollectionPayload)}
    router.add_api_route("/collections", _post_collection, methods=["POST"], **listed)  # type: ignore[arg-type]
    router.add_api_route("/collections", _get_collection, methods=["GET"], summary="List a collection")
    router.add_api_route(
        "/recommendations/queries",
        _queries,
        methods=["POST"],
        summary="Complete what is being typed",
        openapi_extra=body_schema(QueriesPayload),
    )
    return router


async def _post_collection(index: str, request: Request) -> Response:
    return await _collection(index, request, await request.body())


async def _get_collection(index: str, request: Request) -> Response:
    return await _collection(index, request, body_in_url(request.query_params))


async def _collection(index: str, request: Request, body: bytes) -> Response:
    edge: EdgeServices = request.state.edge
    name, wanted = read_collection(index, body)
    described = await within_search_time(edge, edge.search.describe_index(request.state.caller, index))
    field = next((one for one in COLLECTION_FIELDS if described.field(one)), COLLECTION_FIELDS[0])
    # The collection comes first: of equal terms, it is the shopper's own that facets may lift.
    listed = replace(wanted, q=None, filter=merge_filters(TermFilter(field, name), wanted.filter))
    return await answer_search(request, listed)


async def _queries(index: str, request: Request) -> Response:
    edge: EdgeServices = request.state.edge
    typed, limit = read_queries(await request.body())
    caller = request.state.caller
    found = await within_search_time(
        edge, suggest_queries(edge.backend, edge.search, caller, index, typed, limit)
    )
    return json_response({"suggestions": [{"suggestion": query} for query in found]})
