"""Turns a failed validation into one sentence that names the field, the value and what would be right.

What would be right is read from the model's own JSON Schema, so the sentence cannot drift from the rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

_SHOWN_CHARACTERS = 80
"""How much of a refused value is repeated: enough to recognise it, too little to flood a log."""


def validation_message(error: ValidationError, model: type[BaseModel], *, by_alias: bool = True) -> str:
    """Return `"agentic_config.max_categories is 9; it takes an integer from 1 to 6"` for the first error.

    Further errors are counted: `" (and 2 more)"`.
    """
    errors = error.errors(include_url=False)
    first = errors[0]
    schema = model.model_json_schema(by_alias=by_alias)
    path = [part for part in first["loc"] if isinstance(part, int) or not part.startswith("function-")]
    message = _sentence(first, path, schema)
    return message if len(errors) == 1 else f"{message} (and {len(errors) - 1} more)"


def shown(value: object) -> str:
    """Return `repr(value)`, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _sentence(error: Mapping[str, Any], path: Sequence[int | str], schema: Mapping[str, Any]) -> str:
    name = ".".join(str(part) for part in path) or "the body"
    if error["type"] == "missing":
        return f"{name} is missing; it takes {_expected(schema, path)}"
    if error["type"] == "extra_forbidden":
        known = ", ".join(_properties(schema, path[:-1]))
        return f"{name} is not a known field; known here: {known}"
    if error["type"] in {"value_error", "assertion_error"}:
        return f"{name}: {str(error['ctx']['error']) if 'ctx' in error else error['msg']}"
    return f"{name} is {shown(error['input'])}; it takes {_expected(schema, path)}"


def _expected(schema: Mapping[str, Any], path: Sequence[int | str]) -> str:
    return _describe(_at(schema, path), schema)


def _properties(schema: Mapping[str, Any], path: Sequence[int | str]) -> list[str]:
    return sorted(_at(schema, path).get("properties", {}))


def _at(schema: Mapping[str, Any], path: Sequence[int | str]) -> Mapping[str, Any]:
    node = _resolved(schema, schema)
    for part in path:
        if isinstance(part, int):
            items = node.get("items") or {}
            node = _resolved(items, schema)
        elif part in node.get("properties", {}):
            node = _resolved(node["properties"][part], schema)
        elif isinstance(node.get("additionalProperties"), Mapping):
            node = _resolved(node["additionalProperties"], schema)
    return node


def _resolved(node: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = node.get("$ref")
    if isinstance(reference, str):
        found: Mapping[str, Any] = schema["$defs"][reference.rsplit("/", 1)[-1]]
        return found
    choices = [choice for choice in node.get("anyOf", []) if choice.get("type") != "null"]
    return _resolved(choices[0], schema) if len(choices) == 1 else node


def _describe(node: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if "enum" in node or "const" in node:
        values = node.get("enum", [node.get("const")])
        return f"one of {', '.join(repr(value) for value in values)}"
    if "anyOf" in node:
        return " or ".join(_describe(_resolved(choice, schema), schema) for choice in node["anyOf"])
    kind = node.get("type")
    if kind in {"integer", "number"}:
        return _number(node, "an integer" if kind == "integer" else "a number")
    if kind == "string":
        return f"text of at most {node['maxLength']} characters" if "maxLength" in node else "text"
    if kind == "array":
        most = f" of at most {node['maxItems']}" if "maxItems" in node else ""
        return f"a list{most}, each {_describe(_resolved(node.get('items', {}), schema), schema)}"
    return {"boolean": "true or false", "object": "an object", "null": "null"}.get(str(kind), "another value")


def _number(node: Mapping[str, Any], what: str) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    if low is not None and high is not None:
        return f"{what} from {low} to {high}"
    if low is not None:
        return f"{what} of at least {low}"
    if high is not None:
        return f"{what} of at most {high}"
    if "exclusiveMinimum" in node:
        return f"{what} above {node['exclusiveMinimum']}"
    return what
