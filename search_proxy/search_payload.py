"""Reads the bodies of `search` and `get-documents`: bytes in, a `SearchRequest` or ids out.

Every refusal is an `InvalidSearch` whose message names the field and what it takes.

Source: the ecommerce search API's request tables.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from search_proxy.accounts.validation_messages import validation_message
from search_proxy.errors import InvalidSearch
from search_proxy.filters import Filter, FilterSyntaxError, parse_filter
from search_proxy.models import FacetField, FacetRange, FacetsRequest, SearchRequest, SortField

DEFAULT_ATTRIBUTES = (
    "productTitle",
    "variantTitle",
    "price",
    "currency",
    "variantImageUrl",
    "productCollections",
    "collections",
    "parentProductId",
)
"""What a hit shows unless asked otherwise; `_id` and `_score` always."""

MAX_FILTER_CHARACTERS = 524_288
"""Ten thousand ids in a list, and what stands around them."""

_DEEPEST_HIT = 10_000
"""`offset + limit` may reach this, as in the engine that storefronts know."""

_Name = Annotated[str, Field(min_length=1, max_length=256)]
_PayloadT = TypeVar("_PayloadT", bound=BaseModel)


class Payload(BaseModel):
    """A body whose fields are camelCase and all known."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=False)


class _Range(Payload):
    from_: float | None = Field(default=None, alias="from")
    to: float | None = None
    name: _Name | None = None


class _Facet(Payload):
    type: Literal["string", "array", "number"] = "string"
    max_results: int | None = Field(default=None, ge=1, le=10_000)
    order: Literal["asc", "desc"] | None = None
    ranges: tuple[_Range, ...] = Field(default=(), max_length=100)
    exclude_terms: tuple[Annotated[str, Field(max_length=1024)], ...] = Field(default=(), max_length=100)


class _Facets(Payload):
    fields: dict[str, _Facet] = Field(min_length=1, max_length=50)
    max_results: int = Field(default=100, ge=1, le=10_000)
    max_depth: int | None = Field(default=None, ge=1)
    order: Literal["asc", "desc"] = "desc"


class _Sort(Payload):
    field_name: _Name
    order: Literal["asc", "desc"] = "desc"
    missing: Literal["last", "first"] = "last"


class _SortBy(Payload):
    fields: tuple[_Sort, ...] = Field(min_length=1, max_length=3)
    sort_depth: int | None = Field(default=None, ge=1)
    min_sort_candidates: int | None = Field(default=None, ge=1)


class SearchPayload(Payload):
    """The body of `POST .../search`."""

    q: str | None = Field(default=None, max_length=2_000)
    limit: int = Field(default=10, ge=1, le=1_000, strict=True)
    offset: int = Field(default=0, ge=0, le=10_000, strict=True)
    filter: str | None = Field(default=None, max_length=MAX_FILTER_CHARACTERS)
    attributes_to_retrieve: tuple[_Name, ...] | None = Field(default=None, max_length=200)
    facets: _Facets | None = None
    sort_by: _SortBy | None = None
    collapse: bool = True
    explain_hits: bool = False
    explain: bool = False
    track_total_hits: bool = True
    profile_id: str | None = Field(default=None, max_length=256)
    user_id: str | None = Field(default=None, max_length=256)
    session_id: str | None = Field(default=None, max_length=256)


class GetDocumentsPayload(Payload):
    """The body of `POST .../get-documents`."""

    document_ids: tuple[Annotated[str, Field(max_length=512)], ...] = Field(min_length=1, max_length=100)


def read_search(index: str, body: bytes) -> SearchRequest:
    """Return the search that `body` asks of `index`; an empty body browses.

    Raises:
        InvalidSearch: The body is not what a search takes.
    """
    return search_of(index, read_payload(body or b"{}", SearchPayload))


def search_of(index: str, payload: SearchPayload) -> SearchRequest:
    """Return the search that a payload asks of `index`.

    Raises:
        InvalidSearch: A field is not what a search takes.
    """
    if payload.offset + payload.limit > _DEEPEST_HIT:
        raise InvalidSearch(
            f"offset + limit is {payload.offset + payload.limit}; together they reach at most {_DEEPEST_HIT}"
        )
    return SearchRequest(
        index=index,
        q=payload.q,
        limit=payload.limit,
        offset=payload.offset,
        filter=_filter(payload.filter),
        attributes_to_retrieve=payload.attributes_to_retrieve or DEFAULT_ATTRIBUTES,
        facets=_facets(payload.facets, payload.filter or "") if payload.facets else None,
        sort_by=_sort(payload.sort_by) if payload.sort_by else (),
        collapse=payload.collapse,
        reasons=payload.explain_hits,
        explain=payload.explain,
    )


def read_document_ids(body: bytes) -> tuple[str, ...]:
    """Return the ids that `body` asks for, at most 100.

    Raises:
        InvalidSearch: The body is not `{"documentIds": [...]}`.
    """
    return read_payload(body, GetDocumentsPayload).document_ids


def read_payload(body: bytes, model: type[_PayloadT]) -> _PayloadT:
    """Return `body` as the model has it.

    Raises:
        InvalidSearch: It is not JSON, or not what the model takes; the message names the field.
    """
    try:
        decoded = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidSearch(f"the body is not JSON: {error}") from error
    if not isinstance(decoded, dict):
        raise InvalidSearch(f"the body is a JSON {type(decoded).__name__}; it takes an object")
    try:
        return model.model_validate(decoded)
    except ValidationError as error:
        raise InvalidSearch(validation_message(error, model)) from error


def _filter(text: str | None) -> Filter | None:
    if text is None:
        return None
    try:
        return parse_filter(text)
    except FilterSyntaxError as error:
        raise InvalidSearch(f"filter: {error}") from error


def _facets(facets: _Facets, filter_text: str) -> FacetsRequest:
    return FacetsRequest(
        fields=tuple(_facet(name, facet, facets.order, filter_text) for name, facet in facets.fields.items()),
        max_results=facets.max_results,
        order=facets.order,
    )


def _facet(name: str, facet: _Facet, order: Literal["asc", "desc"], filter_text: str) -> FacetField:
    where = f"facets.fields.{name}"
    if facet.ranges and facet.type != "number":
        raise InvalidSearch(f"{where}.ranges needs type 'number', not {facet.type!r}")
    _refuse_overlap(facet.ranges, where)
    for term in facet.exclude_terms:
        if term not in filter_text:
            raise InvalidSearch(f"{where}.excludeTerms has {term!r}, which does not occur in the filter")
    return FacetField(
        name=name,
        kind=facet.type,
        max_results=facet.max_results,
        order=facet.order or order,
        ranges=tuple(FacetRange(start=item.from_, end=item.to, name=item.name) for item in facet.ranges),
        exclude_terms=facet.exclude_terms,
    )


def _refuse_overlap(ranges: tuple[_Range, ...], where: str) -> None:
    infinite = float("inf")
    spans = sorted(
        (-infinite if item.from_ is None else item.from_, infinite if item.to is None else item.to)
        for item in ranges
    )
    for start, end in spans:
        if start >= end:
            raise InvalidSearch(f"{where}.ranges has from {start:g} and to {end:g}; from must be below to")
    for (_, end), (start, _) in zip(spans, spans[1:], strict=False):
        if start < end:
            raise InvalidSearch(f"{where}.ranges overlap at {start:g}; from is inclusive, to is exclusive")


def _sort(sort_by: _SortBy) -> tuple[SortField, ...]:
    return tuple(
        SortField(name=field.field_name, order=field.order, missing=field.missing) for field in sort_by.fields
    )
