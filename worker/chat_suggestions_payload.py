"""What a request for a product page's questions may say; types are strict and unknown names are refused."""

from __future__ import annotations

from typing import Annotated, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from worker.errors import InvalidRequest
from worker.payload import describe_errors

MAX_SUGGESTIONS = 10
"""More questions than this are a menu, and no page has room for them."""

_Identifier = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class SuggestionsPayload(BaseModel):
    """The body of `POST .../agentic-search/chat-suggestions`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    document_id: Annotated[str, StringConstraints(min_length=1, max_length=512)] = Field(
        validation_alias="documentId"
    )
    session_id: _Identifier = Field(validation_alias="sessionId")
    user_id: _Identifier = Field(validation_alias="userId")
    max_suggestions: int = Field(default=5, ge=1, le=MAX_SUGGESTIONS, validation_alias="maxSuggestions")
    min_suggestions: int = Field(default=1, ge=1, le=MAX_SUGGESTIONS, validation_alias="minSuggestions")
    context_fields: list[Annotated[str, StringConstraints(min_length=1, max_length=256)]] | None = Field(
        default=None, max_length=100, validation_alias="contextFields"
    )

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        if self.min_suggestions > self.max_suggestions:
            raise ValueError(
                f"minSuggestions is {self.min_suggestions} and maxSuggestions {self.max_suggestions};"
                " the first must not be above the second"
            )
        return self

    @property
    def asked(self) -> tuple[int, int]:
        """How few and how many questions a model is asked for: 3 to 5 unless the page wants more."""
        return max(3, self.min_suggestions), max(5, self.max_suggestions)


def read_suggestions_payload(body: bytes) -> SuggestionsPayload:
    """Read the body.

    Raises:
        InvalidRequest: Something is wrong; the message names it.
    """
    try:
        values = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(f"the body is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise InvalidRequest("the body must be a JSON object")
    try:
        return SuggestionsPayload.model_validate(values)
    except ValidationError as error:
        raise InvalidRequest(describe_errors(error, SuggestionsPayload)) from error
