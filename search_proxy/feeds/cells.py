"""Types for the text cells of a table: numbers and booleans are told from texts by whole columns.

One cell alone cannot say whether `0095` is a number, so the first rows decide for the column. A later cell
that does not fit its column stays text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from search_proxy.feeds.columns import normalised

CellType = Literal["text", "number", "boolean"]

_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?(?:[eE][+\-]?\d{1,2})?")
_BOOLEANS = {"true": True, "false": False}
_NAMES_OF_CODES = frozenset(
    (
        *("id", "sku", "mpn", "gtin", "ean", "upc", "isbn", "asin", "barcode", "code", "number", "no"),
        *("zip", "postcode", "model", "part", "phone", "hs", "handle"),
    )
)
_LIST_MARKS = ("|", ";", ",")


def column_types(header: Sequence[str], rows: Iterable[Sequence[str]]) -> dict[str, CellType]:
    """Return the type of each column, judged by sample rows; a column of codes is always text."""
    samples: list[set[CellType]] = [set() for _ in header]
    for row in rows:
        for seen, cell in zip(samples, row, strict=False):
            if cell.strip():
                seen.add(_type_of(cell.strip()))
    return {
        name: seen.pop() if len(seen) == 1 and not _is_code(name) else "text"
        for name, seen in zip(header, samples, strict=True)
    }


def typed_row(header: Sequence[str], row: Sequence[str], types: Mapping[str, CellType]) -> dict[str, Any]:
    """Return the row's values by column, without the empty ones."""
    return {
        name: typed(cell, types[name])
        for name, cell in zip(header, row, strict=False)
        if cell and not cell.isspace()
    }


def typed(cell: str, kind: CellType) -> Any:
    """Return the cell's value where it is of that type, else its text without outer blanks."""
    text = cell.strip()
    if kind == "number" and _NUMBER.fullmatch(text):
        return int(text) if text.lstrip("-").isdecimal() else float(text)
    if kind == "boolean":
        return _BOOLEANS.get(text.casefold(), text)
    return text


def split_list(value: Any) -> list[str]:
    """Return a list's texts, or a text split at the first of `|`, `;`, `,` that it holds."""
    if isinstance(value, list):
        return [str(part) for part in value]
    mark = next((mark for mark in _LIST_MARKS if mark in str(value)), "|")
    return [part.strip() for part in str(value).split(mark) if part.strip()]


def _type_of(text: str) -> CellType:
    if _NUMBER.fullmatch(text):
        return "number"
    return "boolean" if text.casefold() in _BOOLEANS else "text"


def _is_code(name: str) -> bool:
    return not _NAMES_OF_CODES.isdisjoint(normalised(name).split("_"))
