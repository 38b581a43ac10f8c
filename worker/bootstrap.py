"""Puts the parts together. This is the only file that names concrete ones."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from cache.opening import open_cache
from conversation.opening import open_conversations
from search_proxy.accounts.open_accounts import open_account_office
from search_proxy.backends.adaptive import AdaptiveConfig, filtering_first
from search_proxy.backends.embedded import open_embedded
from search_proxy.embedding.opening import open_embedder
from search_proxy.engine.fusion import Fusion
from search_proxy.proxy import SearchProxy
from search_proxy.viewing.gates import open_view_gates
from worker.background import open_background
from worker.document_cache import CachedDocuments
from worker.image_fetching import ImageFetcher
from worker.images import ImageReader
from worker.known_questions import KnownQuestions
from worker.model_parts import open_model_parts
from worker.observe.observers import Observers, write_log_line
from worker.observe.peer_runs import answer_for_runs
from worker.observe.peers import open_peers
from worker.observe.shared_limits import open_limits
from worker.observe.worker_place import ALONE, WorkerPlace
from worker.planning.catalog_planner import CatalogPlanner
from worker.reranking_parts import open_rerankers
from worker.reviews import Reviews
from worker.reviews_store import open_review_store
from worker.run_registry import open_run_registry
from worker.services import Services
from worker.settings import Settings
from worker.tool_parts import open_toolbox
from worker.trace.traced_search import TracedSearch
from worker.trace.traces import Traces, trace_files


@asynccontextmanager
async def open_services(settings: Settings, place: WorkerPlace = ALONE) -> AsyncIterator[Services]:
    """Open every part that `settings` asks for; on leaving, close them in reverse order.

    `place` says which of a server's worker processes this one is.
    """
    async with AsyncExitStack() as stack:
        office = await stack.enter_async_context(
            open_account_office(settings.data_dir, dynamodb=settings.accounts_place(), demo=settings.demo)
        )
        embedder = stack.enter_context(open_embedder(settings.embedding_config()))
        backend = await stack.enter_async_context(
            open_embedded(settings.data_dir, embedder.embedder, Fusion(method=settings.fusion))
        )
        cache = await stack.enter_async_context(open_cache(settings.cache_config()))
        gates = await stack.enter_async_context(open_view_gates(settings.view_gate_host_list()))
        searched = filtering_first(backend, AdaptiveConfig(scope_limit=settings.scope_limit))
        search = TracedSearch(SearchProxy(CachedDocuments(searched, cache.edge), office.directory, gates))
        catalog_planner = CatalogPlanner(search)
        limits = stack.enter_context(open_limits(place))
        parts = await stack.enter_async_context(
            open_model_parts(settings, search, catalog_planner, limits.spending)
        )
        toolbox = await stack.enter_async_context(
            open_toolbox(search, office.directory, settings, parts.model)
        )
        rerankers = await stack.enter_async_context(open_rerankers(settings, parts.model, parts.budget))
        conversations = await stack.enter_async_context(open_conversations(settings.conversation_config()))
        review_store = await stack.enter_async_context(open_review_store(settings.data_dir))
        background = await stack.enter_async_context(open_background(settings.shutdown_grace_seconds / 2))
        reviews = Reviews(review_store, search, background)
        if place.is_first:
            background(reviews.resume(), name="resume-jobs")
        # Closed after the runs, so that whom a peer streams to hears how they end.
        peers = await stack.enter_async_context(open_peers(place))
        runs = await stack.enter_async_context(
            open_run_registry(
                grace_seconds=settings.run_grace_seconds, retention_seconds=settings.run_retention_seconds
            )
        )
        observers = Observers()
        observers.add("log", write_log_line)
        answer_for_runs(peers, runs)
        yield Services(
            settings=settings,
            office=office,
            accounts=office.directory,
            backend=backend,
            catalog=backend,
            search=search,
            planner=parts.planner,
            catalog_planner=catalog_planner,
            converse_planner=parts.converse_planner,
            reader=catalog_planner,
            model=parts.model,
            breakers=parts.breakers,
            budget=parts.budget,
            embedder=embedder,
            embeddings=backend,
            conversations=conversations,
            reviews=reviews,
            suggestions=parts.suggestions,
            toolbox=toolbox,
            tool_models=parts.tool_models,
            rerankers=rerankers,
            images=ImageReader(fetcher=ImageFetcher(settings.image_host_list())),
            cache=cache,
            runs=runs,
            wait_until=background,
            observers=observers,
            traces=Traces(trace_files(settings), background, settings),
            peers=peers,
            rates=limits.rates,
            questions=KnownQuestions(max_bytes=settings.answer_memory_bytes),
        )
