"""What is written once and never changed: prompt versions and audit entries."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from search_proxy.accounts.prompt_slots import PromptSlots


class PromptVersion(BaseModel):
    """One version of an index's prompt: who wrote what, and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    account_id: str
    index: str
    version: int = Field(ge=1)
    slots: PromptSlots
    author: str = Field(default="", max_length=200)
    note: str = Field(default="", max_length=1_000)
    created_at: float


class AuditEntry(BaseModel):
    """One change of an account: `version` is that of the account document it made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    account_id: str
    version: int
    at: float
    actor: str
    action: str
    target: str = ""
    detail: dict[str, Any] = Field(default_factory=dict)
