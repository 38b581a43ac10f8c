"""What an agentic request may say, and how each of its four ways in is read.

GET carries plain query parameters, or `payload=` with base64 JSON; POST carries JSON, or `{"payload": ...}`.
Whatever is wrong is a 400 (413 for size) that names the parameter (docs/wire-format.md).
"""

from __future__ import annotations

import base64
import binascii
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, Self

import orjson
from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from worker.errors import InvalidRequest, PayloadTooLarge

MAX_PAYLOAD_BYTES = 64 * 1024
MAX_QUERY_CHARACTERS = 1000
"""A long spoken sentence has some 400 characters; beyond this it is not a shopper's query."""
MAX_CATEGORIES = 6
"""At most this many category searches at once. Source: flow document, step 7."""

_TRANSPORT_PARAMETERS = {"payload", "indexId"}
_Identifier = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class AgenticPayload(BaseModel):
    """The parameters of an agentic search; None where the account's default applies."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)

    q: str
    category_result_limit: int | None = Field(
        default=None,
        ge=1,
        le=100,
        validation_alias=AliasChoices("categoryResultLimit", "agenticSearchLimit"),
    )
    max_categories: int | None = Field(default=None, ge=1, validation_alias="maxCategories")
    clickable_summary: bool = Field(default=True, validation_alias="clickableSummary")
    suggest_filters: bool = Field(default=False, validation_alias="suggestFilters")
    explain_hits: bool | None = Field(default=None, validation_alias="explainHits")
    reranked_hits: bool = Field(default=True, validation_alias="rerankedHits")
    search_settings: dict[str, Any] | None = Field(default=None, validation_alias="searchSettings")
    filter: str | None = None
    user_id: _Identifier | None = Field(default=None, validation_alias="userId")
    session_id: _Identifier | None = Field(default=None, validation_alias="sessionId")
    enable_conversation: bool | None = Field(default=None, validation_alias="enableConversation")
    conversation_id: _Identifier | None = Field(default=None, validation_alias="conversationId")

    @property
    def converses(self) -> bool:
        """Whether the answer is a turn of a conversation; an id alone says so too."""
        if self.enable_conversation is None:
            return self.conversation_id is not None
        return self.enable_conversation

    @model_validator(mode="after")
    def _check_query(self) -> Self:
        if len(self.q) > MAX_QUERY_CHARACTERS:
            raise ValueError(f"q has {len(self.q)} characters; at most {MAX_QUERY_CHARACTERS} are allowed")
        if not clean_query(self.q):
            raise ValueError("q must not be empty")
        if "\ufffd" in self.q:
            raise ValueError("q is not valid UTF-8")
        return self


def clean_query(text: str) -> str:
    """Return the query as it is searched: NFC, control characters as spaces, blanks collapsed."""
    if text.isprintable():
        # No control character and no line separator is printable.
        return " ".join(unicodedata.normalize("NFC", text).split())
    plain = "".join(
        " " if unicodedata.category(character) in {"Cc", "Zl", "Zp"} else character for character in text
    )
    return " ".join(unicodedata.normalize("NFC", plain).split())


def read_query_parameters(parameters: Mapping[str, str]) -> AgenticPayload:
    """Read a GET request: `payload=`, or plain parameters with `searchSettings` as a JSON string.

    Raises:
        InvalidRequest: Something is wrong; the message names it.
        PayloadTooLarge: The payload is over its limit.
    """
    if "payload" in parameters:
        beside = sorted(set(parameters) - _TRANSPORT_PARAMETERS)
        if beside:
            raise InvalidRequest(f"give either payload or plain parameters, not both: found {beside[0]!r}")
        return read_json(decode_base64(parameters["payload"]))
    values: dict[str, Any] = {}
    for name, text in parameters.items():
        if name not in _TRANSPORT_PARAMETERS:
            values[name] = _typed(name, text)
    return _validate(values)


def read_json(body: bytes) -> AgenticPayload:
    """Read a JSON body, or one that only wraps a base64 `payload`.

    Raises:
        InvalidRequest: Something is wrong; the message names it.
        PayloadTooLarge: The body is over its limit.
    """
    values = _json_object(body, "the payload")
    if set(values) == {"payload"} and isinstance(values["payload"], str):
        values = _json_object(decode_base64(values["payload"]), "the payload")
    return _validate(values)


def decode_base64(text: str) -> bytes:
    """Decode base64 or base64url, padding optional.

    Raises:
        InvalidRequest: It is neither.
        PayloadTooLarge: It decodes to more than 64 KiB.
    """
    # A plus sign that was not percent-encoded arrives as a blank.
    compact = text.strip().replace(" ", "+").replace("-", "+").replace("_", "/").rstrip("=")
    if len(compact) * 3 // 4 > MAX_PAYLOAD_BYTES:
        raise PayloadTooLarge(f"payload decodes to more than {MAX_PAYLOAD_BYTES} bytes")
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest(f"payload is not base64 or base64url: {error}") from error


def _json_object(body: bytes, what: str) -> dict[str, Any]:
    if len(body) > MAX_PAYLOAD_BYTES:
        raise PayloadTooLarge(f"{what} has {len(body)} bytes; at most {MAX_PAYLOAD_BYTES} are allowed")
    try:
        values = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(f"{what} is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise InvalidRequest(f"{what} must be a JSON object, not {_json_kind(values)}")
    return values


def _typed(name: str, text: str) -> Any:
    """Turn a query parameter into the JSON value it stands for; unknown names are refused later."""
    if name in {"categoryResultLimit", "agenticSearchLimit", "maxCategories"}:
        try:
            return int(text)
        except ValueError:
            raise InvalidRequest(f"{name} must be a whole number, not {text!r}") from None
    if name in {"clickableSummary", "suggestFilters", "explainHits", "rerankedHits", "enableConversation"}:
        if text.lower() not in {"true", "false", "1", "0"}:
            raise InvalidRequest(f"{name} must be true or false, not {text!r}")
        return text.lower() in {"true", "1"}
    if name == "searchSettings":
        return _json_object(text.encode(errors="surrogatepass"), "searchSettings")
    return text


def _validate(values: dict[str, Any]) -> AgenticPayload:
    if "categoryResultLimit" in values and "agenticSearchLimit" in values:
        raise InvalidRequest(
            "agenticSearchLimit is an old name of categoryResultLimit; give only one of them"
        )
    try:
        return AgenticPayload.model_validate(values)
    except ValidationError as error:
        raise InvalidRequest(describe_errors(error, AgenticPayload)) from error


def describe_errors(error: ValidationError, model: type[BaseModel]) -> str:
    """Return one sentence per problem: where, what, and for an unknown name what is known."""
    sentences = []
    for problem in error.errors(include_url=False)[:5]:
        where = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            sentences.append(f"{where!r} is not a parameter; known are {', '.join(wire_names(model))}")
        elif problem["type"] == "missing":
            sentences.append(f"{where} is required")
        elif problem["type"] == "value_error":
            sentences.append(str(problem["ctx"]["error"]))
        else:
            shown = repr(problem["input"])
            shown = shown if len(shown) <= 80 else f"{shown[:80]}..."
            sentences.append(f"{where}: {problem['msg'].lower()}, not {shown}")
    return "; ".join(sentences)


def wire_names(model: type[BaseModel]) -> list[str]:
    """Return the model's parameter names as clients write them."""
    names = []
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        if isinstance(alias, AliasChoices):
            names += [str(choice) for choice in alias.choices]
        else:
            names.append(str(alias or name))
    return names


def _json_kind(value: object) -> str:
    kinds = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")
