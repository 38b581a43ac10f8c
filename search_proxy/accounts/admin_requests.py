"""The bodies that the admin API takes, and how one is read."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from search_proxy.accounts.account import KeyRights
from search_proxy.accounts.derived_keys import DerivedClaims
from search_proxy.accounts.errors import AccountRefused
from search_proxy.accounts.prompt_preview import MAX_QUERIES
from search_proxy.accounts.prompt_slots import PromptSlots
from search_proxy.accounts.validation_messages import validation_message

_BodyT = TypeVar("_BodyT", bound=BaseModel)


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NewAccountBody(_Body):
    """`{"account_id": "acme", "name": "Acme Outdoor"}`."""

    account_id: str
    name: str = Field(default="", max_length=200)


class NewKeyBody(_Body):
    """`{"kind": "publishable", "label": "web shop", "rights": {"allowed_origins": [...]}}`."""

    kind: Literal["publishable", "secret"]
    label: str = Field(default="", max_length=200)
    rights: KeyRights = KeyRights()


class RotateBody(_Body):
    """`{"overlap_seconds": 86400}`."""

    overlap_seconds: float = Field(default=86_400, ge=0)


class DeriveBody(DerivedClaims):
    """`{"expires": 1800000000, "filter": "...", "groups": [...]}`, signed by the calling key."""


class NewPromptBody(_Body):
    """`{"slots": {"voice": "..."}, "note": "..."}`."""

    slots: PromptSlots
    note: str = Field(default="", max_length=1_000)


class PublishBody(_Body):
    """`{"version": 3}`, or `{"version": 3, "percentage": 10}` for a part of the sessions."""

    version: int = Field(ge=1)
    percentage: float | None = Field(default=None, ge=0, le=100)


class RollBackBody(_Body):
    """`{}` for the version before, `{"version": 2}` for a certain one."""

    version: int | None = Field(default=None, ge=1)


class LintBody(_Body):
    """`{"slots": {...}}` or `{"version": 3}`."""

    slots: PromptSlots | None = None
    version: int | None = Field(default=None, ge=1)


class PreviewBody(LintBody):
    """`{"version": 3, "queries": ["warm jacket", ...]}`."""

    queries: tuple[str, ...] = Field(min_length=1, max_length=MAX_QUERIES)


async def read_body(request: Request, model: type[_BodyT]) -> _BodyT:
    """Return the request's body; an empty one is `{}`.

    Raises:
        AccountRefused: It is not what the route takes; the message names the field.
    """
    values = await read_object(request)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise AccountRefused(validation_message(error, model)) from error


async def read_object(request: Request) -> dict[str, Any]:
    """Return the request's body, a JSON object.

    Raises:
        AccountRefused: It is something else.
    """
    try:
        values = orjson.loads(await request.body() or b"{}")
    except orjson.JSONDecodeError as error:
        raise AccountRefused(f"the body is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise AccountRefused(f"the body is a JSON {type(values).__name__}; it takes an object")
    return values
