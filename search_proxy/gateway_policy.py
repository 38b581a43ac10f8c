"""What a path asks of its caller and how large its body may be. One pure function, refused unless listed.

A path under `/api/v1/` that is not listed for reading needs a secret key, so a route that somebody adds is
closed until it is opened here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Access = Literal["public", "read", "secret"]

KIB = 1024
SEARCH_BODY_BYTES = KIB * KIB
"""A filter that lists ten thousand ids."""
AGENTIC_BODY_BYTES = 256 * KIB
CONVERSE_BODY_BYTES = 12 * KIB * KIB
"""Five images, as base64, and the question."""
DOCUMENTS_BODY_BYTES = 16 * KIB * KIB
"""128 documents of 100,000 bytes, the engine's batch."""
REVIEWS_BODY_BYTES = 2 * KIB * KIB
"""100 summaries of 4,000 characters, in any script."""
DEFAULT_BODY_BYTES = KIB * KIB

_INDEXES = "/api/v1/indexes/"
_PUBLIC = frozenset({"/api/v1/admin/settings-schema", "/api/v1/openapi.json"})
_READ_ACTIONS = frozenset({"search", "get-documents", "collections", "recommendations/queries"})
_STREAMING = frozenset({"agentic-search", "agentic-search/stream", "agentic-search/converse"})
_SECRET = frozenset({"agentic-search/reviews", "conversations", "jobs"})
"""Forwarded, and for the account's secret key alone: they show or change what is not a shopper's own."""
_FORWARDED = _STREAMING | _SECRET | {"agentic-search/chat-suggestions"}
_FORWARDED_BELOW = ("runs/", "conversations/", "jobs/")
DOCUMENT_JOBS_BELOW = "jobs/documents-"
"""Jobs of documents are the product side's own; their ids say so."""
_ALLOWED_METHODS = {
    "search": "GET, HEAD, POST, OPTIONS",
    "collections": "GET, HEAD, POST, OPTIONS",
    "recommendations/queries": "POST, OPTIONS",
    "documents": "POST, DELETE, OPTIONS",
    "get-documents": "POST, OPTIONS",
    "schema": "GET, HEAD, PUT, OPTIONS",
    "agentic-search": "GET, HEAD, POST, OPTIONS",
    "agentic-search/stream": "GET, HEAD, POST, OPTIONS",
    "agentic-search/converse": "GET, HEAD, POST, OPTIONS",
    "agentic-search/chat-suggestions": "POST, OPTIONS",
    "agentic-search/reviews": "GET, POST, DELETE, OPTIONS",
    "conversations": "GET, OPTIONS",
    "jobs": "GET, OPTIONS",
}
_ANY_METHOD = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPolicy:
    """The rules of one path; `index` is None where the path names none."""

    access: Access
    body_bytes: int = DEFAULT_BODY_BYTES
    index: str | None = None
    is_forwarded: bool = False
    is_stream: bool = False
    is_api: bool = True
    allow: str = _ANY_METHOD


def policy_for(path: str) -> PathPolicy:
    """Return the rules of a decoded URL path."""
    if not path.startswith("/api/"):
        return PathPolicy(access="public", is_api=False)
    if path in _PUBLIC:
        return PathPolicy(access="public", allow="GET, HEAD, OPTIONS")
    if not path.startswith(_INDEXES):
        return PathPolicy(access="secret")
    index, _, action = path.removeprefix(_INDEXES).partition("/")
    forwarded = action in _FORWARDED or action.startswith(_FORWARDED_BELOW)
    if action.startswith(DOCUMENT_JOBS_BELOW):
        forwarded = False
    readable = forwarded or action in _READ_ACTIONS
    secret = action in _SECRET or action.startswith("jobs/")
    return PathPolicy(
        access="read" if readable and not secret else "secret",
        body_bytes=_body_bytes(action),
        index=index,
        is_forwarded=forwarded,
        is_stream=action in _STREAMING or action.startswith("runs/"),
        allow=_ALLOWED_METHODS.get(action, _ANY_METHOD),
    )


def _body_bytes(action: str) -> int:
    if action == "agentic-search/converse":
        return CONVERSE_BODY_BYTES
    if action == "agentic-search/reviews":
        return REVIEWS_BODY_BYTES
    if action.startswith(("agentic-search", "runs/")):
        return AGENTIC_BODY_BYTES
    if action.startswith("documents"):
        return DOCUMENTS_BODY_BYTES
    return SEARCH_BODY_BYTES
