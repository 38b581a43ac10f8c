"""The flow of one conversation turn: its id at once, then history, answer, commit, receipt, the end.

The output gate: the turn is committed before the receipt and the end of the stream, so an end that was seen
is durable. A turn that is stopped keeps what it had said (docs/conversations.md).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from search_proxy.errors import SearchError
from worker.answer import Answer
from worker.converse_by_model import answer_by_model
from worker.converse_by_rules import answer_by_rules
from worker.converse_memory import LAST_WORDS_SECONDS, ConversationMemory, told_as_ours
from worker.converse_request import ConverseRequest
from worker.converse_stream import ConverseStream
from worker.converse_turn import ConverseTurn, about_documents
from worker.errors import UpstreamFailed
from worker.observe.completed import answer_completed
from worker.observe.completion import hashed
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.plan import PlanRequest, PlanSource
from worker.planning.thread_rules import decide_turn
from worker.planning.thread_state import ThreadState
from worker.product_context import ProductContext, fetch_product_context
from worker.run import Outcome, Run
from worker.services import Services
from worker.timing import Stage
from worker.tool_loop_turn import answer_by_tools

_COMMIT_SECONDS = 15.0
"""Longer than a commit waits for the turns before it; storage has shorter bounds of its own."""


class Converse:
    """One turn being made; `__call__` is the work of its run."""

    def __init__(self, services: Services, request: ConverseRequest, run: Run) -> None:
        self._services = services
        self._request = request
        self.answer = Answer(request=request.agentic, run_id=run.id, source=PlanSource.CATALOG)
        self._stream = ConverseStream(services, request, self.answer, run)
        self._memory: ConversationMemory | None = None
        self._thread: Callable[[], ThreadState] = ThreadState
        run.speak_converse()

    async def __call__(self, run: Run) -> None:
        """Make the turn and log its completion, however it ends.

        Raises:
            WorkerError: There is no such conversation, or nothing could be answered.
        """
        agentic, answer = self._request.agentic, self.answer
        try:
            with told_as_ours():
                async with self._services.conversations.turn(
                    agentic.caller.account_id, agentic.conversation_id
                ) as turn:
                    self._memory = ConversationMemory(turn, answer)
                    run.conversation_id = turn.conversation_id
                    self._stream.begin(turn.conversation_id)
                    await self._make(self._memory)
        finally:
            self._services.observers.observe(
                answer_completed("converse_completed", answer, run, sys.exception(), **self._facts())
            )

    async def _make(self, memory: ConversationMemory) -> None:
        answer = self.answer
        patience = LAST_WORDS_SECONDS
        try:
            async with asyncio.timeout(self._services.settings.run_total_seconds):
                await self._answer(memory)
            answer.outcome = Outcome.DEGRADED if answer.degraded else Outcome.OK
            patience = _COMMIT_SECONDS
        except asyncio.CancelledError:
            answer.outcome = Outcome.CANCELED
            raise
        except TimeoutError:
            answer.error = "deadline_exceeded"
            self._stream.fail("deadline_exceeded", "the answer took too long", "run")
        finally:
            # Whatever ended the turn, the end of the stream follows: what was said is kept before it.
            await self._keep(memory, patience)
            self._stream.close(answer.receipt())

    async def _answer(self, memory: ConversationMemory) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(memory.load(), name="load-conversation")
            fetching = group.create_task(self._product_context(), name="product-context")
            reading = group.create_task(self._vocabulary(), name="vocabulary")
        turn = self._turn(memory, fetching.result(), reading.result())
        self._thread = lambda: memory.thread
        if self._services.model is not None:
            self._thread = turn.thread_after_plan
            has_tools = turn.request.agentic.settings.agentic_config.tools.enabled
            if await (answer_by_tools if has_tools else answer_by_model)(turn):
                return
        self._thread = lambda: memory.thread
        thread = await answer_by_rules(turn)
        self._thread = lambda: thread

    def _turn(
        self, memory: ConversationMemory, context: ProductContext, vocabulary: Vocabulary
    ) -> ConverseTurn:
        thread = about_documents(memory.thread, context.documents, vocabulary.roles)
        return ConverseTurn(
            services=self._services,
            request=self._request,
            answer=self.answer,
            stream=self._stream,
            history=() if self._services.model is None else memory.past_turns(),
            thread=thread,
            vocabulary=vocabulary,
            context=context,
            decision=decide_turn(self._request.agentic.query, thread, vocabulary),
        )

    async def _product_context(self) -> ProductContext:
        """Return the products of the page; without them the turn goes on."""
        request = self._request
        if not request.document_ids:
            return ProductContext()
        try:
            with self.answer.timings.measure(Stage.PRODUCT_CONTEXT):
                context = await fetch_product_context(
                    self._services.search,
                    self._services.reviews,
                    request.agentic.caller,
                    request.agentic.index,
                    request.document_ids,
                    request.context_fields,
                    timeout_seconds=self._services.settings.search_timeout_seconds,
                )
        except (SearchError, TimeoutError) as error:
            self.answer.warnings.append(f"product_context_failed:{type(error).__name__}")
            return ProductContext()
        self.answer.warnings += [f"unknown_document:{name}" for name in context.unknown_ids]
        description = request.agentic.description
        unknown = (name for name in request.context_fields or () if description.field(name) is None)
        self.answer.warnings += [f"unknown_context_field:{name}" for name in unknown]
        return context

    async def _vocabulary(self) -> Vocabulary:
        request = self._request.agentic
        wanted = PlanRequest(
            caller=request.caller, index=request.index, query=request.query, max_categories=1
        )
        try:
            return await self._services.reader.vocabulary(wanted)
        except SearchError as error:
            raise UpstreamFailed("the search could not be answered; please try again") from error

    async def _keep(self, memory: ConversationMemory, seconds: float) -> None:
        answer = self.answer
        if not answer.summary and not answer.categories:
            return
        hits = [hit for found in answer.categories for hit in found.hits]
        await memory.keep_within(
            seconds,
            query=self._request.agentic.query,
            text="".join(answer.summary),
            product_ids=list(dict.fromkeys(str(hit["_id"]) for hit in hits)),
            categories=[found.expansion.label for found in answer.categories],
            thread=self._thread(),
        )

    def _facts(self) -> dict[str, Any]:
        memory = self._memory
        known = None if memory is None else memory.conversation_id
        return {
            # Knowing an id is owning the conversation, so a log must not hold one.
            "conversation_hash": None if known is None else hashed(known),
            "turn": None if memory is None else memory.number,
            "history": 0 if memory is None else len(memory.history),
            "images": len(self._request.images),
            "documents": len(self._request.document_ids),
        }
