"""Questions for a product page: from the cache, from the small model, or from the catalog itself.

A model's questions are kept for 30 days under the product's own content, so that they change when it does.
The catalog's are never kept: they are cheap, and only true of today's stock.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import sys
from dataclasses import dataclass, field
from typing import Any

import orjson

from cache.edge_values import SUGGESTION_TIMES, Computed
from search_proxy.accounts.settings_schema import IndexSettings
from search_proxy.caller import Caller
from search_proxy.errors import DocumentNotFound, SearchError
from search_proxy.models import Document, IndexDescription
from worker.chat_suggestions_payload import SuggestionsPayload
from worker.chat_suggestions_rules import CatalogSuggestions
from worker.errors import DeadlineExceeded
from worker.llm.language_model import ModelError
from worker.llm.prompts import read_prompt
from worker.observe.completed import failure_code
from worker.observe.completion import Completion, CompletionOutcome
from worker.planning.plan import PlanRequest, TokenUsage
from worker.product_context import ProductContext, fetch_product_context
from worker.services import Services
from worker.timing import Stage, Timings

logger = logging.getLogger(__name__)

CACHE_KIND = "suggestions"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionsRequest:
    """One request for questions, checked."""

    caller: Caller
    index: str
    payload: SuggestionsPayload
    settings: IndexSettings
    description: IndexDescription


@dataclass(slots=True)
class _Facts:
    """What the completion line tells."""

    source: str = "error"
    degraded: str | None = None
    model: str | None = None
    usage: TokenUsage = TokenUsage()
    timings: Timings = field(default_factory=Timings)


class ChatSuggestions:
    """Answers one request for questions."""

    def __init__(self, services: Services, request: SuggestionsRequest) -> None:
        self._services = services
        self._request = request
        self._facts = _Facts()

    async def answer(self) -> dict[str, Any]:
        """Return the answer and log its completion.

        Raises:
            SearchError: There is no such document, or it cannot be fetched.
            DeadlineExceeded: It did not come in time.
        """
        payload = self._request.payload
        questions: tuple[str, ...] = ()
        try:
            context = await self._product()
            questions = await self._questions(context)
        finally:
            self._services.observers.observe(self._completion(len(questions), sys.exception()))
        return {
            "suggestions": list(questions[: payload.max_suggestions]),
            "documentId": payload.document_id,
            "source": self._facts.source,
        }

    async def _product(self) -> ProductContext:
        request = self._request
        try:
            with self._facts.timings.measure(Stage.PRODUCT_CONTEXT):
                context = await fetch_product_context(
                    self._services.search,
                    self._services.reviews,
                    request.caller,
                    request.index,
                    [request.payload.document_id],
                    request.payload.context_fields,
                    timeout_seconds=self._services.settings.search_timeout_seconds,
                )
        except TimeoutError as error:
            raise DeadlineExceeded("the document took too long") from error
        if not context.documents:
            raise DocumentNotFound(request.payload.document_id)
        return context

    async def _questions(self, context: ProductContext) -> tuple[str, ...]:
        if self._services.suggestions is None:
            return await self._from_catalog(context.documents[0])
        edge = self._services.cache.edge
        account_id, key = self._request.caller.account_id, self._key(context)
        with self._facts.timings.measure(Stage.CACHED_QUERY_LOOKUP):
            cached = await edge.get(account_id, CACHE_KIND, key)
        if cached is not None:
            self._facts.source = "cached"
            return tuple(orjson.loads(cached))
        found = await edge.compute_once(
            account_id, CACHE_KIND, key, lambda: self._computed(context), SUGGESTION_TIMES
        )
        if found is None:
            return await self._from_catalog(context.documents[0])
        questions = tuple(orjson.loads(found.value))
        source = "llm" if found.source == "computed" else "cached"
        if not found.is_kept:
            questions = tuple(dict.fromkeys((*questions, *await self._from_catalog(context.documents[0]))))
        self._facts.source = source
        return questions

    async def _computed(self, context: ProductContext) -> Computed | None:
        """Return what the model asks, kept unless it is too little, which the catalog then fills up."""
        try:
            questions = await self._from_model(context)
        except ModelError as error:
            self._facts.degraded = error.kind
            return None
        enough = len(questions) >= self._request.payload.min_suggestions
        return Computed(value=orjson.dumps(questions), is_kept=enough)

    async def _from_model(self, context: ProductContext) -> tuple[str, ...]:
        writer, request = self._services.suggestions, self._request
        assert writer is not None
        config = request.settings.agentic_config
        with self._facts.timings.measure(Stage.LLM_FIRST_CALL):
            written = await writer.write(
                request.caller.account_id,
                context.text,
                model=config.models.suggestions,
                asked=request.payload.asked,
                language=request.description.language,
                tokens_per_day=config.budgets.tokens_per_day,
            )
        self._facts.source = "llm"
        self._facts.usage = written.usage
        self._facts.model = config.models.suggestions or self._services.settings.suggestions_model
        return written.questions

    async def _from_catalog(self, document: Document) -> tuple[str, ...]:
        request = self._request
        self._facts.source = "catalog"
        asked = PlanRequest(caller=request.caller, index=request.index, query="", max_categories=1)
        with self._facts.timings.measure(Stage.CATALOG_PLAN):
            try:
                vocabulary = await self._services.reader.vocabulary(asked)
                rules = CatalogSuggestions(self._services.search, request.caller, request.index, vocabulary)
                return await rules.questions(document, request.payload.max_suggestions)
            except SearchError as error:
                logger.warning("catalog_suggestions_failed", extra={"reason": str(error)})
                return ()

    def _key(self, context: ProductContext) -> str:
        """Return what the questions depend on: what the model would read, and how it is asked."""
        request = self._request
        content = orjson.dumps(
            [
                context.text,
                request.payload.asked,
                request.settings.agentic_config.models.suggestions
                or self._services.settings.suggestions_model,
                read_prompt("suggestions"),
            ]
        )
        digest = hashlib.sha256(content).hexdigest()
        return f"{request.index}#{request.payload.document_id}#{request.description.language}#{digest}"

    def _completion(self, count: int, failure: BaseException | None) -> Completion:
        request, facts = self._request, self._facts
        outcome: CompletionOutcome = "degraded" if facts.degraded else "ok"
        if failure is not None:
            outcome = "canceled" if isinstance(failure, asyncio.CancelledError) else "error"
        return Completion(
            event="chat_suggestions_completed",
            request_id=request.caller.request_id,
            account=request.caller.account_id,
            index=request.index,
            document=request.payload.document_id,
            source=facts.source,
            outcome=outcome,
            error=failure_code(failure) if outcome == "error" else None,
            degraded=facts.degraded,
            model=facts.model,
            suggestions=count,
            tokens={"input": facts.usage.input, "output": facts.usage.output},
            timings=facts.timings.milliseconds(),
            starts=facts.timings.starts(),
        )
