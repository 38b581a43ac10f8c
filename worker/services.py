"""Every swappable part of the worker, typed by its Protocol."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from cache.query_cache import QueryCache
from conversation import Conversations
from search_proxy.accounts.account_office import AccountOffice
from search_proxy.accounts.directory import AccountDirectory
from search_proxy.backend import CatalogWriter, SearchBackend
from search_proxy.binding import SearchBinding
from search_proxy.embedding.background import EmbeddingEngine
from search_proxy.embedding.opening import OpenedEmbedder
from search_proxy.rate_limits import Rates
from search_proxy.tools.toolbox import Toolbox
from worker.chat_suggestions_model import SuggestionWriter
from worker.images import ImageReader
from worker.known_questions import KnownQuestions
from worker.llm.breaker import CircuitBreaker
from worker.llm.language_model import LanguageModel
from worker.llm.token_budget import TokenBudget
from worker.observe.observers import Observers
from worker.observe.peers import Peers
from worker.planning.catalog_decision import Decision
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.plan import PlanRequest
from worker.planning.planner import Planner
from worker.rerank_guard import GuardedReranker
from worker.reviews import Reviews
from worker.run_registry import RunRegistry
from worker.settings import Settings
from worker.tool_loop_model import ToolModels
from worker.trace.traces import Traces


class WaitUntil(Protocol):
    """Keeps work going after the response; drained on shutdown within a bound."""

    def __call__(self, work: Coroutine[Any, Any, None], *, name: str) -> None:
        """Start `work` in the application's group; its failure is logged, never raised."""
        ...


class QueryReader(Protocol):
    """Reads a query by rules, in well under a millisecond once an index's words are known."""

    async def read(self, request: PlanRequest) -> Decision:
        """Return the strategy, the words to search, and what the sentence demands of fields.

        Raises:
            SearchError: The index cannot be asked for its words.
        """
        ...

    async def vocabulary(self, request: PlanRequest) -> Vocabulary:
        """Return the words of the request's index as its caller may see them.

        Raises:
            SearchError: The index cannot be asked for its words.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts that one process runs with."""

    settings: Settings
    office: AccountOffice
    accounts: AccountDirectory
    backend: SearchBackend
    catalog: CatalogWriter
    search: SearchBinding
    planner: Planner
    catalog_planner: Planner
    converse_planner: Planner
    reader: QueryReader
    model: LanguageModel | None
    breakers: Mapping[str, CircuitBreaker]
    budget: TokenBudget
    embedder: OpenedEmbedder
    embeddings: EmbeddingEngine
    conversations: Conversations
    reviews: Reviews
    suggestions: SuggestionWriter | None
    toolbox: Toolbox
    tool_models: ToolModels | None
    rerankers: Mapping[str, GuardedReranker]
    images: ImageReader
    cache: QueryCache
    runs: RunRegistry
    wait_until: WaitUntil
    observers: Observers
    traces: Traces
    peers: Peers
    rates: Rates
    questions: KnownQuestions = field(default_factory=KnownQuestions)
