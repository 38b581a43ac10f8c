"""What one answer has become so far: kept for its receipt, its log line and its cache entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from search_proxy.models import SearchRequest, SearchResult
from worker.category_search import CategoryHits
from worker.planning.plan import PlanDecision, PlanReport, PlanSource, QueryExpansion, TokenUsage
from worker.request import AgenticRequest
from worker.rerank_report import RerankReport
from worker.run import Outcome
from worker.summary_request import SummaryReport
from worker.timing import Timings


@dataclass(slots=True, kw_only=True)
class Answer:
    """The parts of an answer as they come in; filled by the flow, read at its end."""

    request: AgenticRequest
    run_id: str
    timings: Timings = field(default_factory=Timings)
    source: PlanSource = PlanSource.CATALOG
    initial: SearchResult | None = None
    searched: SearchRequest | None = None
    """The search that `initial` answers."""
    reranking: RerankReport | None = None
    categories: list[CategoryHits] = field(default_factory=list)
    complements: list[str] = field(default_factory=list)
    plan_summary: list[str] = field(default_factory=list)
    summary: list[str] = field(default_factory=list)
    decision: PlanDecision = field(default_factory=PlanDecision)
    degraded: str | None = None
    plan_report: PlanReport | None = None
    plan_usage: TokenUsage = TokenUsage()
    """What planning has used so far; its report says the same in the end."""
    summary_report: SummaryReport | None = None
    summary_usage: TokenUsage = TokenUsage()
    expansions: list[QueryExpansion] = field(default_factory=list)
    cache: Mapping[str, Any] | None = None
    cache_tier: str | None = None
    conversation_id: str | None = None
    turn: int | None = None
    tool_calls: list[Mapping[str, Any]] | None = None
    warnings: list[str] = field(default_factory=list)
    outcome: Outcome = Outcome.ERROR
    error: str | None = None

    def note_plan_usage(self, usage: TokenUsage) -> None:
        """Note what planning has used so far."""
        self.plan_usage = usage

    def note_summary_usage(self, usage: TokenUsage) -> None:
        """Note what the summary has used so far."""
        self.summary_usage = usage

    def tokens(self) -> dict[str, int]:
        """Return what both model calls used, together."""
        planned = self.plan_report.usage if self.plan_report else self.plan_usage
        written = self.summary_report.usage if self.summary_report else self.summary_usage
        return {
            "input": planned.input + written.input,
            "output": planned.output + written.output,
            "thoughts": planned.thoughts + written.thoughts,
            "cached": planned.cached + written.cached,
        }

    def receipt(self) -> dict[str, Any]:
        """Return the receipt that the last delta carries. Source: docs/wire-format.md."""
        return {
            "runId": self.run_id,
            "source": self.source.value,
            "strategy": self.decision.strategy.value if self.decision.strategy else None,
            "promptVersion": self.request.prompt.version,
            "settingsVersion": self.request.settings_version,
            "cacheTier": self.cache_tier,
            "cache": self.cache,
            "model": self.plan_report.model if self.plan_report else None,
            "timings": self.timings.milliseconds(),
            "tokens": self.tokens(),
            "warnings": self.all_warnings(),
            **({"withheld": withheld} if (withheld := self.withheld()) else {}),
            **self._retrieved(),
            **({} if self.reranking is None else {"reranking": self.reranking.to_wire()}),
            **({} if self.tool_calls is None else {"tools": self.tool_calls}),
            **self._conversation(),
        }

    def _retrieved(self) -> dict[str, Any]:
        """Return how the first hits were found, where there is something to say."""
        found = self.initial
        facts: dict[str, Any] = {}
        if found is not None and found.retrieval is not None:
            facts["retrieval"] = found.retrieval.to_wire()
        if found is not None and found.below_floor is not None:
            facts["belowFloor"] = found.below_floor
        return facts

    def _conversation(self) -> dict[str, Any]:
        if self.conversation_id is None:
            return {}
        return {"conversationId": self.conversation_id, "turn": self.turn}

    def all_warnings(self) -> list[str]:
        """Return what went less than well, for people who look closely."""
        planned = self.plan_report.warnings if self.plan_report else ()
        written = self.summary_report.warnings if self.summary_report else ()
        degraded = [f"degraded: {self.degraded}"] if self.degraded else []
        return [*degraded, *planned, *written, *self.warnings]

    def withheld(self) -> int:
        """Return how many hits the view gate took out of the searches of this answer."""
        return (self.initial.withheld if self.initial else 0) + sum(one.withheld for one in self.categories)

    def ungrounded_links(self) -> int:
        """Return how many links of the summary named a product that this stream did not send."""
        return self.summary_report.ungrounded_links if self.summary_report else 0
