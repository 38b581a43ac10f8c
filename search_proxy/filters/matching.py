"""Says whether one document passes a filter: the meaning of the language in its plainest form.

The search engine answers the same question from its postings; this is what it must agree with.
Source: docs/filters.md, "What matches".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from search_proxy.filters.numbers import parse_number
from search_proxy.filters.tree import (
    AndFilter,
    ContainsFilter,
    Filter,
    InFilter,
    Leaf,
    NotFilter,
    OrFilter,
    RangeFilter,
    TermFilter,
    post_order,
)
from search_proxy.filters.visibility import VISIBILITY, visibility_of

_WORD = re.compile(r"\w+")
_BOOLEANS = {"true": True, "false": False}


def matches(filter: Filter, document: Mapping[str, Any]) -> bool:  # noqa: A002 - the domain's own word
    """Return whether the document passes the filter.

    A field that the document does not have, or has as null, matches no term; so NOT of it matches.
    """
    results: list[bool] = []
    for node in post_order(filter):
        if isinstance(node, NotFilter):
            results[-1] = not results[-1]
        elif isinstance(node, AndFilter):
            results[-2:] = [results[-2] and results[-1]]
        elif isinstance(node, OrFilter):
            results[-2:] = [results[-2] or results[-1]]
        else:
            results.append(_leaf_matches(node, document))
    return results.pop()


def equals(field: str, value: Any, wanted: str) -> bool:
    """Return whether one stored value equals the text of a term.

    Strings compare whole and without case, ids exactly. `true` and `false` also name booleans. A whole
    number equals integers and floats, a number with a point or exponent floats only.
    """
    if isinstance(value, str):
        return value == wanted if field == "_id" else value.casefold() == wanted.casefold()
    if isinstance(value, bool):
        return _BOOLEANS.get(wanted.casefold()) is value
    if isinstance(value, int | float):
        number = parse_number(wanted)
        return (
            number is not None and number == value and (isinstance(number, int) or isinstance(value, float))
        )
    return False


def _leaf_matches(leaf: Leaf, document: Mapping[str, Any]) -> bool:
    values = list(_stored_values(document, leaf.field))
    match leaf:
        case TermFilter(field, wanted):
            return any(equals(field, value, wanted) for value in values)
        case InFilter(field, options):
            return any(equals(field, value, wanted) for value in values for wanted in options)
        case RangeFilter(_, lower, upper):
            numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
            return any((lower is None or v >= lower) and (upper is None or v <= upper) for v in numbers)
        case ContainsFilter(_, wanted):
            stored = {word for value in values if isinstance(value, str) for word in _words(value)}
            needed = _words(wanted)
            return bool(needed) and needed <= stored


def _stored_values(document: Mapping[str, Any], field: str) -> Iterator[Any]:
    value = visibility_of(document) if field == VISIBILITY else _lookup(document, field)
    if isinstance(value, list | tuple):
        yield from value
    elif value is not None:
        yield value


def _lookup(document: Mapping[str, Any], field: str) -> Any:
    if field in document:
        return document[field]
    start = field.find(".")
    while start != -1:
        inner = document.get(field[:start])
        if isinstance(inner, Mapping):
            return _lookup(inner, field[start + 1 :])
        start = field.find(".", start + 1)
    return None


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
