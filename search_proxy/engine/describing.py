"""Describes an index: its fields with kinds and commonest values, and which of them names the category.

Under a filter every figure, value and field is that of the documents which pass it, and of no other.
"""

from __future__ import annotations

import numpy as np

from search_proxy.engine.columns import Array, FieldColumns
from search_proxy.engine.filtering import passing
from search_proxy.engine.snapshot import Snapshot
from search_proxy.filters import Filter
from search_proxy.models import FieldInfo, FieldKind, IndexDescription

MAX_TOP_VALUES = 50
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
    documents = _documents(columns, shown)
    if not documents:
        return None
    kind = _kind(columns, shown)
    numbers = np.concatenate(
        [
            columns["integer_values"][shown[columns["integer_rows"]]].astype(np.float64),
            columns["float_values"][shown[columns["float_rows"]]],
        ]
    )
    codes = columns["text_codes"][shown[columns["text_rows"]]]
    counts = np.bincount(codes, minlength=columns.distinct_texts)
    top = _top_values(columns, counts)
    if kind == "boolean":
        flags = columns["boolean_values"][shown[columns["boolean_rows"]]]
        top = tuple(
            (text, number)
            for text, number in (("true", int(flags.sum())), ("false", int((flags == 0).sum())))
            if number
        )
    distinct = int((counts > 0).sum())
    return FieldInfo(
        name=name,
        kind=kind,
        documents=documents,
        distinct=distinct + _distinct(numbers) + (len(top) if kind == "boolean" else 0),
        top_values=top,
        minimum=float(numbers.min()) if len(numbers) else None,
        maximum=float(numbers.max()) if len(numbers) else None,
    )


def _documents(columns: FieldColumns, shown: Array) -> int:
    has_value = np.zeros(len(shown), bool)
    for name in ("text_rows", "integer_rows", "float_rows", "boolean_rows"):
        has_value[columns[name]] = True
    return int((has_value & shown).sum())


def _distinct(numbers: Array) -> int:
    # Sorting takes a fraction of what `np.unique` does, which hashes first.
    ordered = np.sort(numbers)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(len(ordered))


def _kind(columns: FieldColumns, shown: Array) -> FieldKind:
    """Return what most of the shown values of the field are; texts in lists make it an array."""

    def count(*names: str) -> int:
        return sum(int(shown[columns[name]].sum()) for name in names)

    sizes: dict[FieldKind, int] = {
        "array" if count("list_rows") else "string": count("text_rows"),
        "number": count("integer_rows", "float_rows"),
        "boolean": count("boolean_rows"),
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
