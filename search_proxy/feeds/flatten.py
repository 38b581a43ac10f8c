"""Flattens a record to plain values: text, numbers, booleans and lists of them, by field name.

`{"measures": {"weight": 2}}` becomes `measures.weight`; the object `attributes` gives plain names; a list of
objects gives one list per key. Nulls and blank texts are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from search_proxy.feeds.records import (
    MAX_FIELD_BYTES,
    MAX_FIELDS,
    MAX_LIST_LENGTH,
    MAX_NAME_LENGTH,
    MAX_NESTING,
    Refused,
    quoted,
)

_UNWRAPPED = "attributes"
_INT64 = 2**63

_SURELY_SHORT = MAX_FIELD_BYTES // 4
"""Characters that take no more bytes than a field may have, whatever they are."""


def flatten(raw: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the record's plain values, and those of its `attributes` object under their own names.

    Raises:
        Refused: A name or value cannot be kept: NUL, over a limit, nested too deeply, not finite.
    """
    values: dict[str, Any] = {}
    attributes: dict[str, Any] = {}
    for name, value in raw.items():
        if name == _UNWRAPPED and isinstance(value, Mapping):
            _put_all(value, "", attributes, 2)
        else:
            _put(name, value, values, 1)
    return values, attributes


def _put_all(value: Mapping[str, Any], prefix: str, values: dict[str, Any], level: int) -> None:
    for name, inner in value.items():
        _put(f"{prefix}{name}", inner, values, level)


def _put(name: str, value: Any, values: dict[str, Any], level: int) -> None:
    _check_name(name)
    if level > MAX_NESTING:
        raise Refused("nested_too_deeply", name[:MAX_NAME_LENGTH], f"objects may nest {MAX_NESTING} levels")
    kind = type(value)
    if kind is str and len(value) <= _SURELY_SHORT and "\0" not in value:
        if value and not value.isspace():
            values[name] = value
    # What is not finite is no number when it is taken from itself.
    elif kind is bool or (kind is float and value - value == 0.0):
        values[name] = value
    elif kind is list:
        _put_list(name, value, values, level)
    elif isinstance(value, Mapping):
        _put_all(value, f"{name}.", values, level + 1)
    elif (kept := _plain(name, value)) is not None:
        values[name] = kept
    if len(values) > MAX_FIELDS:
        raise Refused("too_many_fields", None, f"a product may have {MAX_FIELDS} fields, found more")


def _put_list(name: str, items: list[Any], values: dict[str, Any], level: int) -> None:
    if len(items) > MAX_LIST_LENGTH:
        raise Refused(
            "too_many_values", name, f"a list may have {MAX_LIST_LENGTH} values, found {len(items)}"
        )
    for item in items:
        inner: dict[str, Any] = {}
        _put(name, item, inner, level + isinstance(item, list))
        for key, value in inner.items():
            earlier = values.setdefault(key, [])
            earlier += value if isinstance(value, list) else [value]
    gathered = values.get(name)
    if gathered and any(isinstance(value, str) for value in gathered):
        values[name] = [str(value) for value in gathered]


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, str):
        _check_text(name, value)
        return value if value and not value.isspace() else None
    if isinstance(value, float) and not math.isfinite(value):
        kind = "bad_price" if "price" in name.casefold() else "bad_number"
        raise Refused(kind, name, f"a number must be finite, found {quoted(value)}")
    if isinstance(value, int) and not isinstance(value, bool) and not -_INT64 <= value < _INT64:
        return float(value)
    return value


def _check_text(name: str, text: str) -> None:
    if "\0" in text:
        raise Refused("nul_byte", name, "a text must not hold NUL bytes")
    if len(text) > _SURELY_SHORT and len(text.encode("utf-8", "surrogatepass")) > MAX_FIELD_BYTES:
        raise Refused(
            "too_long", name, f"a field may have {MAX_FIELD_BYTES} bytes, found {len(text.encode())}"
        )


@lru_cache(maxsize=10_000)
def _check_name(name: str) -> None:
    if not name.strip(". "):
        raise Refused("bad_field_name", name, "a field needs a name")
    if len(name) > MAX_NAME_LENGTH or "\0" in name:
        shown = name[:MAX_NAME_LENGTH].replace("\0", "·")
        raise Refused(
            "bad_field_name", shown, f"a field name may have {MAX_NAME_LENGTH} characters and no NUL byte"
        )
