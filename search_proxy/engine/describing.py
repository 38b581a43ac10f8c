"""Describes an index: its fields with kinds and commonest values, and which of them names the category.

Under a filter every figure, value and field is that of the documents which pass it, and of no other.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from search_proxy.engine.columns import Array, FieldColumns
from search_proxy.engine.distinct import count_distinct
from search_proxy.engine.filtering import passing
from search_proxy.engine.snapshot import Snapshot
from search_proxy.filters import Filter
from search_proxy.models import FieldInfo, FieldKind, IndexDescription

MAX_TOP_VALUES = 50
_VALUE_ROWS = ("text_rows", "integer_rows", "float_rows", "boolean_rows")
_ROWS = (*_VALUE_ROWS, "list_rows")
_LONGEST_TOP_VALUE = 100
_CATEGORY_FIELDS = ("category", "productCollections")


def describe_snapshot(snapshot: Snapshot, index: str, wanted: Filter | None = None) -> IndexDescription:
    """Return the description of one generation, as its text lane alone has it; made once for each filter.

    Raises:
        UnknownField: The filter names a field that the index does not have.
    """
    if wanted is None:
        return snapshot.derived("description", lambda: _described(snapshot, index, snapshot.live))
    passed = passing(snapshot, wanted)
    if passed.count == snapshot.documents:
        return describe_snapshot(snapshot, index)
    return snapshot.descriptions.get(str(wanted), lambda: _described(snapshot, index, passed.mask))


def _described(snapshot: Snapshot, index: str, shown: Array) -> IndexDescription:
    fields = [
        field
        for name in sorted(snapshot.field_names)
        if (field := _describe_field(snapshot, name, shown)) is not None
    ]
    present = {field.name for field in fields}
    return IndexDescription(
        index=index,
        documents=int(shown.sum()),
        products=int(np.bincount(snapshot.products[shown], minlength=1).astype(bool).sum()),
        fields=tuple(fields),
        category_field=next((name for name in _CATEGORY_FIELDS if name in present), None),
        language=snapshot.manifest.language,
        generation=snapshot.manifest.generation,
        says_who_may_see=snapshot.says_who_may_see,
        facets=snapshot.manifest.schema.facets,
    )


def _describe_field(snapshot: Snapshot, name: str, shown: Array) -> FieldInfo | None:
    columns = snapshot.columns(name)
    counts = {
        rows: int(np.count_nonzero(shown[columns.arrays[rows]])) for rows in _ROWS if rows in columns.arrays
    }
    documents = _documents(columns, shown, counts)
    if not documents:
        return None
    kind = _kind(counts)
    numbers = _shown_numbers(columns, shown)
    top: tuple[tuple[str, int], ...] = ()
    distinct = 0
    if counts.get("text_rows"):
        codes = columns["text_codes"][shown[columns["text_rows"]]]
        frequencies = np.bincount(codes, minlength=columns.distinct_texts)
        distinct, top = int(np.count_nonzero(frequencies)), _top_values(columns, frequencies)
    if kind == "boolean":
        flags = columns["boolean_values"][shown[columns["boolean_rows"]]]
        top = tuple(
            (text, number)
            for text, number in (("true", int(flags.sum())), ("false", int((flags == 0).sum())))
            if number
        )
    return FieldInfo(
        name=name,
        kind=kind,
        documents=documents,
        distinct=distinct + _distinct(numbers) + (len(top) if kind == "boolean" else 0),
        top_values=top,
        minimum=float(numbers.min()) if len(numbers) else None,
        maximum=float(numbers.max()) if len(numbers) else None,
    )


def _documents(columns: FieldColumns, shown: Array, counts: Mapping[str, int]) -> int:
    """Return how many shown documents have a value."""
    filled = [name for name in _VALUE_ROWS if counts.get(name)]
    if len(filled) == 1 and "list_rows" not in columns.arrays:
        return counts[filled[0]]
    rows = [columns[name] for name in filled]
    return count_distinct(np.concatenate([one[shown[one]] for one in rows]), len(shown)) if rows else 0


def _shown_numbers(columns: FieldColumns, shown: Array) -> Array:
    found = [np.empty(0, np.float64)]
    for kind in ("integer", "float"):
        if f"{kind}_rows" in columns.arrays:
            chosen = shown[columns[f"{kind}_rows"]]
            found.append(columns[f"{kind}_values"][chosen].astype(np.float64))
    return found[-1] if len(found) < 3 else np.concatenate(found)


def _distinct(numbers: Array) -> int:
    # Sorting takes a fraction of what `np.unique` does, which hashes first.
    ordered = np.sort(numbers)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(len(ordered))


def _kind(counts: Mapping[str, int]) -> FieldKind:
    """Return what most of the shown values of the field are; texts in lists make it an array."""
    sizes: dict[FieldKind, int] = {
        "array" if counts.get("list_rows") else "string": counts.get("text_rows", 0),
        "number": counts.get("integer_rows", 0) + counts.get("float_rows", 0),
        "boolean": counts.get("boolean_rows", 0),
    }
    return max(sizes, key=lambda kind: sizes[kind])


def _top_values(columns: FieldColumns, counts: np.typing.NDArray[np.int64]) -> tuple[tuple[str, int], ...]:
    if not len(counts):
        return ()
    lengths = columns.dictionary.lengths()
    eligible = np.flatnonzero((counts > 0) & (lengths <= _LONGEST_TOP_VALUE))
    best = eligible[np.lexsort((eligible, -counts[eligible]))][:MAX_TOP_VALUES]
    values = [(columns.text(int(code)), int(counts[code])) for code in best]
    return tuple(sorted(values, key=lambda entry: (-entry[1], entry[0])))
