"""The search binding over HTTP, both ends: the worker asks the product side in another process.

One POST per question, `/rpc/{handle_search | get_documents | describe_index}`, the caller in signed headers,
errors as their class and message, so that a caller behind HTTP raises what one in process would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import httpx
import orjson
from fastapi import APIRouter, Request
from pydantic import TypeAdapter
from starlette.responses import Response

from search_proxy.binding import SearchBinding
from search_proxy.caller import Caller
from search_proxy.errors import (
    AccessDenied,
    IndexNotFound,
    InvalidSearch,
    SearchError,
    SearchTimeout,
    SearchUnavailable,
    UnknownField,
)
from search_proxy.filters import parse_filter
from search_proxy.gateway_errors import json_response
from search_proxy.http_facts import Facts, FactsSigner
from search_proxy.models import (
    FacetsRequest,
    FoundDocument,
    IndexDescription,
    SearchRequest,
    SearchResult,
    SortField,
)

_PREFIX = "/rpc"
_TIMEOUT = httpx.Timeout(connect=1.0, write=5.0, read=10.0, pool=2.0)
_ERRORS: dict[str, type[SearchError]] = {
    kind.__name__: kind for kind in (AccessDenied, InvalidSearch, SearchTimeout, SearchUnavailable)
}
_FACETS = TypeAdapter(FacetsRequest | None)
_SORTS = TypeAdapter(tuple[SortField, ...])
_RESULT = TypeAdapter(SearchResult)
_DESCRIPTION = TypeAdapter(IndexDescription)
_FOUND = TypeAdapter(list[FoundDocument])


class HttpSearchBinding:
    """Asks a product side at another address."""

    def __init__(self, client: httpx.AsyncClient, base_url: str, signer: FactsSigner) -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")
        self._signer = signer

    async def handle_search(self, caller: Caller, request: SearchRequest) -> SearchResult:
        """Search within what the caller may see, which the other side takes from the signed facts."""
        # A tree may be deeper than `asdict` walks; what is forced, the other side takes from the caller.
        plain = asdict(replace(request, filter=None, forced_filter=None))
        values = {**plain, "filter": None if request.filter is None else str(request.filter)}
        return _RESULT.validate_python(await self._ask(caller, "handle_search", values))

    async def get_documents(self, caller: Caller, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return one entry per id, in order; a document the caller may not see is absent."""
        return _FOUND.validate_python(
            await self._ask(caller, "get_documents", {"index": index, "ids": list(ids)})
        )

    async def describe_index(self, caller: Caller, index: str) -> IndexDescription:
        """Return the index's fields and sizes."""
        return _DESCRIPTION.validate_python(await self._ask(caller, "describe_index", {"index": index}))

    async def _ask(self, caller: Caller, method: str, values: dict[str, Any]) -> Any:
        target = f"{_PREFIX}/{method}"
        headers = self._signer.headers(Facts(caller=caller), "POST", target)
        try:
            answer = await self._client.post(
                self._base_url + target, content=orjson.dumps(values), headers=headers, timeout=_TIMEOUT
            )
        except httpx.TimeoutException as error:
            raise SearchTimeout("the product side did not answer in time") from error
        except httpx.TransportError as error:
            raise SearchUnavailable("the product side cannot be reached") from error
        try:
            body = orjson.loads(answer.content)
        except orjson.JSONDecodeError as error:
            raise SearchUnavailable(f"the product side answered {answer.status_code} without JSON") from error
        if answer.status_code != 200:
            raise _error(body)
        return body


def search_rpc_router(search: SearchBinding, signer: FactsSigner) -> APIRouter:
    """Return the routes that answer an `HttpSearchBinding`; serve them inside the deployment only."""
    router = APIRouter(prefix=_PREFIX, include_in_schema=False)

    @router.post("/{method}")
    async def answer(method: str, request: Request) -> Response:
        try:
            caller = signer.facts(dict(request.headers), "POST", request.url.path).caller
            return json_response(await _answer(search, caller, method, orjson.loads(await request.body())))
        except SearchError as error:
            return json_response(_error_body(error), 500)

    return router


async def _answer(search: SearchBinding, caller: Caller, method: str, values: dict[str, Any]) -> Any:
    if method == "handle_search":
        return asdict(await search.handle_search(caller, _search_request(values)))
    if method == "get_documents":
        found = await search.get_documents(caller, values["index"], values["ids"])
        return [asdict(entry) for entry in found]
    if method == "describe_index":
        return asdict(await search.describe_index(caller, values["index"]))
    raise InvalidSearch(f"there is no call {method!r}")


def _search_request(values: dict[str, Any]) -> SearchRequest:
    attributes = values["attributes_to_retrieve"]
    return SearchRequest(
        **values
        | {
            "filter": None if values["filter"] is None else parse_filter(values["filter"]),
            "attributes_to_retrieve": None if attributes is None else tuple(attributes),
            "forced_attributes": tuple(values["forced_attributes"]),
            "facets": _FACETS.validate_python(values["facets"]),
            "sort_by": _SORTS.validate_python(values["sort_by"]),
        }
    )


def _error_body(error: SearchError) -> dict[str, Any]:
    body: dict[str, Any] = {"error": type(error).__name__, "message": str(error)}
    if isinstance(error, IndexNotFound):
        body["index"] = error.index
    if isinstance(error, UnknownField):
        body["field"] = error.field
    return body


def _error(body: dict[str, Any]) -> SearchError:
    if body.get("error") == "IndexNotFound":
        return IndexNotFound(body["index"])
    if body.get("error") == "UnknownField":
        unknown = UnknownField(body["field"], ())
        unknown.args = (body["message"],)
        return unknown
    return _ERRORS.get(str(body.get("error")), SearchUnavailable)(str(body.get("message", "no answer")))
