"""The one filter object that every tool takes, and the filter tree that it stands for.

Its schema is made for one corpus: the values of its fields are in it. What the object cannot say, the filter
language can; both may be given and both then hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from search_proxy.filters import (
    ContainsFilter,
    Filter,
    FilterSyntaxError,
    InFilter,
    RangeFilter,
    TermFilter,
    all_of,
    any_of,
    leaves,
    merge_filters,
    parse_filter,
)
from search_proxy.models import FieldInfo
from search_proxy.tools.arguments import FilterArguments, NumberRange
from search_proxy.tools.corpus import MOST_VALUES, CorpusProfile, shown
from search_proxy.tools.definition import ToolFailure

_SHOWN_VALUES = 8
_SHOWN_FIELDS = 20
MAX_FILTER_CHARACTERS = 4_000


def filter_schema(profile: CorpusProfile) -> dict[str, Any]:
    """Return the JSON Schema of the filter object for one corpus."""
    roles = profile.roles
    author = roles.author or "author"
    fields = {info.name: _facet_schema(info) for info in profile.facets}
    return {
        "type": "object",
        "additionalProperties": False,
        "description": "Keeps only documents that meet every part given; the same object in every tool.",
        "properties": {
            "author": _texts(f"Any of these ({_where(roles.author)})."),
            "brand": _texts(f"The same as author: any of these ({_where(author)})."),
            "tags": _texts(f"All of these ({_where(roles.tags)})."),
            "created_after": _time(f"Not before this moment ({_created_where(profile)})."),
            "created_before": _time(f"Before this moment ({_created_where(profile)})."),
            "price": {
                "type": "object",
                "additionalProperties": False,
                "description": f"Both ends inclusive ({_where(roles.price)}).",
                "properties": {"min": {"type": "number"}, "max": {"type": "number"}},
            },
            "scope": _texts(f"Any of these ({_where(roles.scope)})."),
            "fields": {
                "type": "object",
                "description": "By field name: any of the values, or {min, max} for numbers.",
                "properties": fields,
                "additionalProperties": {"anyOf": [_ANY_OF, _RANGE]},
            },
        },
    }


def dsl_schema() -> dict[str, Any]:
    """Return the JSON Schema of a filter in the filter language."""
    return {
        "type": "string",
        "maxLength": MAX_FILTER_CHARACTERS,
        "description": (
            "A filter in the filter language, ANDed to `filter`: field:(value), field:[1 TO 9], "
            "field IN ((a), (b)), field CONTAINS (words), with AND, OR, NOT and parentheses."
        ),
    }


def read_filter(
    profile: CorpusProfile, given: FilterArguments | None, dsl: str | None = None
) -> Filter | None:
    """Return the tree of a filter object and a filter text, ANDed; None where neither keeps anything out.

    Raises:
        ToolFailure: The text is no filter, or something names what this corpus does not have.
    """
    parts: list[Filter] = []
    if given is not None:
        parts += _object_parts(profile, given)
    if dsl is not None and dsl.strip():
        parts.append(_parsed(profile, dsl))
    return merge_filters(*parts)


def _object_parts(profile: CorpusProfile, given: FilterArguments) -> list[Filter]:
    roles = profile.roles
    parts: list[Filter] = []
    authors = [*given.author, *given.brand]
    if authors:
        name = _needed(profile, roles.author, "author")
        parts.append(any_of([_text(profile, name, value) for value in authors]))
    if given.tags:
        name = _needed(profile, roles.tags, "tags")
        parts.append(all_of([TermFilter(name, value) for value in given.tags]))
    if given.scope:
        parts.append(InFilter(_needed(profile, roles.scope, "scope"), tuple(given.scope)))
    if given.price is not None and (bounds := _bounds(given.price)):
        parts.append(RangeFilter(_needed(profile, roles.price, "price"), *bounds))
    if given.created_after is not None or given.created_before is not None:
        parts.append(_created(profile, given.created_after, given.created_before))
    for name, wanted in given.fields.items():
        _known(profile, name)
        if isinstance(wanted, NumberRange):
            if bounds := _bounds(wanted):
                parts.append(RangeFilter(name, *bounds))
        else:
            parts.append(InFilter(name, tuple(_term(value) for value in wanted)))
    return parts


def _created(profile: CorpusProfile, after: datetime | None, before: datetime | None) -> Filter:
    name = _needed(profile, profile.roles.created, "created_after")
    info = profile.fields[name]
    if info.kind == "number":
        scale = 1000.0 if (info.maximum or 0.0) > 1e11 else 1.0
        lower = None if after is None else after.timestamp() * scale
        upper = None if before is None else math.nextafter(before.timestamp() * scale, -math.inf)
        return RangeFilter(name, lower, upper)
    if not profile.created_is_whole:
        raise ToolFailure(
            f"a filter by created_after or created_before is not possible here: field {name!r} has "
            f"{MOST_VALUES:,} different dates or more, written as text. Leave them out, and take "
            "filter_documents with order_by 'created_time desc' instead"
        )
    inside = [
        text
        for text, moment in profile.created_values.items()
        if (after is None or moment >= after) and (before is None or moment < before)
    ]
    # Of a field that no document has every value of, nothing is equal to the empty text.
    return InFilter(name, tuple(inside) or ("",))


def _text(profile: CorpusProfile, name: str, value: str) -> Filter:
    """Return the filter of a name: the whole name where there is such a one, else all of its words."""
    if value.casefold() in profile.author_values or not any(character.isalnum() for character in value):
        return TermFilter(name, value)
    return ContainsFilter(name, value)


def _parsed(profile: CorpusProfile, dsl: str) -> Filter:
    if len(dsl) > MAX_FILTER_CHARACTERS:
        raise ToolFailure(
            f"the filter text has {len(dsl)} characters; at most {MAX_FILTER_CHARACTERS} are read"
        )
    try:
        parsed = parse_filter(dsl)
    except FilterSyntaxError as error:
        raise ToolFailure(
            f"the filter text cannot be read at position {error.position}: {error.expected}. "
            "Write it as field:(value), or use the filter object instead"
        ) from error
    for leaf in leaves(parsed):
        if leaf.field != "_id":
            _known(profile, leaf.field)
    return parsed


def _known(profile: CorpusProfile, name: str) -> None:
    if name not in profile.fields:
        names = ", ".join(repr(known) for known in list(profile.fields)[:_SHOWN_FIELDS])
        raise ToolFailure(
            f"the filter names {name!r}, which no document here has; there is {names or 'no field at all'}"
        )


def _needed(profile: CorpusProfile, name: str | None, part: str) -> str:
    if name is None:
        raise ToolFailure(f"this corpus has nothing that {part!r} could mean; leave it out of the filter")
    return name


def _bounds(given: NumberRange) -> tuple[float | None, float | None] | None:
    return None if given.min is None and given.max is None else (given.min, given.max)


def _term(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)


_ANY_OF: dict[str, Any] = {
    "type": "array",
    "items": {"type": ["string", "number", "boolean"]},
    "minItems": 1,
    "maxItems": 100,
}
_RANGE: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"min": {"type": "number"}, "max": {"type": "number"}},
}


def _facet_schema(info: FieldInfo) -> dict[str, Any]:
    values = ", ".join(repr(shown(value)) for value, _ in info.top_values[:_SHOWN_VALUES])
    return {**_ANY_OF, "description": f"Any of these, such as {values}."}


def _texts(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "maxItems": 100, "description": description}


def _time(description: str) -> dict[str, Any]:
    return {"type": "string", "description": f"{description} ISO 8601, such as 2026-06-30."}


def _where(name: str | None) -> str:
    return "this corpus has no such field" if name is None else f"field {name!r}"


def _created_where(profile: CorpusProfile) -> str:
    too_many = "" if profile.created_is_whole else ", which has too many different dates to be filtered by"
    return f"{_where(profile.roles.created)}{too_many}"


def filter_summary(names: Sequence[str], values: Mapping[str, FieldInfo]) -> str:
    """Return the fields with their commonest values, as a description says them."""
    parts = []
    for name in names:
        top = [f"{shown(value)} ({count})" for value, count in values[name].top_values[:5]]
        parts.append(f"{name}: {', '.join(top)}" if top else name)
    return "; ".join(parts)
