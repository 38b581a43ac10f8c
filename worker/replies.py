"""Answers before the stream: JSON bodies and errors in the one shape that every face uses."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from search_proxy.errors import AccessDenied, DocumentNotFound, IndexNotFound, InvalidSearch, SearchError
from search_proxy.errors import SearchTimeout as _SearchTimeout
from worker.errors import DeadlineExceeded, InvalidRequest, NotFound, UpstreamFailed, WorkerError


def json_response(data: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return `data` as a JSON response."""
    body = orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS)
    return Response(body, status, headers, "application/json")


def error_body(code: str, message: str, status: int) -> dict[str, Any]:
    """Return `{"message", "code", "type", "link"}`. Source: docs/wire-format.md, errors."""
    kind = "invalid_request" if status < 500 else "internal"
    return {"message": message, "code": code, "type": kind, "link": None}


async def worker_error_response(_: Request, error: Exception) -> Response:
    """Answer a `WorkerError` with its status and code."""
    assert isinstance(error, WorkerError)
    headers = {"retry-after": "1"} if error.status == 429 else None
    return json_response(error_body(error.code, error.message, error.status), error.status, headers)


async def search_error_response(_: Request, error: Exception) -> Response:
    """Answer a `SearchError` that reached the edge before the first byte."""
    assert isinstance(error, SearchError)
    translated = translate_search_error(error)
    status = _status(error, translated)
    return json_response(error_body(_code(error, translated), translated.message, status), status)


async def http_error_response(_: Request, error: Exception) -> Response:
    """Answer what the router itself refuses, such as a method, in the shape of every other error."""
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "invalid_argument")
    body = error_body(code, str(error.detail), error.status_code)
    return json_response(body, error.status_code, dict(error.headers or {}))


def translate_search_error(error: SearchError) -> WorkerError:
    """Return the worker's error for one of the product side."""
    match error:
        case IndexNotFound() | DocumentNotFound():
            return NotFound(str(error))
        case InvalidSearch():
            return InvalidRequest(str(error))
        case _SearchTimeout():
            return DeadlineExceeded("the search took too long")
        case _:
            return UpstreamFailed("the search could not be answered")


def _code(error: SearchError, translated: WorkerError) -> str:
    if isinstance(error, IndexNotFound):
        return "index_not_found"
    if isinstance(error, AccessDenied):
        return "access_denied"
    return translated.code


def _status(error: SearchError, translated: WorkerError) -> int:
    return 403 if isinstance(error, AccessDenied) else translated.status
