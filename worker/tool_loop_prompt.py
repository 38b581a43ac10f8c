"""What the model is told when it searches by itself: rules, a nudge towards the right tool, and the tools.

The nudge stands in the system prompt and not in a schema, where smaller models overlook it. The shop's best
hits are never put beside tools: a model takes tools over what it was handed, or counts both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from search_proxy.tools.definition import OfferedTool
from worker.converse_turn import ConverseTurn
from worker.llm.language_model import FunctionDeclaration, Message, ModelRequest
from worker.llm.prompts import read_prompt

MAX_HISTORY = 10
MAX_REMEMBERED_CHARACTERS = 600
ANSWER_TOKENS = 1200

LAST_STEP = "You have no calls left. Answer now, from what the tools have returned."

_NUDGES = (
    ("semantic_search", "a need or a description in the shopper's own words"),
    ("keyword_search", "exact words, model numbers, names, part numbers"),
    ("filter_documents", "questions that fields alone decide (brand, price, colour), and counting"),
    ("fused_search", "anything in between, where one call should do"),
    ("search", "a broad need: several wordings or several kinds of product at once"),
    ("read", "comparing a few hits in detail"),
    ("get_document", "details of one hit"),
    ("web_search", "what no product page says (manuals, compatibility, reviews); never for prices or stock"),
    ("fetch_page", "a result of web_search that looks worth reading"),
)
_MODEL_KEYWORDS = frozenset(
    {"type", "format", "title", "description", "enum", "items", "minItems", "maxItems", "minimum", "maximum"}
    | {"anyOf", "properties", "additionalProperties", "required"}
)
"""What Gemini takes of JSON Schema in a function's parameters. Source: Gemini API, function calling."""


def opening_request(turn: ConverseTurn, tools: Sequence[OfferedTool], context: str) -> ModelRequest:
    """Return the first call of a loop; its model is named by whoever asks it."""
    request = turn.request
    asked = request.agentic.query
    past = (message for told in turn.history[-MAX_HISTORY:] for message in _turn(told.query, told.summary))
    return ModelRequest(
        model="",
        system="\n\n".join(_system(request.agentic.summary_advice, tools)),
        messages=(
            *past,
            Message(
                role="user",
                text=f"{context}\n\nThe shopper says: {asked}" if context else asked,
                images=request.images,
            ),
        ),
        functions=tuple(_declaration(tool) for tool in tools),
        calling="auto",
        max_output_tokens=ANSWER_TOKENS,
    )


def tool_nudge(names: Set[str]) -> str:
    """Return which of these tools is for what, in one line each."""
    lines = [f"- `{name}`: {wanted}." for name, wanted in _NUDGES if name in names]
    return "\n".join(["Which tool to take", "", *lines])


def model_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's schema in the keywords that the model's API takes."""
    kept: dict[str, Any] = {}
    for name, value in schema.items():
        if name == "properties":
            kept[name] = {key: model_schema(one) for key, one in value.items()}
        elif name == "anyOf":
            kept[name] = [model_schema(one) for one in value]
        elif name in _MODEL_KEYWORDS:
            kept[name] = model_schema(value) if isinstance(value, Mapping) else value
    return kept


def _system(advice: str, tools: Sequence[OfferedTool]) -> Iterable[str]:
    yield read_prompt("tools")
    yield tool_nudge({tool.name for tool in tools})
    if advice:
        yield advice


def _declaration(tool: OfferedTool) -> FunctionDeclaration:
    return FunctionDeclaration(
        name=tool.name, description=tool.description, parameters=model_schema(tool.schema)
    )


def _turn(query: str, summary: str) -> tuple[Message, Message]:
    answer = summary[:MAX_REMEMBERED_CHARACTERS] or "(products were shown)"
    return Message(role="user", text=query), Message(role="model", text=answer)
