"""The language model as a reranker: one structured call that answers with numbers of the list, nothing else.

Products go in as fenced lines and come out as places in that list, so that nothing a model writes, or a
product's text makes it write, can be anything but an order of what was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from search_proxy.reranking.reranker import FailureKind, RerankFailed, RerankRequest
from worker.llm.deadlines import Deadlines, read_within
from worker.llm.heard_answer import HeardAnswer
from worker.llm.language_model import (
    LanguageModel,
    Message,
    ModelError,
    ModelRequest,
    sendable,
)
from worker.llm.prompts import fenced, read_prompt
from worker.llm.token_budget import TokenBudget

MAX_ORDERED = 20
"""Two rows of a page and more; every further number costs a shopper a few milliseconds."""
_MAX_ANSWER_CHARACTERS = 2_000
_MAX_QUERY_CHARACTERS = 1_000
_LIKE_RERANKERS: dict[str, FailureKind] = {
    "timeout": "timeout",
    "rate_limited": "rate_limited",
    "invalid_key": "invalid_key",
    "protocol": "protocol",
    "incomplete": "protocol",
    "budget_spent": "budget_spent",
}


class ModelReranker:
    """A `Reranker` over a language model; the caller bounds the time, the account's budget the tokens."""

    def __init__(
        self, model: LanguageModel, *, default_model: str, deadlines: Deadlines, budget: TokenBudget
    ) -> None:
        self._model = model
        self._default_model = default_model
        self._deadlines = deadlines
        self._budget = budget

    async def rerank(self, request: RerankRequest) -> Sequence[str]:
        """Return ids, best first.

        Raises:
            RerankFailed: The model failed, may not be asked, or gave no list.
        """
        if not self._budget.allows(request.account_id, request.tokens_per_day):
            raise RerankFailed("budget_spent", "the account's tokens of today are spent")
        heard = HeardAnswer(max_characters=_MAX_ANSWER_CHARACTERS, what="an order is")
        call = rerank_call(request.model or self._default_model, request)
        try:
            await read_within(self._deadlines, self._model, call, heard.take)
        except ModelError as error:
            raise RerankFailed(_LIKE_RERANKERS.get(error.kind, "unavailable"), str(error)) from error
        finally:
            self._budget.spend(request.account_id, heard.usage)
        return read_order(heard.text, [candidate.id for candidate in request.candidates])


def rerank_call(model: str, request: RerankRequest) -> ModelRequest:
    """Return the call: the products as numbered, fenced lines, then the shopper's words."""
    lines = [
        orjson.dumps([number, sendable(each.title), sendable(each.text)]).decode()
        for number, each in enumerate(request.candidates, 1)
    ]
    asked = sendable(request.query[:_MAX_QUERY_CHARACTERS])
    schema: dict[str, Any] = {"type": "array", "items": {"type": "integer"}, "maxItems": MAX_ORDERED}
    return ModelRequest(
        model=model,
        system=read_prompt("rerank"),
        messages=(
            Message(role="user", text=f"{fenced('products', chr(10).join(lines))}\n\nThe request: {asked}"),
        ),
        response_schema=schema,
        max_output_tokens=200,
    )


def read_order(text: str, ids: Sequence[str]) -> list[str]:
    """Return the ids that a model's answer names by number; a number of no product is left out.

    Raises:
        RerankFailed: It is no list, or no number in it is a product's.
    """
    try:
        values = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise RerankFailed("protocol", "the model's order is not JSON") from error
    if not isinstance(values, list):
        raise RerankFailed("protocol", "the model's order is not a list")
    order = [ids[value - 1] for value in values if type(value) is int and 1 <= value <= len(ids)]
    if not order:
        raise RerankFailed("protocol", "the model's order names none of the products")
    return order
