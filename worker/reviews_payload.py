"""What the bodies of the review routes may say."""

from __future__ import annotations

from typing import Annotated, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from worker.errors import InvalidRequest
from worker.payload import describe_errors

MAX_DOCUMENTS = 100
"""Documents of one request. Source: storefront API, reviews."""
MAX_SUMMARY_CHARACTERS = 4_000

_DocumentId = Annotated[str, StringConstraints(min_length=1, max_length=512)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ReviewDocument(_Strict):
    """`{"_id": "tent-1", "summary": "Easy to pitch; two people find it narrow."}`."""

    id: _DocumentId = Field(validation_alias="_id")
    summary: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SUMMARY_CHARACTERS)
    ]


class StoreReviews(_Strict):
    """The body of `POST .../agentic-search/reviews`."""

    documents: list[ReviewDocument] = Field(min_length=1, max_length=MAX_DOCUMENTS)


class DeleteReviews(_Strict):
    """The body of `DELETE .../agentic-search/reviews`."""

    document_ids: list[_DocumentId] = Field(
        min_length=1, max_length=MAX_DOCUMENTS, validation_alias="documentIds"
    )


_PayloadT = TypeVar("_PayloadT", bound=BaseModel)


def read_reviews_body(body: bytes, model: type[_PayloadT]) -> _PayloadT:
    """Read a body as `model`.

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
        return model.model_validate(values)
    except ValidationError as error:
        raise InvalidRequest(describe_errors(error, model)) from error
