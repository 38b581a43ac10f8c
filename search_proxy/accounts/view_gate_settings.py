"""The settings of the view gate: who checks, after ranking, what a shopper may see.

Which documents a shopper's groups open is bound at retrieval whatever stands here (docs/accounts.md); these
settings say whether a document has to name its groups, and what looks once more before hits leave.
"""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

MAX_URL_CHARACTERS = 2_048

CLOSED: dict[str, Any] = {"kind": "closed"}
"""What stands in for stored settings that cannot be read: what nobody understands lets nobody through."""


class ViewGateSettings(BaseModel):
    """Who may see which documents; the account's own keys without groups always see all of them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)

    kind: Literal["local", "http", "none", "closed"] = "local"
    """Hits are checked by the rule itself, by a permission service, or not; closed shows shoppers nothing."""
    url: str | None = Field(default=None, max_length=MAX_URL_CHARACTERS)
    """Where the permission service takes POST; https, or a host that the server's operator has listed."""
    timeout_ms: int = Field(default=300, ge=10, le=5_000)
    """How long the permission service may take; past it nothing of the page is shown."""
    cache_seconds: float = Field(default=10.0, ge=0, le=300)
    """How long an answer of the permission service holds."""
    require_field: bool = False
    """A document without `visibleTo` is shown to nobody, instead of everybody."""

    @model_validator(mode="after")
    def _is_whole(self) -> ViewGateSettings:
        if self.kind == "http" and self.url is None:
            raise ValueError("kind 'http' needs the url of the permission service")
        if self.url is not None:
            _check_url(self.url)
        return self


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"url {url[:80]!r} is not a URL") from error
    if parts.scheme not in ("http", "https") or not host or not url.isprintable() or " " in url:
        raise ValueError(f"url must be like 'https://permissions.example.com/view', not {url[:80]!r}")
    if parts.username is not None or parts.password is not None:
        raise ValueError("url must not contain a user or password")
    if parts.fragment:
        raise ValueError("url must not have a fragment")
