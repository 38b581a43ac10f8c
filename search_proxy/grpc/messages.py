"""Between the messages of `search.v1` and the arguments and answers of the tools."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from search_proxy.grpc import search_pb2
from search_proxy.tools.arguments import DEFAULT_LIMIT, MAX_LIMIT
from search_proxy.tools.dates import read_time, written


def search_arguments(request: Any) -> dict[str, Any]:
    """Return the tool arguments of any search request; what is not set is left to the tool's defaults."""
    arguments: dict[str, Any] = {"limit": _limit(request.limit)}
    if request.HasField("filter"):
        arguments |= _filter(request.filter)
    if hasattr(request, "query"):
        arguments["query"] = request.query
    if getattr(request, "min_score", 0.0):
        arguments["min_score"] = round(float(request.min_score), 6)
    if getattr(request, "expand", False):
        arguments["expand"] = True
    if getattr(request, "order_by", ""):
        arguments["order_by"] = request.order_by
    return arguments


def search_response(answer: Mapping[str, Any], limit: int) -> search_pb2.SearchResponse:
    """Return the message of a page of hits; its note says where `limit` asked for more than there may be."""
    notes = [f"limit {limit} is over {MAX_LIMIT}: {MAX_LIMIT} hits at most"] if limit > MAX_LIMIT else []
    if answer.get("note"):
        notes.append(answer["note"])
    return search_pb2.SearchResponse(
        hits=[_hit(hit) for hit in answer["hits"]], total=answer["total"], note="; ".join(notes)
    )


def document(answer: Mapping[str, Any]) -> search_pb2.Document:
    """Return the message of a whole document."""
    return search_pb2.Document(
        document_id=answer["id"],
        title=answer["title"],
        body=answer["body"],
        created_time=_timestamp(answer["created_time"]),
        fields=_struct(answer["fields"]),
        truncated=answer.get("truncated", False),
    )


def _hit(hit: Mapping[str, Any]) -> search_pb2.SearchHit:
    return search_pb2.SearchHit(
        document_id=hit["id"],
        title=hit["title"],
        snippet=hit["snippet"],
        score=hit["score"] or 0.0,
        author=hit["author"] or "",
        created_time=_timestamp(hit["created_time"]),
        score_kind=hit["score_kind"] or "",
        price=hit["price"],
        currency=hit["currency"] or "",
        fields=_struct(hit["fields"]),
    )


def _filter(message: search_pb2.Filter) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name in ("author", "brand", "tags", "scope"):
        if values := list(getattr(message, name)):
            given[name] = values
    for name in ("created_after", "created_before"):
        if message.HasField(name):
            given[name] = _written(getattr(message, name))
    bounds = {
        name: getattr(message, f"price_{name}")
        for name in ("min", "max")
        if message.HasField(f"price_{name}")
    }
    if bounds:
        given["price"] = bounds
    if message.fields:
        given["fields"] = {name: list(values.any_of) for name, values in message.fields.items()}
    arguments: dict[str, Any] = {"filter": given} if given else {}
    return {**arguments, "filter_text": message.filter_text} if message.filter_text else arguments


def _limit(limit: int) -> int:
    return min(limit, MAX_LIMIT) if limit else DEFAULT_LIMIT


def _written(message: Timestamp) -> str:
    try:
        return written(message.ToDatetime(tzinfo=UTC))
    except ValueError:
        return f"{message.seconds} seconds"


def _timestamp(text: str | None) -> Timestamp | None:
    parts = None if text is None else _since_1970(text)
    return None if parts is None else Timestamp(seconds=parts[0], nanos=parts[1])


@lru_cache(4_096)
def _since_1970(text: str) -> tuple[int, int] | None:
    """Return seconds and nanoseconds; many documents are of the same day."""
    moment: datetime | None = read_time(text)
    if moment is None:
        return None
    return int(moment.replace(microsecond=0).timestamp()), moment.microsecond * 1000


def _struct(values: Mapping[str, Any]) -> Struct:
    message = Struct()
    message.update(dict(values))
    return message
