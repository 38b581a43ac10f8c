"""The settings of an account and index: one typed schema, with every default in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FeatureFlags(_Section):
    """What is switched on."""

    agentic_search: bool = True
    converse: bool = True
    chat_suggestions: bool = True


class FilterFacets(_Section):
    """Whether the model may write filters over the index's facets."""

    enabled: bool = True


class AgenticConfig(_Section):
    """How an agentic search behaves."""

    enable_summary: bool = True
    filter_facets: FilterFacets = FilterFacets()
    max_categories: int = Field(default=5, ge=1, le=6)
    category_result_limit: int = Field(default=12, ge=1, le=100)
    short_query_words: int = Field(default=4, ge=1, le=20)
    """Queries with fewer words than this get plain hits. Source: flow document, step 4."""


class IndexSettings(_Section):
    """Everything that an account can set for an index."""

    feature_flags: FeatureFlags = FeatureFlags()
    agentic_config: AgenticConfig = AgenticConfig()
    cached_query_percentage: int = Field(default=100, ge=0, le=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSnapshot:
    """The settings in use for one request, and the version they came from."""

    settings: IndexSettings
    version: int


class SettingsReader(Protocol):
    """Gives the settings in use, from memory, without waiting."""

    def snapshot(self, account_id: str, index: str) -> SettingsSnapshot:
        """Return the newest known settings; defaults where nothing was set."""
        ...
