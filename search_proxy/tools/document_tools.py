"""The tools that need no query: list what a filter keeps, and read whole documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from search_proxy.feeds.html_text import plain_text
from search_proxy.models import Document, SortField
from search_proxy.tools.arguments import DocumentArguments, ListArguments, ReadArguments, read_arguments
from search_proxy.tools.context import ToolContext
from search_proxy.tools.corpus import CorpusProfile
from search_proxy.tools.dates import read_time, written
from search_proxy.tools.definition import ToolFailure
from search_proxy.tools.filter_object import read_filter
from search_proxy.tools.hits import tool_hit

MAX_BODY_CHARACTERS = 60_000
"""About 15,000 tokens: the longest guide, and still no more than a model can hold."""

_LONGEST_FIELD = 2_000
_NOT_SHOWN = frozenset({"_id", "_score"})

DOCUMENT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["id", "title", "body", "fields"],
    "properties": {
        "id": {"type": "string"},
        "title": {"type": "string"},
        "body": {"type": "string", "description": "the whole text, plain"},
        "created_time": {"type": ["string", "null"]},
        "fields": {"type": "object", "description": "everything else that the document says"},
        "truncated": {"type": "boolean"},
    },
}

READ_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["documents", "missing"],
    "properties": {
        "documents": {"type": "array", "items": DOCUMENT_SCHEMA},
        "missing": {"type": "array", "items": {"type": "string"}, "description": "ids that are not here"},
    },
}


async def filter_documents(context: ToolContext, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """List what passes a filter, in a stated order; nothing is scored."""
    given = read_arguments(ListArguments, arguments)
    wanted = read_filter(context.profile, given.filter, given.filter_text)
    order = _order(context.profile, given.order_by)
    result = await context.find(None, "text", given.limit, wanted=wanted, sort_by=order)
    page: dict[str, Any] = {
        "hits": [tool_hit(context.profile, hit, None, None, None) for hit in result.hits],
        "total": result.total_hits,
    }
    return page if result.hits else {**page, "note": "nothing passes the filter; widen it"}


async def get_document(context: ToolContext, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return one whole document."""
    given = read_arguments(DocumentArguments, arguments)
    ((identifier, document),) = await context.documents([given.document_id])
    if document is None:
        raise ToolFailure(
            f"there is no document {identifier!r} here; use an id from a search result"
            f"{context.instead('search', 'keyword_search')}",
            "not_found",
        )
    return _whole(context.profile, identifier, document)


async def read(context: ToolContext, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return several whole documents, and say which ids are not here."""
    given = read_arguments(ReadArguments, arguments)
    found = await context.documents(list(dict.fromkeys(given.document_ids)))
    return {
        "documents": [_whole(context.profile, name, document) for name, document in found if document],
        "missing": [name for name, document in found if not document],
    }


def _order(profile: CorpusProfile, order_by: str | None) -> tuple[SortField, ...]:
    """Return the sort keys of `created_time desc`, `price asc` or `FIELD desc`; newest first by default."""
    if order_by is None:
        created = profile.roles.created
        return () if created is None else (SortField(name=created),)
    name, _, direction = (part.strip() for part in order_by.strip().rpartition(" "))
    direction = direction.lower()
    if not name:
        name, direction = order_by.strip(), "desc"
    if direction not in ("asc", "desc"):
        raise ToolFailure(
            f"the order is a field and 'asc' or 'desc', such as 'created_time desc', not {order_by!r}"
        )
    roles = profile.roles
    # As a hit names them: a model asks for what it has seen.
    parts = {
        "created_time": roles.created,
        "price": roles.price,
        "title": roles.title,
        "author": roles.author,
    }
    field = name if name in profile.fields else parts.get(name)
    if field is None or field not in profile.fields:
        known = ", ".join(repr(one) for one in list(profile.fields)[:20])
        raise ToolFailure(f"the order names {name!r}, which no document here has; there is {known}")
    return (SortField(name=field, order="asc" if direction == "asc" else "desc"),)


def _whole(profile: CorpusProfile, identifier: str, document: Document) -> dict[str, Any]:
    roles = profile.roles
    body = plain_text(str(document.get(roles.body) or "")) if roles.body else ""
    title = str(document.get(roles.title) or identifier) if roles.title else identifier
    created = read_time(document.get(roles.created)) if roles.created else None
    fields = {
        name: _bounded(value)
        for name, value in document.items()
        if name not in _NOT_SHOWN and name not in (roles.title, roles.body) and value is not None
    }
    whole: dict[str, Any] = {
        "id": identifier,
        "title": title,
        "body": body[:MAX_BODY_CHARACTERS],
        "created_time": None if created is None else written(created),
        "fields": fields,
    }
    return {**whole, "truncated": True} if len(body) > MAX_BODY_CHARACTERS else whole


def _bounded(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST_FIELD:
        return f"{value[: _LONGEST_FIELD - 1]}…"
    return value
