"""An account as it is stored: one document with its keys, settings and live prompts.

The whole document is written at once, on the condition that nobody wrote in between, so a reader sees all
of a change or nothing of it. Prompt versions and audit entries are documents of their own.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from search_proxy.accounts.origins import canonical_origin
from search_proxy.accounts.prompt_slots import LivePrompts
from search_proxy.filters import FilterSyntaxError, parse_filter

EVERY_INDEX = "*"
"""The place of what holds for all indexes of an account; an index's own values win over it."""

ACCOUNT_ID = re.compile(r"[a-z0-9]{3,32}\Z")
"""No hyphen: `{account}-{index}` is split at the first one."""

INDEX_NAME = re.compile(r"[A-Za-z_-][A-Za-z0-9_-]{0,99}\Z")

MAX_KEYS = 200
"""Keys kept per account, revoked ones included: an account is one document of bounded size."""


def _checked_filter(text: str) -> str:
    try:
        parse_filter(text)
    except FilterSyntaxError as error:
        raise ValueError(f"not a filter: {error}") from error
    return text


def _checked_index(name: str) -> str:
    if INDEX_NAME.match(name) is None:
        raise ValueError(
            f"{name!r} is not an index name: letters, digits, '_' and '-', not starting with a digit"
        )
    return name


IndexName = Annotated[str, AfterValidator(_checked_index)]
Origin = Annotated[str, AfterValidator(canonical_origin)]
Group = Annotated[str, Field(min_length=1, max_length=128)]


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KeyRights(_Stored):
    """What a key allows. An empty origin list refuses every browser of another origin.

    `operator` lets a secret key create and list accounts, its own and others; nothing else of theirs.
    """

    indexes: tuple[IndexName, ...] | None = Field(default=None, max_length=200)
    allowed_origins: tuple[Origin, ...] = Field(default=(), max_length=100)
    forced_filter: Annotated[str, AfterValidator(_checked_filter)] | None = Field(
        default=None, max_length=16_384
    )
    groups: tuple[Group, ...] = Field(default=(), max_length=100)
    requests_per_minute: int = Field(default=6_000, ge=1, le=10_000_000)
    requests_per_minute_per_address: int = Field(default=300, ge=1, le=10_000_000)
    requests_in_flight: int = Field(default=500, ge=1, le=100_000)
    expires_at: float | None = Field(default=None, gt=0)
    operator: bool = False


class KeyRecord(_Stored):
    """A key without its secret: `secret_hash` recognises it, `signing_key` checks what it has signed."""

    key_id: str
    kind: Literal["publishable", "secret"]
    label: str = Field(default="", max_length=200)
    secret_hash: str
    signing_key: str = ""
    rights: KeyRights = KeyRights()
    created_at: float
    created_by: str = ""
    revoked_at: float | None = None


class PublicAccess(_Stored):
    """Whether `x-marqo-index-id` alone, a public identifier, may read; off unless switched on."""

    enabled: bool = False
    rights: KeyRights = KeyRights()


class Account(_Stored):
    """One tenant. `version` counts writes of the document, `settings_version` those of the settings."""

    account_id: str = Field(pattern=ACCOUNT_ID.pattern.replace(r"\Z", "$"))
    name: str = Field(default="", max_length=200)
    version: int = 0
    created_at: float
    deleted: bool = False
    keys: tuple[KeyRecord, ...] = Field(default=(), max_length=MAX_KEYS)
    public_access: PublicAccess = PublicAccess()
    settings_version: int = 0
    settings: dict[str, dict[str, Any]] = Field(default_factory=dict)
    prompts: dict[str, LivePrompts] = Field(default_factory=dict)
    prompt_versions: dict[str, int] = Field(default_factory=dict)

    def key(self, key_id: str) -> KeyRecord | None:
        """Return the key of that id, or None."""
        return next((key for key in self.keys if key.key_id == key_id), None)
