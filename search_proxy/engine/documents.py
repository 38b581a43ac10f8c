"""Checks a product document and takes it apart into typed values per field.

What cannot be indexed is refused by name and field, before anything is written: text with NUL characters,
numbers that are not finite, bodies beyond the limit. The values of a map are addressed as `field.key`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from search_proxy.errors import InvalidDocument

MAX_DOCUMENT_BYTES = 1_048_576
"""A product is a few kilobytes; a megabyte is a mistake of the feed, and would hold a search up."""

MAX_DEPTH = 8
MAX_FIELDS = 1_000
MAX_ID_CHARACTERS = 512

_INT64 = range(-(2**63), 2**63)


@dataclass(slots=True)
class FieldValues:
    """The values of one field of one document, by type; `is_list` says how they were written."""

    texts: list[str] = field(default_factory=list)
    integers: list[int] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)
    booleans: list[bool] = field(default_factory=list)
    is_list: bool = False

    def add(self, value: Any) -> None:
        """Add a scalar under its own type; anything else is not addressable and is left out."""
        if isinstance(value, str):
            self.texts.append(value)
        elif isinstance(value, bool):
            self.booleans.append(value)
        elif isinstance(value, int):
            self.integers.append(value)
        elif isinstance(value, float):
            self.floats.append(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedDocument:
    """A document that can be indexed: its id, its stored form and its values by field."""

    id: str
    body: bytes
    values: Mapping[str, FieldValues]


def prepare_document(document: Mapping[str, Any], position: int) -> PreparedDocument:
    """Return `document` ready for indexing; `position` (0-based, in its batch) names one without an id.

    Raises:
        InvalidDocument: It cannot be indexed; the message says where and why.
    """
    identifier = document.get("_id")
    if not isinstance(identifier, str) or not 0 < len(identifier) <= MAX_ID_CHARACTERS:
        raise InvalidDocument(
            f"at position {position}", "_id", f"must be a string of 1 to {MAX_ID_CHARACTERS} characters"
        )
    name = repr(identifier)
    if len(document) > MAX_FIELDS:
        raise InvalidDocument(name, "*", f"has {len(document)} fields, more than {MAX_FIELDS}")
    for key, value in document.items():
        _check(name, key, value, depth=1)
    try:
        body = orjson.dumps(document)
    except orjson.JSONEncodeError as error:
        raise InvalidDocument(name, "*", f"cannot be written as JSON: {error}") from error
    if len(body) > MAX_DOCUMENT_BYTES:
        largest = max(document, key=lambda key: len(orjson.dumps(document[key])))
        raise InvalidDocument(
            name, largest, f"the document has {len(body)} bytes, more than {MAX_DOCUMENT_BYTES}"
        )
    return PreparedDocument(id=identifier, body=body, values=field_values(document))


def field_values(document: Mapping[str, Any]) -> dict[str, FieldValues]:
    """Return the addressable values of every field that has any; `_id` is not among them."""
    found: dict[str, FieldValues] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            for path in _paths(name, value):
                _collect(found, path, _lookup(document, path))
        elif name != "_id":
            _collect(found, name, value)
    return found


def _collect(found: dict[str, FieldValues], name: str, value: Any) -> None:
    if value is None or isinstance(value, Mapping) or name in found:
        return
    values = found[name] = FieldValues()
    if isinstance(value, list | tuple):
        values.is_list = True
        for element in value:
            values.add(element)
    else:
        values.add(value)


def _paths(prefix: str, value: Mapping[str, Any]) -> Iterator[str]:
    for key, inner in value.items():
        path = f"{prefix}.{key}"
        if isinstance(inner, Mapping):
            yield from _paths(path, inner)
        else:
            yield path


def _lookup(document: Mapping[str, Any], field: str) -> Any:
    """Return the value at a dotted name; a field of that very name comes before a map that has it."""
    if field in document:
        return document[field]
    start = field.find(".")
    while start != -1:
        inner = document.get(field[:start])
        if isinstance(inner, Mapping):
            return _lookup(inner, field[start + 1 :])
        start = field.find(".", start + 1)
    return None


def _check(name: str, key: Any, value: Any, *, depth: int, path: str = "") -> None:
    if not isinstance(key, str) or not key:
        raise InvalidDocument(name, str(key), "a field name must be a non-empty string")
    where = path or key
    if "\x00" in key:
        raise InvalidDocument(name, where, "the field name has a NUL character")
    _check_value(name, where, value, depth)


def _check_value(name: str, where: str, value: Any, depth: int) -> None:
    if isinstance(value, str):
        if "\x00" in value:
            raise InvalidDocument(name, where, f"has a NUL character at {value.index(chr(0))}")
    elif value is None or isinstance(value, bool):
        return
    elif isinstance(value, int):
        if value not in _INT64:
            raise InvalidDocument(name, where, "an integer must fit 64 bits")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidDocument(name, where, f"a number must be finite, not {value!r}")
    elif depth >= MAX_DEPTH:
        raise InvalidDocument(name, where, f"is nested deeper than {MAX_DEPTH} levels")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _check(name, key, inner, depth=depth + 1, path=f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            _check_value(name, f"{where}[{index}]", inner, depth + 1)
    else:
        raise InvalidDocument(name, where, f"a value must be JSON, not {type(value).__name__}")
