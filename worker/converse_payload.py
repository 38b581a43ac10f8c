"""What a conversation's turn may say, and how its two ways in are read.

GET carries `payload=` with base64 JSON or plain parameters, POST carries JSON with room for five images.
Whatever is wrong is a 400 (413 for size) that names the parameter (docs/wire-format.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from worker.errors import InvalidRequest
from worker.payload import MAX_QUERY_CHARACTERS, clean_query, decode_base64, describe_errors

MAX_BODY_BYTES = 12 * 1024 * 1024
"""Five images, as base64, and the question."""
MAX_DOCUMENTS = 20
"""Products that one question can be about; a comparison has three or four."""

_TRANSPORT_PARAMETERS = {"payload", "indexId"}
_NUMBERS = {"categoryResultLimit", "maxCategories"}
_LISTS = {"attributesToRetrieve", "documentIds", "contextFields", "imageUrls", "images"}
_Identifier = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_DocumentId = Annotated[str, StringConstraints(min_length=1, max_length=512)]
_FieldName = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class ConversePayload(BaseModel):
    """The parameters of a turn; None where the account's default applies."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    q: str
    session_id: _Identifier | None = Field(default=None, validation_alias="sessionId")
    user_id: _Identifier | None = Field(default=None, validation_alias="userId")
    conversation_id: _Identifier | None = Field(default=None, validation_alias="conversationId")
    category_result_limit: int | None = Field(
        default=None, ge=1, le=100, validation_alias="categoryResultLimit"
    )
    max_categories: int | None = Field(default=None, ge=1, validation_alias="maxCategories")
    filter: str | None = None
    attributes_to_retrieve: list[_FieldName] | None = Field(
        default=None, max_length=200, validation_alias="attributesToRetrieve"
    )
    document_ids: list[_DocumentId] = Field(
        default_factory=list, max_length=MAX_DOCUMENTS, validation_alias="documentIds"
    )
    context_fields: list[_FieldName] | None = Field(
        default=None, max_length=100, validation_alias="contextFields"
    )
    image_urls: list[str] = Field(default_factory=list, max_length=100, validation_alias="imageUrls")
    images: list[str] = Field(default_factory=list, max_length=100)

    @model_validator(mode="after")
    def _check_query(self) -> Self:
        if len(self.q) > MAX_QUERY_CHARACTERS:
            raise ValueError(f"q has {len(self.q)} characters; at most {MAX_QUERY_CHARACTERS} are allowed")
        if not clean_query(self.q):
            raise ValueError("q must not be empty")
        return self


def read_converse_parameters(parameters: Mapping[str, str]) -> ConversePayload:
    """Read a GET request: `payload=`, or plain parameters with lists as JSON arrays.

    Raises:
        InvalidRequest: Something is wrong; the message names it.
        PayloadTooLarge: The payload decodes to more than 64 KiB.
    """
    if "payload" in parameters:
        beside = sorted(set(parameters) - _TRANSPORT_PARAMETERS)
        if beside:
            raise InvalidRequest(f"give either payload or plain parameters, not both: found {beside[0]!r}")
        return read_converse_json(decode_base64(parameters["payload"]))
    given = {name: text for name, text in parameters.items() if name not in _TRANSPORT_PARAMETERS}
    return _validate({name: _typed(name, text) for name, text in given.items()})


def read_converse_json(body: bytes) -> ConversePayload:
    """Read a JSON object, which has been checked for its size.

    Raises:
        InvalidRequest: Something is wrong; the message names it.
    """
    try:
        values = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(f"the payload is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise InvalidRequest("the payload must be a JSON object")
    if set(values) == {"payload"} and isinstance(values["payload"], str):
        return read_converse_json(decode_base64(values["payload"]))
    return _validate(values)


def _typed(name: str, text: str) -> Any:
    """Turn a query parameter into the JSON value it stands for; unknown names are refused later."""
    if name in _NUMBERS:
        try:
            return int(text)
        except ValueError:
            raise InvalidRequest(f"{name} must be a whole number, not {text[:80]!r}") from None
    if name in _LISTS:
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise InvalidRequest(f'{name} must be a JSON array of strings, such as ["a"]') from error
    return text


def _validate(values: dict[str, Any]) -> ConversePayload:
    try:
        return ConversePayload.model_validate(values)
    except ValidationError as error:
        raise InvalidRequest(describe_errors(error, ConversePayload)) from error
