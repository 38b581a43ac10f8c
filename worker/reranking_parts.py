"""Opens the rerankers that the settings ask for: an HTTP cross-encoder, and the language model.

Only `bootstrap.py` calls this. Which of them orders an account's hits, if any, is the account's own choice.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from search_proxy.first_use import loaded
from worker.llm.breaker import CircuitBreaker
from worker.llm.language_model import LanguageModel
from worker.llm.token_budget import TokenBudget
from worker.rerank_guard import GuardedReranker
from worker.reranking_model import ModelReranker
from worker.settings import Settings


@asynccontextmanager
async def open_rerankers(
    settings: Settings, model: LanguageModel | None, budget: TokenBudget
) -> AsyncIterator[Mapping[str, GuardedReranker]]:
    """Open what there is, by its name in `agentic_config.reranking.kind`."""
    rerankers: dict[str, GuardedReranker] = {}
    async with AsyncExitStack() as stack:
        if settings.rerank_url is not None:
            key = settings.rerank_key
            encoding = await loaded("search_proxy.reranking.cross_encoder")
            config = encoding.CrossEncoderConfig(
                url=settings.rerank_url,
                model=settings.rerank_model,
                api_key=None if key is None else key.get_secret_value(),
            )
            encoder = await stack.enter_async_context(encoding.open_cross_encoder(config))
            rerankers["http"] = GuardedReranker(
                encoder, breaker=CircuitBreaker(time.monotonic), timeout_seconds=settings.rerank_http_seconds
            )
        if model is not None:
            by_model = ModelReranker(
                model, default_model=settings.model, deadlines=settings.deadlines(), budget=budget
            )
            rerankers["model"] = GuardedReranker(
                by_model,
                breaker=CircuitBreaker(time.monotonic),
                timeout_seconds=settings.rerank_model_seconds,
            )
        yield rerankers
