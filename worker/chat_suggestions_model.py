"""Asks the small model for a product page's questions: one call, a strict JSON list, nothing else taken.

What comes back is a stranger's text: each question is one plain line of bounded length, without markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import orjson

from worker.llm.breaker import CircuitBreaker
from worker.llm.deadlines import Deadlines, read_within
from worker.llm.heard_answer import HeardAnswer
from worker.llm.language_model import (
    LanguageModel,
    Message,
    ModelError,
    ModelRequest,
    sendable,
)
from worker.llm.prompts import read_prompt
from worker.llm.token_budget import TokenBudget
from worker.planning.plan import TokenUsage

MAX_QUESTION_CHARACTERS = 140
_MAX_ANSWER_CHARACTERS = 8_000
_MARKUP = re.compile(r"[\[\]<>{}`*\\|]|https?://\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The questions of one call, and what it cost."""

    questions: tuple[str, ...]
    usage: TokenUsage


class SuggestionWriter:
    """Writes questions with a model; a model that keeps failing is left alone for a while."""

    def __init__(
        self,
        model: LanguageModel,
        *,
        default_model: str,
        deadlines: Deadlines,
        budget: TokenBudget,
        breakers: MutableMapping[str, CircuitBreaker],
        new_breaker: Callable[[], CircuitBreaker],
    ) -> None:
        self.default_model = default_model
        self._model = model
        self._deadlines = deadlines
        self._budget = budget
        self._breakers = breakers
        self._new_breaker = new_breaker

    async def write(
        self,
        account_id: str,
        context: str,
        *,
        model: str | None,
        asked: tuple[int, int],
        language: str,
        tokens_per_day: int | None,
    ) -> Written:
        """Return at least one question about the products in `context`.

        Raises:
            ModelError: The model failed, may not be asked, or gave no list of questions.
        """
        name = model or self.default_model
        if not self._budget.allows(account_id, tokens_per_day):
            raise ModelError("budget_spent", "the account's tokens of today are spent")
        breaker = self._breakers.get(name)
        if breaker is None:
            breaker = self._breakers[name] = self._new_breaker()
        if not breaker.allow():
            raise ModelError("breaker_open", f"{name} has been failing")
        heard = HeardAnswer(max_characters=_MAX_ANSWER_CHARACTERS, what="questions are")
        tell: Callable[[], None] = breaker.released
        try:
            request = suggestion_call(name, context, asked=asked, language=language)
            await read_within(self._deadlines, self._model, request, heard.take)
            questions = read_questions(heard.text, asked[1])
            tell = breaker.succeeded
            return Written(questions=questions, usage=heard.usage)
        except ModelError as error:
            kind = error.kind
            tell = lambda: breaker.failed(kind)  # noqa: E731
            raise
        finally:
            tell()
            self._budget.spend(account_id, heard.usage)


def suggestion_call(model: str, context: str, *, asked: tuple[int, int], language: str) -> ModelRequest:
    """Return the call that asks for questions about what stands in `context`."""
    low, high = asked
    schema: Mapping[str, Any] = {
        "type": "array",
        "items": {"type": "string"},
        "minItems": low,
        "maxItems": high,
    }
    wanted = f"Write {low} to {high} questions, in the language of the product's text ({language})."
    return ModelRequest(
        model=model,
        system=read_prompt("suggestions"),
        messages=(Message(role="user", text=f"{context}\n\n{wanted}"),),
        response_schema=schema,
        max_output_tokens=400,
    )


def read_questions(text: str, limit: int) -> tuple[str, ...]:
    """Return the questions of a model's answer: the usable strings of one JSON list, each once.

    Raises:
        ModelError: It is no list, or no string in it is usable.
    """
    try:
        values = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ModelError("protocol", f"the questions are not JSON: {error}") from error
    if not isinstance(values, list):
        raise ModelError("protocol", "the questions are not a JSON list")
    questions: dict[str, str] = {}
    for value in values:
        question = _question(value)
        if question:
            questions.setdefault(question.casefold(), question)
    if not questions:
        raise ModelError("protocol", "none of the questions can be used")
    return tuple(questions.values())[:limit]


def _question(value: object) -> str:
    if not isinstance(value, str):
        return ""
    plain = " ".join(_MARKUP.sub("", sendable(value)).split())
    return plain if 3 <= len(plain) <= MAX_QUESTION_CHARACTERS else ""
