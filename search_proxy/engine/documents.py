"""Checks a product document and names the values that can be addressed in it.

What cannot be indexed is refused by name and field, before anything is written: text with NUL characters,
numbers that are not finite, bodies beyond the limit. The values of a map are addressed as `field.key`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from search_proxy.errors import InvalidDocument
from search_proxy.filters.visibility import VISIBILITY, VISIBLE_TO, visibility_problem

MAX_DOCUMENT_BYTES = 1_048_576
"""A product is a few kilobytes; a megabyte is a mistake of the feed, and would hold a search up."""

MAX_DEPTH = 8
MAX_FIELDS = 1_000
MAX_ID_CHARACTERS = 512

_CHECKED_AS_JSON = frozenset({str, bool, type(None)})
"""Of these only a NUL character can be wrong, which is looked for in the whole document at once."""

_ESCAPED_NUL = b"\\u0000"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedDocument:
    """A document that can be indexed: its id and its stored form.

    `given` is the document itself where reading the stored form would give the same.
    """

    id: str
    body: bytes
    given: Mapping[str, Any] | None = None

    def read(self) -> Mapping[str, Any]:
        """Return the document as `orjson.loads` gives it."""
        if self.given is not None:
            return self.given
        document: dict[str, Any] = orjson.loads(self.body)
        return document


def prepare_document(document: Mapping[str, Any], position: int) -> PreparedDocument:
    """Return `document` ready for indexing; `position` (0-based, in its batch) names one without an id.

    Raises:
        InvalidDocument: It cannot be indexed; the message says where and why.
    """
    if not isinstance(document, Mapping):
        raise InvalidDocument(
            f"at position {position}", "*", f"must be an object, not {type(document).__name__}"
        )
    identifier = document.get("_id")
    if not isinstance(identifier, str) or not 0 < len(identifier) <= MAX_ID_CHARACTERS:
        raise InvalidDocument(
            f"at position {position}", "_id", f"must be a string of 1 to {MAX_ID_CHARACTERS} characters"
        )
    name = repr(identifier)
    if len(document) > MAX_FIELDS:
        raise InvalidDocument(name, "*", f"has {len(document)} fields, more than {MAX_FIELDS}")
    is_flat = type(document) is dict
    if set(map(type, document)) != {str} or "" in document:
        for key, value in document.items():
            _check(name, key, value, depth=1)
    for key, value in document.items():
        kind = type(value)
        # What is not finite is no number when it is taken from itself.
        if kind in _CHECKED_AS_JSON or (kind is float and value - value == 0.0):
            continue
        if kind is not list or not _CHECKED_AS_JSON.issuperset(map(type, value)):
            is_flat = is_flat and kind is int
            _check(name, key, value, depth=1)
    _check_visibility(name, document)
    try:
        body = orjson.dumps(dict(document))
    except orjson.JSONEncodeError as error:
        raise InvalidDocument(name, "*", f"cannot be written as JSON: {error}") from error
    if _ESCAPED_NUL in body:
        for key, value in document.items():
            _check(name, key, value, depth=1)
    if len(body) > MAX_DOCUMENT_BYTES:
        largest = max(document, key=lambda key: len(orjson.dumps(document[key])))
        raise InvalidDocument(
            name, largest, f"the document has {len(body)} bytes, more than {MAX_DOCUMENT_BYTES}"
        )
    return PreparedDocument(id=identifier, body=body, given=document if is_flat else None)


def _check_visibility(name: str, document: Mapping[str, Any]) -> None:
    """Refuse what could not be read later: it would hide the document from everybody."""
    if VISIBILITY in document:
        raise InvalidDocument(name, VISIBILITY, f"is reserved; who may see it stands in {VISIBLE_TO!r}")
    problem = visibility_problem(document[VISIBLE_TO]) if VISIBLE_TO in document else None
    if problem is not None:
        raise InvalidDocument(name, VISIBLE_TO, problem)


def product_of(document: Mapping[str, Any]) -> str:
    """Return what names the product that a document is a variant of; its own id where it is none."""
    parent = document.get("parentProductId")
    for one in parent if isinstance(parent, list) else [parent]:
        if isinstance(one, str):
            return f"text {one}"
        if type(one) is int:
            return f"number {one}"
    return f"id {document['_id']}"


def addressable_values(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield every field that a filter can name, with its scalar or list; `_id` is not among them.

    The document is as `orjson.loads` gives it.
    """
    seen: set[str] = set()
    for name, value in document.items():
        if type(value) is dict:
            for path in _paths(name, value):
                if path not in seen and path not in document:
                    seen.add(path)
                    yield path, _lookup(document, path)
        elif value is not None and name != "_id":
            yield name, value


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
    if "\x00" in key:
        raise InvalidDocument(name, path or key, "the field name has a NUL character")
    kind = type(value)
    if kind is str:
        if "\x00" in value:
            raise InvalidDocument(name, path or key, f"has a NUL character at {value.index(chr(0))}")
    elif kind is float:
        if not math.isfinite(value):
            raise InvalidDocument(name, path or key, f"a number must be finite, not {value!r}")
    elif kind is int:
        if not -(2**63) <= value < 2**63:
            raise InvalidDocument(name, path or key, "an integer must fit 64 bits")
    elif value is not None and kind is not bool:
        _check_nested(name, path or key, value, depth)


def _check_nested(name: str, where: str, value: Any, depth: int) -> None:
    if not isinstance(value, dict | list | tuple):
        raise InvalidDocument(name, where, f"a value must be JSON, not {type(value).__name__}")
    if depth >= MAX_DEPTH:
        raise InvalidDocument(name, where, f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        for key, inner in value.items():
            _check(name, key, inner, depth=depth + 1, path=f"{where}.{key}")
    else:
        for index, inner in enumerate(value):
            _check(name, where, inner, depth=depth + 1, path=f"{where}[{index}]")
