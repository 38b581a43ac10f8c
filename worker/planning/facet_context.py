"""Tells the model what an index can be filtered by: field names, types, and top values with counts.

Taken from the index's description, never from hits, so that planning waits for no search. Bounded in
tokens, with room shared between fields, since a catalog may have hundreds.
"""

from __future__ import annotations

from search_proxy.models import FieldInfo, IndexDescription
from worker.llm.prompts import fenced

CHARACTERS_PER_TOKEN = 4
"""Good enough for a bound: real tokenizers give 3 to 5 for catalog text."""
_MAX_VALUES = 12
_MAX_VALUE = 40
_TEXT_FIELDS = frozenset({"description", "productTitle", "variantTitle", "title"})
_MAX_DISTINCT_SHARE = 0.5


def facet_context(description: IndexDescription, *, max_tokens: int = 800) -> str:
    """Return the fenced list of fields, the most widely used first; empty where no field is of use."""
    room = max_tokens * CHARACTERS_PER_TOKEN
    lines: list[str] = []
    useful = [field for field in description.fields if _is_useful(field)]
    for field in sorted(useful, key=lambda each: (each.name != description.category_field, -each.documents)):
        line = _line(field)
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return fenced("catalog_fields", "\n".join(lines)) if lines else ""


def _is_useful(field: FieldInfo) -> bool:
    if field.name.startswith("_") or field.name in _TEXT_FIELDS or not field.documents:
        return False
    if field.kind in ("number", "boolean"):
        return True
    # A field with a value of its own in every other document is an id or a text, not a facet.
    return bool(field.top_values) and field.distinct <= max(20, field.documents * _MAX_DISTINCT_SHARE)


def _line(field: FieldInfo) -> str:
    told = f"- {_one_line(field.name)} ({field.kind})"
    if field.kind == "number":
        return told + (f" from {field.minimum:g} to {field.maximum:g}" if _has_range(field) else "")
    values = [f"{_one_line(value)!r} {count}" for value, count in field.top_values[:_MAX_VALUES]]
    return f"{told}: {', '.join(values)}" if values else told


def _has_range(field: FieldInfo) -> bool:
    return field.minimum is not None and field.maximum is not None


def _one_line(text: str) -> str:
    return " ".join(str(text).split())[:_MAX_VALUE]
