"""The settings of an account and index: one typed schema, with every default in one place.

What is stored is only what was set: the account's own part under `*`, an index's part over it. A default that
changes therefore reaches every account that never touched the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from search_proxy.accounts.prompt_slots import LivePrompts
from search_proxy.accounts.validation_messages import validation_message
from search_proxy.accounts.view_gate_settings import CLOSED, ViewGateSettings

ModelName = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._/:-]+$")]
FieldName = Annotated[str, Field(min_length=1, max_length=256)]


class SettingsRefused(ValueError):
    """Settings that cannot be used; the message names the field and what it takes."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


class FeatureFlags(_Section):
    """What is switched on."""

    agentic_search: bool = True
    """Planned category searches at `agentic-search`; off answers 400."""
    converse: bool = True
    """Conversations at `agentic-search/converse`; off answers 400."""
    chat_suggestions: bool = True
    """Questions for a product page at `agentic-search/chat-suggestions`; off answers 400."""
    images: bool = True
    """Images in a conversation."""


class FilterFacets(_Section):
    """Whether the model may write filters over the index's facets."""

    enabled: bool = True
    """Off: every category is searched with the client's filter alone."""
    fields: tuple[FieldName, ...] | None = Field(default=None, max_length=100, strict=False)
    """The fields that the model may filter on; null is all of them."""


class Models(_Section):
    """Which models answer; null is the server's own choice."""

    plan: ModelName | None = None
    """Plans the categories and, where there is a second call, writes the summary."""
    fallback: ModelName | None = None
    """Asked once when the first fails before its first category."""
    suggestions: ModelName | None = None
    """Writes the questions for a product page."""


class Budgets(_Section):
    """What the model may cost; past it the catalog planner answers."""

    tokens_per_day: int | None = Field(default=None, ge=0)
    """Tokens, in and out, per UTC day; null is without limit, 0 never asks the model."""


class Tools(_Section):
    """Which tools agents are given, each by itself, over MCP, gRPC and in a conversation."""

    enabled: bool = False
    """Conversations let the model search by tools, instead of giving it search results."""
    max_steps: int = Field(default=6, ge=2, le=12)
    """Times that the model is asked in one turn; the last time it must answer."""
    max_seconds: float = Field(default=12.0, gt=0, le=25)
    """How long a turn may search by tools; past it the rules answer."""
    max_tokens: int = Field(default=60_000, ge=1_000, le=500_000)
    """Tokens, in and out, of one turn's model calls; past it the rules answer."""
    keyword_search: bool = True
    """Search by words."""
    semantic_search: bool = True
    """Search by meaning."""
    filter_documents: bool = True
    """List what a filter keeps."""
    fused_search: bool = True
    """Search by words and meaning in one page."""
    search: bool = True
    """Search many queries at once."""
    get_document: bool = True
    """Read one document."""
    read: bool = True
    """Read several documents."""
    web_search: bool = True
    """Search the open web, where a provider is set up."""
    fetch_page: bool = True
    """Read a page of the open web."""


class Reranking(_Section):
    """A better order for the first hits, sent after them when it comes in time."""

    kind: Literal["none", "http", "model"] = "none"
    """`http` is the server's cross-encoder, `model` its language model; `none` asks neither."""
    top: int = Field(default=50, ge=2, le=50)
    """How many of the best hits are ordered anew."""
    timeout_ms: int | None = Field(default=None, ge=20, le=5000)
    """How long a better order is waited for, while nothing else waits; null is the server's own time."""


class AgenticConfig(_Section):
    """How an agentic search behaves."""

    enable_summary: bool = True
    """A second model call writes a summary over the products found."""
    filter_facets: FilterFacets = FilterFacets()
    max_categories: int = Field(default=5, ge=1, le=6)
    """Categories of a search that does not say."""
    category_result_limit: int = Field(default=12, ge=1, le=100)
    """Hits per category of a search that does not say."""
    converse_max_categories: int = Field(default=4, ge=1, le=6)
    """Categories of a conversation's turn that does not say."""
    converse_category_result_limit: int = Field(default=6, ge=1, le=100)
    """Hits per category of a conversation's turn that does not say."""
    passive_context: bool = False
    """The best hits for a conversation's sentence are shown to the model before it plans."""
    short_query_words: int = Field(default=4, ge=1, le=20)
    """Queries with fewer words than this get plain hits."""
    models: Models = Models()
    budgets: Budgets = Budgets()
    tools: Tools = Tools()
    reranking: Reranking = Reranking()
    explain_hits: bool = False
    """Every hit says why it is one (`_matched`, `_excerpt`, `_reason`) where a search does not say."""
    cache_model_answers: bool = True
    """Complete model answers are kept for the sessions that `cached_query_percentage` admits."""
    log_queries: bool = False
    """What shoppers ask stands in the log as they wrote it; off, only a hash of it does."""
    keep_traces: bool = False
    """Every stage of each run is kept for a time, what was asked and what the model wrote included."""


class IndexSettings(_Section):
    """Everything that an account can set for an index."""

    feature_flags: FeatureFlags = FeatureFlags()
    agentic_config: AgenticConfig = AgenticConfig()
    cached_query_percentage: int = Field(default=100, ge=0, le=100)
    """The part of the sessions that may be given a cached answer, by a stable hash of the session."""
    view_gate: ViewGateSettings = ViewGateSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSnapshot:
    """The settings and prompts in use for one request, and the version of the settings."""

    settings: IndexSettings
    version: int
    prompts: LivePrompts = field(default_factory=LivePrompts)


class SettingsReader(Protocol):
    """Gives the settings in use, from memory, without waiting."""

    def snapshot(self, account_id: str, index: str) -> SettingsSnapshot:
        """Return the newest known settings; defaults where nothing was set."""
        ...


def checked_settings(values: Mapping[str, Any]) -> IndexSettings:
    """Return the settings that `values` set, defaults elsewhere.

    Raises:
        SettingsRefused: The message names the field, what it was, and what it takes.
    """
    try:
        return IndexSettings.model_validate(values)
    except ValidationError as error:
        raise SettingsRefused(validation_message(error, IndexSettings)) from error


def readable_settings(values: Mapping[str, Any]) -> IndexSettings:
    """Return what can be used of stored `values`: a field that this server cannot read has its default.

    While servers of two releases run side by side the older one meets fields of the newer. A view gate that
    it cannot read is closed.
    """
    remaining: dict[str, Any] = merged_settings({}, values)
    while True:
        try:
            return IndexSettings.model_validate(remaining)
        except ValidationError as error:
            for problem in error.errors(include_url=False, include_input=False):
                if problem["loc"][0] == "view_gate":
                    remaining["view_gate"] = CLOSED
                else:
                    _remove(remaining, problem["loc"])


def merged_settings(account: Mapping[str, Any], index: Mapping[str, Any]) -> dict[str, Any]:
    """Return the account's part with the index's part over it, section by section."""
    merged = dict(account)
    for name, value in index.items():
        below = merged.get(name)
        if isinstance(value, Mapping):
            merged[name] = merged_settings(below if isinstance(below, Mapping) else {}, value)
        else:
            merged[name] = value
    return {
        name: merged_settings({}, value) if isinstance(value, Mapping) else value
        for name, value in merged.items()
    }


def _remove(values: dict[str, Any], location: tuple[int | str, ...]) -> None:
    """Remove the innermost named field on the way to `location`; what is gone already stays gone."""
    section: Any = values
    for part, following in zip(location, [*location[1:], None], strict=True):
        inner = section.get(part)
        if following is None or not isinstance(inner, dict) or following not in inner:
            section.pop(part, None)
            return
        section = inner
