"""What a merchant may say to the model, slot by slot, and which version a session gets.

The versions in use travel inside the account document, so publishing one is as atomic as any setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from search_proxy.accounts.bucketing import session_percentage

_Line = Annotated[str, Field(min_length=1, max_length=300)]


class PromptSlots(BaseModel):
    """The merchant's part of the instructions. Every slot may be empty."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    voice: str = Field(default="", max_length=2_000)
    do: tuple[_Line, ...] = Field(default=(), max_length=30)
    dont: tuple[_Line, ...] = Field(default=(), max_length=30)
    category_guidance: str = Field(default="", max_length=4_000)
    banned_topics: tuple[_Line, ...] = Field(default=(), max_length=50)
    banned_claims: tuple[_Line, ...] = Field(default=(), max_length=50)
    locale: str = Field(default="", max_length=35, pattern=r"^$|^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")


class PublishedPrompt(BaseModel):
    """A version as it is used: its number and its slots."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = Field(ge=1)
    slots: PromptSlots


class Rollout(BaseModel):
    """A version that a part of the sessions gets, by the stable hash of account and session."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: PublishedPrompt
    percentage: float = Field(ge=0, le=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptInUse:
    """The merchant's part for one session; version 0 without slots is the plain base prompt."""

    version: int
    slots: PromptSlots


class LivePrompts(BaseModel):
    """The prompt versions in use for an index: the published one and one being rolled out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    published: PublishedPrompt | None = None
    rollout: Rollout | None = None

    def for_session(self, account_id: str, session_id: str | None) -> PromptInUse:
        """Return the version that the session gets; without a session, the published one."""
        rollout = self.rollout
        if (
            rollout is not None
            and session_id
            and session_percentage(account_id, session_id) < rollout.percentage
        ):
            return PromptInUse(version=rollout.prompt.version, slots=rollout.prompt.slots)
        if self.published is None:
            return NO_PROMPT
        return PromptInUse(version=self.published.version, slots=self.published.slots)


NO_PROMPT = PromptInUse(version=0, slots=PromptSlots())
