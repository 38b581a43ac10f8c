"""What a plan is made of, as it arrives: one event per finished part.

A planner pushes these in the order in which they become known, whatever wire or rule they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from search_proxy.caller import Caller
from search_proxy.filters import Filter

if TYPE_CHECKING:
    # A model's events carry the token counts of this file; at run time only one can import the other.
    from worker.llm.language_model import InlineImage


class Strategy(StrEnum):
    """How a query is answered; exactly one per query. Source: design, strategies."""

    METADATA_ONLY = "metadata_only"
    CONTENT_ONLY = "content_only"
    HYBRID = "hybrid"
    NO_MATCH = "no_match"
    NEEDS_CLARIFICATION = "needs_clarification"


class PlanSource(StrEnum):
    """Where a plan came from; the `source` of the receipt and of the log line."""

    LLM = "llm"
    CACHED = "cached"
    SHORT_QUERY_BYPASS = "short_query_bypass"
    CATALOG = "catalog"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryExpansion:
    """One category to search: `[query, label, confidence, filter?]` of the plan.

    `confidence` is 0..1. `filter` is the agent's own part, as text, not yet trusted.
    """

    query: str
    label: str
    confidence: float
    filter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryComplement:
    """A follow-up query to offer."""

    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryDelta:
    """A piece of the plan's own summary text, or of its message in a conversation."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDecision:
    """Fields of the plan that stand beside its expansions; a later event replaces an earlier one."""

    strategy: Strategy | None = None
    rewritten_query: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDegraded:
    """The model did not finish the job and the rules took over; `reason` is for receipt and log."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionsComplete:
    """`model` will add no further expansion; other parts of its plan may still follow."""

    model: str


PlanEvent = QueryExpansion | QueryComplement | SummaryDelta | PlanDecision | PlanDegraded | ExpansionsComplete
Emit = Callable[[PlanEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """One past turn of a conversation, as the model may see it: the query and our compact summary."""

    query: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens of one model call, as the model counted them."""

    input: int = 0
    output: int = 0
    thoughts: int = 0
    cached: int = 0


def ignored_usage(usage: TokenUsage) -> None:
    """Let counts go that nobody keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What a planner is asked.

    `client_filter` already binds every search (the caller's forced filter too, inside `caller`); the
    planner may look at it but its own filters are merged later, by the flow.
    """

    caller: Caller
    index: str
    query: str
    max_categories: int
    client_filter: Filter | None = None
    allow_filters: bool = True
    history: tuple[Interaction, ...] = ()
    system_prompt: str | None = None
    """The account's compiled prompt; None for the base prompt."""
    filter_fields: tuple[str, ...] | None = None
    """The fields that filters may name; None is all of them."""
    models: tuple[str, ...] = ()
    """The account's own chain of models; empty is the server's."""
    tokens_per_day: int | None = None
    """The account's own budget; None is the server's."""
    announce_complete: bool = False
    """Emit `ExpansionsComplete`, so that what waits for the expansions alone can begin."""
    context: str = ""
    """Fenced data that the question is about, such as the product of a page."""
    images: tuple[InlineImage, ...] = ()
    """Pictures sent with the question, checked and small."""
    note_usage: Callable[[TokenUsage], None] = field(default=ignored_usage, compare=False, repr=False)
    """Told what has been used so far, since a plan that is given up has no report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReport:
    """How planning went, known when it has ended."""

    source: PlanSource
    model: str | None = None
    usage: TokenUsage = TokenUsage()
    warnings: tuple[str, ...] = ()
    complete: bool = True
    """False where something failed on the way, so that the answer must not be cached."""
    details: Mapping[str, Any] = field(default_factory=dict)
