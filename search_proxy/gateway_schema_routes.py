"""Routes over the schema of an index, for the account's secret key: what is in force, and another one."""

from __future__ import annotations

from typing import Any, get_args

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response

from search_proxy.edge_services import EdgeServices
from search_proxy.engine.fusion import FusionMethod
from search_proxy.engine.languages import STEMMERS
from search_proxy.engine.schema import MAX_BOOST, TEXT_ROLES, read_declaration
from search_proxy.engine.searchable_text import BOOSTS
from search_proxy.errors import InvalidSearch
from search_proxy.gateway_document_routes import accept_job
from search_proxy.gateway_errors import Refusal, json_response
from search_proxy.gateway_routes import within_search_time
from search_proxy.index_schema import DeclaringCatalog, schema_in_force

_BODY: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "language": {"enum": list(STEMMERS)},
        "fields": {"type": "object", "additionalProperties": {"enum": list(TEXT_ROLES)}},
        "boosts": {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: {"type": "number", "minimum": 0, "maximum": MAX_BOOST} for name in BOOSTS},
        },
        "facets": {"type": "array", "items": {"type": "string"}},
        "fusion": {"enum": list(get_args(FusionMethod))},
    },
}


def schema_routes() -> APIRouter:
    """Return `GET schema` and `PUT schema`."""
    router = APIRouter(prefix="/api/v1/indexes/{index}", tags=["catalog"])
    router.add_api_route("/schema", _get, methods=["GET"], summary="Show the schema in force")
    router.add_api_route(
        "/schema",
        _put,
        methods=["PUT"],
        summary="Declare fields, boosts, facets, language and fusion",
        openapi_extra={"requestBody": {"content": {"application/json": {"schema": _BODY}}, "required": True}},
    )
    return router


async def _get(index: str, request: Request) -> Response:
    edge: EdgeServices = request.state.edge
    catalog = edge.catalog
    if not isinstance(catalog, DeclaringCatalog):
        raise Refusal(503, "this engine's indexes have no schema")
    caller = request.state.caller
    description = await within_search_time(edge, edge.search.describe_index(caller, index))
    return json_response(await schema_in_force(catalog, caller.account_id, description))


async def _put(index: str, request: Request) -> Response:
    edge: EdgeServices = request.state.edge
    try:
        values = orjson.loads(await request.body())
    except orjson.JSONDecodeError as error:
        raise InvalidSearch(f"the body is not JSON: {error}") from error
    declaration = read_declaration(values)
    description = await within_search_time(edge, edge.search.describe_index(request.state.caller, index))
    if description.documents:
        declaration.schema.check_names(field.name for field in description.fields)
    return await accept_job(index, request, "declare_schema", [values])
