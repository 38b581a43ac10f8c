"""Refusals before the first byte of an answer, in one shape: `{"message", "code", "type", "link"}`.

Source: the engine's error shape, which storefronts and the `marqo` client already read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response

from search_proxy.accounts.errors import (
    AccountConflict,
    AccountError,
    AccountExists,
    AccountNotFound,
    KeyNotFound,
    PromptNotFound,
    StoreUnavailable,
)
from search_proxy.errors import (
    AccessDenied,
    DocumentNotFound,
    IndexNotFound,
    InvalidDocument,
    InvalidSearch,
    SearchError,
    SearchTimeout,
    SearchUnavailable,
    UnknownField,
)

_BY_ERROR: tuple[tuple[type[SearchError], int, str], ...] = (
    (IndexNotFound, 404, "index_not_found"),
    (DocumentNotFound, 404, "document_not_found"),
    (InvalidDocument, 400, "invalid_document"),
    (UnknownField, 400, "invalid_field_name"),
    (InvalidSearch, 400, "invalid_argument"),
    (AccessDenied, 403, "forbidden"),
    (SearchTimeout, 504, "deadline_exceeded"),
    (SearchUnavailable, 502, "upstream_failed"),
)

_BY_ACCOUNT_ERROR: tuple[tuple[type[AccountError], int], ...] = (
    (AccountNotFound, 404),
    (KeyNotFound, 404),
    (PromptNotFound, 404),
    (AccountExists, 409),
    (AccountConflict, 409),
    (StoreUnavailable, 502),
)

CODES = {
    400: "invalid_argument",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "request_timeout",
    409: "operation_conflict_error",
    413: "payload_too_large",
    414: "uri_too_long",
    415: "unsupported_media_type",
    422: "unprocessable_entity",
    429: "too_many_requests",
    431: "headers_too_large",
    500: "internal",
    502: "upstream_failed",
    503: "not_ready",
    504: "deadline_exceeded",
}


class Refusal(Exception):
    """An answer that ends the request, raised where it is certain; `message` holds no secret."""

    def __init__(
        self, status: int, message: str, code: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code or CODES.get(status, "internal")
        self.headers = headers or {}

    def response(self) -> Response:
        """Return the answer."""
        return json_response(error_body(self.status, self.message, self.code), self.status, self.headers)


def error_body(status: int, message: str, code: str = "") -> dict[str, Any]:
    """Return `{"message", "code", "type", "link"}`."""
    kind = "internal" if status >= 500 else "invalid_request"
    return {"message": message, "code": code or CODES.get(status, "internal"), "type": kind, "link": None}


def refusal_of(error: SearchError) -> Refusal:
    """Return the answer to an error of the product side."""
    for kind, status, code in _BY_ERROR:
        if isinstance(error, kind):
            return Refusal(status, str(error), code)
    return Refusal(500, "the request could not be answered")


def account_refusal(error: Exception) -> Refusal:
    """Return the answer to an error about accounts; what is none of the tree is a refused setting."""
    for kind, status in _BY_ACCOUNT_ERROR:
        if isinstance(error, kind):
            return Refusal(status, str(error))
    return Refusal(400, str(error))


def too_many(seconds: float, what: str) -> Refusal:
    """Return the 429 that says when to come back."""
    after = max(1, math.ceil(seconds))
    return Refusal(
        429, f"too many requests {what}; retry after {after} s", headers={"retry-after": str(after)}
    )


def json_response(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return `content` as JSON."""
    return Response(
        orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS),
        status_code=status,
        headers=dict(headers or {}),
        media_type="application/json",
    )
