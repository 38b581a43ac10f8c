"""Builds the model call that asks for a plan.

What is equal for all requests of an index comes first (prompt, format, fields, schema), then the
conversation, then the query: an equal prefix can be cached upstream.
"""

from __future__ import annotations

from worker.llm.language_model import Message, ModelRequest
from worker.llm.prompts import read_prompt
from worker.llm.search_tool import Wire, plan_functions, plan_schema
from worker.planning.plan import Interaction, PlanRequest
from worker.planning.plan_fields import MAX_EXPANSIONS

_MAX_HISTORY = 10
_MAX_QUERY = 2000
_MAX_REMEMBERED = 600


class PlanPrompt:
    """Holds the prompts' texts and writes one call from them."""

    def __init__(
        self, *, model: str, wire: Wire, max_output_tokens: int, conversational: bool = False
    ) -> None:
        self._model = model
        self._wire: Wire = wire
        self._max_output_tokens = max_output_tokens
        self._conversational = conversational
        self._base = read_prompt("base")
        self._format = read_prompt("converse" if conversational else "format")
        self._filters = read_prompt("filters")

    def write(self, request: PlanRequest, facets: str) -> ModelRequest:
        """Return the call; `facets` is empty where the model may not write filters."""
        limit = min(request.max_categories, MAX_EXPANSIONS)
        allow_filters = bool(facets)
        system = [request.system_prompt or self._base, self._format]
        if allow_filters:
            system += [self._filters, facets]
        functions = plan_functions(
            self._wire, max_expansions=limit, allow_filters=allow_filters, with_summary=self._conversational
        )
        asked = request.query[:_MAX_QUERY]
        if request.context:
            asked = f"{request.context}\n\nThe shopper says: {asked}"
        schema = None if functions else plan_schema(max_expansions=limit, allow_filters=allow_filters)
        return ModelRequest(
            model=self._model,
            system="\n\n".join(system),
            messages=(
                *(message for turn in request.history[-_MAX_HISTORY:] for message in _turn(turn)),
                Message(role="user", text=asked, images=request.images),
            ),
            response_schema=schema,
            functions=functions,
            stream_function_arguments=self._wire == "partial_args",
            max_output_tokens=self._max_output_tokens,
        )


def _turn(turn: Interaction) -> tuple[Message, Message]:
    answer = turn.summary[:_MAX_REMEMBERED] or "(products were shown)"
    return Message(role="user", text=turn.query[:_MAX_QUERY]), Message(role="model", text=answer)
