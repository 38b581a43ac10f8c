"""The OpenAPI document of all that the edge answers, the routes that it hands to the worker included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI

from search_proxy.gateway_policy import policy_for

_INDEX = {"name": "index", "in": "path", "required": True, "schema": {"type": "string"}}
_CONVERSATION = {"name": "conversation_id", "in": "path", "required": True, "schema": {"type": "string"}}
_FORMAT = {"name": "format", "in": "query", "schema": {"enum": ["turns", "export"], "default": "turns"}}
_JOB = {"name": "job_id", "in": "path", "required": True, "schema": {"type": "string"}}
_PAGE = [
    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100}},
    {"name": "offset", "in": "query", "schema": {"type": "integer", "minimum": 0}},
]
_RUN = {"name": "run_id", "in": "path", "required": True, "schema": {"type": "string"}}

_SEARCH_FIELDS: dict[str, Any] = {
    "q": {"type": "string"},
    "categoryResultLimit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 12},
    "maxCategories": {"type": "integer", "minimum": 1, "maximum": 6, "default": 5},
    "clickableSummary": {"type": "boolean", "default": True},
    "suggestFilters": {"type": "boolean", "default": False},
    "searchSettings": {"type": "object", "description": "in a query string: JSON text"},
    "filter": {"type": "string", "description": "filter language, see docs/filters.md"},
    "userId": {"type": "string"},
    "sessionId": {"type": "string"},
    "enableConversation": {"type": "boolean"},
    "conversationId": {"type": "string"},
}
_CONVERSE_FIELDS: dict[str, Any] = {
    "q": {"type": "string"},
    "categoryResultLimit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 6},
    "maxCategories": {"type": "integer", "minimum": 1, "maximum": 6, "default": 4},
    "filter": {"type": "string"},
    "attributesToRetrieve": {"type": "array", "items": {"type": "string"}},
    "documentIds": {"type": "array", "items": {"type": "string"}},
    "contextFields": {"type": "array", "items": {"type": "string"}},
    "imageUrls": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
    "images": {"type": "array", "items": {"type": "string"}, "description": "base64 or data URLs"},
    "userId": {"type": "string"},
    "sessionId": {"type": "string"},
    "conversationId": {"type": "string"},
}
_SUGGESTION_FIELDS: dict[str, Any] = {
    "documentId": {"type": "string"},
    "sessionId": {"type": "string"},
    "userId": {"type": "string"},
    "maxSuggestions": {"type": "integer", "default": 5},
    "minSuggestions": {"type": "integer", "default": 1},
    "contextFields": {"type": "array", "items": {"type": "string"}},
}
_PAYLOAD = {"type": "string", "description": "all fields as base64 or base64url JSON, at most 64 KiB"}
_STREAM = "text/event-stream"
_JSON = "application/json"


def document_forwarded_routes(app: FastAPI) -> None:
    """Make `app.openapi()` complete: forwarded routes, credentials, the shape of refusals."""
    generate: Callable[[], dict[str, Any]] = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        document = generate()
        document["paths"] |= _forwarded_paths()
        components = document.setdefault("components", {})
        components["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"},
            "apiKey": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            "indexId": {"type": "apiKey", "in": "header", "name": "x-marqo-index-id"},
        }
        components.setdefault("schemas", {})["Refusal"] = _refusal_schema()
        for path, operations in document["paths"].items():
            for operation in operations.values():
                _protect(path, operation)
        app.openapi_schema = document
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def _forwarded_paths() -> dict[str, Any]:
    prefix = "/api/v1/indexes/{index}"
    search = {"get": _streamed("Agentic search, streamed", _SEARCH_FIELDS)}
    return {
        f"{prefix}/agentic-search": search
        | {"post": _posted("Agentic search as one answer, or streamed on Accept", _SEARCH_FIELDS, _STREAM)},
        f"{prefix}/agentic-search/stream": search,
        f"{prefix}/agentic-search/converse": {
            "get": _streamed("A conversation's turn, streamed", _CONVERSE_FIELDS),
            "post": _posted("A conversation's turn with images, streamed", _CONVERSE_FIELDS, _STREAM),
        },
        f"{prefix}/agentic-search/chat-suggestions": {
            "post": _posted("Questions for a product page", _SUGGESTION_FIELDS),
        },
        f"{prefix}/agentic-search/reviews": {
            "get": _operation("List review summaries", [_INDEX, *_PAGE], _JSON),
            "post": _posted("Store review summaries", {"documents": {"type": "array", "maxItems": 100}}),
            "delete": _posted("Delete review summaries", {"documentIds": {"type": "array", "maxItems": 100}}),
        },
        f"{prefix}/jobs": {"get": _operation("List the last jobs", [_INDEX], _JSON)},
        f"{prefix}/jobs/{{job_id}}": {"get": _operation("How a job went", [_INDEX, _JOB], _JSON)},
        f"{prefix}/conversations": {"get": _operation("List conversations", [_INDEX, *_PAGE], _JSON)},
        f"{prefix}/conversations/{{conversation_id}}": {
            "get": _operation("Read or export a conversation", [_INDEX, _CONVERSATION, _FORMAT], _JSON),
            "delete": _operation("Delete a conversation", [_INDEX, _CONVERSATION], _JSON),
        },
        f"{prefix}/runs/{{run_id}}": {
            "get": _operation("Follow a run again", [_INDEX, _RUN], _STREAM),
            "delete": _operation("Stop a run", [_INDEX, _RUN], _JSON),
        },
    }


def _streamed(summary: str, fields: dict[str, Any]) -> dict[str, Any]:
    query = fields | {"payload": _PAYLOAD, "indexId": {"type": "string"}}
    parameters = [{"name": name, "in": "query", "schema": schema} for name, schema in query.items()]
    return _operation(summary, [_INDEX, *parameters], _STREAM)


def _posted(summary: str, fields: dict[str, Any], *also: str) -> dict[str, Any]:
    body = {"content": {_JSON: {"schema": {"type": "object", "properties": fields}}}, "required": True}
    return _operation(summary, [_INDEX], _JSON, *also) | {"requestBody": body}


def _operation(summary: str, parameters: list[dict[str, Any]], *media: str) -> dict[str, Any]:
    content = {kind: {"schema": {"type": "string" if kind == _STREAM else "object"}} for kind in media}
    return {
        "summary": summary,
        "tags": ["agentic search"],
        "parameters": parameters,
        "responses": {"200": {"description": "OK", "content": content}},
    }


def _protect(path: str, operation: dict[str, Any]) -> None:
    policy = policy_for(path)
    if not policy.is_api or policy.access == "public":
        return
    keys: list[dict[str, list[str]]] = [{"bearer": []}, {"apiKey": []}]
    operation["security"] = keys + ([{"indexId": []}] if policy.access == "read" else [])
    refusal = {
        "description": "Refused",
        "content": {_JSON: {"schema": {"$ref": "#/components/schemas/Refusal"}}},
    }
    operation["responses"] |= dict.fromkeys(("400", "401", "403", "404", "413", "429"), refusal)
    operation["responses"].pop("422", None)


def _refusal_schema() -> dict[str, Any]:
    fields = {name: {"type": "string"} for name in ("message", "code")}
    return {
        "type": "object",
        "required": ["message", "code", "type", "link"],
        "properties": fields
        | {
            "type": {"enum": ["invalid_request", "internal"]},
            "link": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
    }
