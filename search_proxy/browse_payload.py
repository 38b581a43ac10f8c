"""Reads what storefronts send beside a search: a collection to list, a prefix to complete, a body in a URL.

Source: the ecommerce search API, collections and recommendations/queries.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

import orjson
from pydantic import Field, model_validator

from search_proxy.errors import InvalidSearch
from search_proxy.models import SearchRequest
from search_proxy.search_payload import Payload, SearchPayload, read_payload, search_of

_LONGEST_URL_BODY = 65_536
_PLAIN = frozenset({"q", "filter"})
_WHOLE_NUMBERS = frozenset({"limit", "offset"})
_FLAGS = frozenset({"collapse", "explain"})


class CollectionPayload(SearchPayload):
    """The body of `collections`: one collection's products, listed as a search lists them."""

    collection_name: str = Field(min_length=1, max_length=512)

    @model_validator(mode="after")
    def _has_no_query(self) -> CollectionPayload:
        if self.q is not None:
            raise ValueError("a collection is listed, not searched; leave out 'q' or use search")
        return self


class QueriesPayload(Payload):
    """The body of `recommendations/queries`; the engine repairs typing errors by rules of its own."""

    q: str | None = Field(default=None, max_length=200)
    query: str | None = Field(default=None, max_length=200)
    limit: int = Field(default=10, ge=1, le=50, strict=True)
    fuzzy_edit_distance: int | None = Field(default=None, ge=0, le=2)
    min_fuzzy_match_length: int | None = Field(default=None, ge=0)


def read_collection(index: str, body: bytes) -> tuple[str, SearchRequest]:
    """Return the name of the collection that `body` asks for, and how it is to be listed.

    Raises:
        InvalidSearch: The body is not what the route takes.
    """
    payload = read_payload(body or b"{}", CollectionPayload)
    return payload.collection_name, search_of(index, payload)


def read_queries(body: bytes) -> tuple[str, int]:
    """Return the text to complete and how many completions are wanted.

    Raises:
        InvalidSearch: The body is not what the route takes.
    """
    payload = read_payload(body, QueriesPayload)
    typed = payload.q if payload.q is not None else payload.query
    if typed is None:
        raise InvalidSearch("q is missing; it takes what the shopper has typed so far")
    return typed, payload.limit


def body_in_url(parameters: Mapping[str, str]) -> bytes:
    """Return the JSON body that a GET carries: `body` in base64, or the plain fields of a search.

    Raises:
        InvalidSearch: It is not base64, or a parameter is not one of these.
    """
    given = dict(parameters)
    given.pop("indexId", None)
    encoded = given.pop("body", None)
    if encoded is not None:
        if given:
            raise InvalidSearch(f"{min(given)!r} stands beside 'body'; put it into the body")
        return _decoded(encoded)
    unknown = given.keys() - _PLAIN - _WHOLE_NUMBERS - _FLAGS
    if unknown:
        raise InvalidSearch(f"{min(unknown)[:80]!r} is no parameter of a GET; use 'body' with base64 JSON")
    fields: dict[str, object] = {name: given[name] for name in _PLAIN & given.keys()}
    for name in _WHOLE_NUMBERS & given.keys():
        if not (given[name].isascii() and given[name].isdecimal() and len(given[name]) < 10):
            raise InvalidSearch(f"{name} must be a whole number, not {given[name][:80]!r}")
        fields[name] = int(given[name])
    for name in _FLAGS & given.keys():
        if given[name] not in ("true", "false"):
            raise InvalidSearch(f"{name} must be 'true' or 'false', not {given[name][:80]!r}")
        fields[name] = given[name] == "true"
    return orjson.dumps(fields)


def _decoded(encoded: str) -> bytes:
    if len(encoded) > _LONGEST_URL_BODY:
        raise InvalidSearch(f"body must have at most {_LONGEST_URL_BODY} characters; use POST")
    # A URL's `+` arrives as a blank; both base64 alphabets and missing padding are accepted.
    plain = encoded.replace(" ", "+").replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidSearch("body must be JSON in base64") from error
