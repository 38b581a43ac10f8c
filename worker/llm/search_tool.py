"""The plan as the model is asked for it: one JSON Schema, or the functions that carry it.

The strategy stands first, since it says how every row is searched, then `query_expansions` with the query
first inside each, so that a search can start at the earliest bracket.
"""

from __future__ import annotations

from typing import Any, Literal

from worker.llm.language_model import FunctionDeclaration

EXECUTE_SEARCH = "execute_search"
SEARCH_CATEGORY = "search_category"

Wire = Literal["structured", "function_call", "parallel_calls", "partial_args"]
"""How a plan travels: JSON text, one whole call, one call per category, or a call that grows."""

_QUERY = {"type": "string", "description": "What to search for, 2 to 8 words, in the shop's language."}
_LABEL = {"type": "string", "description": "The category's label as a shopper would read it, 1 to 4 words."}
_CONFIDENCE = {"type": "number", "minimum": 0, "maximum": 1}
_FILTER = {"type": "string", "description": "A filter over the listed fields; an empty string for none."}


def plan_schema(*, max_expansions: int, allow_filters: bool, with_summary: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of a plan; `with_summary` for one that also speaks to the shopper.

    `{"strategy": "hybrid", "query_expansions": [["4 season tent", "Tents", 0.95, "season:(winter)"]]}`
    """
    row = [_QUERY, _LABEL, _CONFIDENCE, *([_FILTER] if allow_filters else [])]
    expansion = {"type": "array", "prefixItems": row, "minItems": 3, "maxItems": len(row)}
    text = {"type": "string"}
    strategies = ["metadata_only", "content_only", "hybrid", "no_match", "needs_clarification"]
    properties: dict[str, Any] = {
        "strategy": {"type": "string", "enum": strategies},
        "query_expansions": {"type": "array", "items": expansion, "maxItems": max_expansions},
        "query_complements": {"type": "array", "items": text, "maxItems": 4},
        "rewritten_query": text,
        "message": text,
    }
    properties |= {"summary": text} if with_summary else {}
    return {
        "type": "object",
        "properties": properties,
        "required": ["query_expansions"],
        "propertyOrdering": list(properties),
    }


def plan_functions(
    wire: Wire, *, max_expansions: int, allow_filters: bool, with_summary: bool = False
) -> tuple[FunctionDeclaration, ...]:
    """Return the functions that carry a plan on that wire; none for JSON text."""
    if wire == "structured":
        return ()
    if wire == "parallel_calls":
        properties: dict[str, Any] = {"query": _QUERY, "label": _LABEL, "confidence": _CONFIDENCE}
        properties |= {"filter": _FILTER} if allow_filters else {}
        parameters = {
            "type": "object",
            "properties": properties,
            "required": ["query", "label", "confidence"],
        }
        told = f"Search one category. Call it once per category, at most {max_expansions} times, best first."
        return (FunctionDeclaration(name=SEARCH_CATEGORY, description=told, parameters=parameters),)
    schema = plan_schema(
        max_expansions=max_expansions, allow_filters=allow_filters, with_summary=with_summary
    )
    told = "Search the shop for every category that answers the shopper's request."
    return (FunctionDeclaration(name=EXECUTE_SEARCH, description=told, parameters=schema),)
