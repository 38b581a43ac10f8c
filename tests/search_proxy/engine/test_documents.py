"""What cannot be indexed is refused by name and field, and nothing of its batch is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from search_proxy.engine.catalog_writer import add_documents
from search_proxy.engine.documents import MAX_DOCUMENT_BYTES, addressable_values, prepare_document
from search_proxy.engine.snapshot import open_snapshot
from search_proxy.errors import InvalidDocument


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            {"productTitle": "x"},
            "document at position 3, field '_id': must be a string of 1 to 512 characters",
        ),
        ({"_id": 5}, "document at position 3, field '_id': must be a string of 1 to 512 characters"),
        ({"_id": ""}, "field '_id': must be a string"),
        (["a"], "document at position 3, field '.': must be an object, not list"),
        ({"_id": "a", "color": "re\x00d"}, "document 'a', field 'color': has a NUL character at 2"),
        ({"_id": "a", "co\x00lor": "red"}, "the field name has a NUL character"),
        ({"_id": "a", "": "red"}, "a field name must be a non-empty string"),
        ({"_id": "a", 5: "red"}, "document 'a', field '5': a field name must be a non-empty string"),
        (
            {"_id": "a", "price": float("nan")},
            "document 'a', field 'price': a number must be finite, not nan",
        ),
        ({"_id": "a", "sizes": [1, float("inf")]}, r"field 'sizes\[1\]': a number must be finite, not inf"),
        ({"_id": "a", "price": 2**63}, "field 'price': an integer must fit 64 bits"),
        ({"_id": "a", "deep": _nested(8)}, "is nested deeper than 8 levels"),
        ({"_id": "a", "made": object()}, "field 'made': a value must be JSON, not object"),
        ({"_id": "a", "color": "\ud800"}, "cannot be written as JSON"),
        (
            {"_id": "a", "description": "x" * 10_000_000},
            "document 'a', field 'description': the document has",
        ),
        ({"_id": "a", **{f"f{n}": 1 for n in range(1_000)}}, "has 1001 fields, more than 1000"),
    ],
)
def test_a_document_that_cannot_be_indexed_is_refused_by_name_and_field(document: Any, message: str) -> None:
    """The message says which, where and why."""
    with pytest.raises(InvalidDocument, match=message):
        prepare_document(document, 3)


def test_a_refused_document_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    """A batch is one commit: all of it or nothing."""
    folder = tmp_path / "account" / "index"
    add_documents(folder, [{"_id": "1", "color": "red"}])
    with pytest.raises(InvalidDocument):
        add_documents(folder, [{"_id": "2", "color": "blue"}, {"_id": "3", "price": float("nan")}])
    _, snapshot = open_snapshot(folder)
    assert dict(snapshot.row_by_id) == {"1": 0}


@pytest.mark.parametrize(
    "document",
    [
        {
            "_id": "a",
            "deep": _nested(6),
            "list": [{"a": [1, None, True]}],
            "none": None,
            "empty": [],
            "map": {},
        },
        {"_id": "a" * 512, "description": "x" * (MAX_DOCUMENT_BYTES - 1_000)},
        {
            "_id": "ü/%\\\n",
            "productTitle": "  ",
            "name with: (blank)": "🏕",
            "price": -(2**63),
            "tiny": 5e-324,
        },
    ],
)
def test_what_is_unusual_but_valid_is_kept_as_it_is(document: dict[str, Any], tmp_path: Path) -> None:
    """Nested values, limits and odd names come back as they were given."""
    folder = tmp_path / "account" / "index"
    add_documents(folder, [document])
    _, snapshot = open_snapshot(folder)
    assert snapshot.document(0) == document


def test_values_of_maps_are_addressed_by_dotted_names() -> None:
    """A field of that very name comes before the map that has it."""
    document = orjson.loads(
        orjson.dumps(
            {"_id": "1", "m": {"a": 1, "b": {"c": [2]}, "d": 3}, "m.d": 4, "list": ["x"], "none": None}
        )
    )
    assert dict(addressable_values(document)) == {"m.a": 1, "m.b.c": [2], "m.d": 4, "list": ["x"]}
