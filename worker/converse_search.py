"""An agentic search that is a turn of a conversation: the same stream, with a memory.

What the words mean depends on what was said before, so the history is read first; a follow-up's first
search is the thread's. Without a model the whole plan is, with one it sees the history. The turn is
committed before the receipt, and never cached.
"""

from __future__ import annotations

from dataclasses import replace

from search_proxy.errors import SearchError
from search_proxy.filters import InFilter, merge_filters
from worker.agentic_search import AgenticSearch
from worker.answer import Answer
from worker.converse_memory import LAST_WORDS_SECONDS, ConversationMemory, told_as_ours
from worker.converse_search_turn import TurnPart
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.plan import PlanRequest
from worker.planning.thread_decision import ThreadDecision, ThreadSearch
from worker.planning.thread_products import shown_product
from worker.planning.thread_rules import decide_turn
from worker.planning.thread_state import MAX_SHOWN, ThreadState
from worker.request import AgenticRequest
from worker.run import Run
from worker.services import Services

_COMMIT_SECONDS = 15.0


class ConversingSearch:
    """The work of a run: `AgenticSearch` between reading a thread and keeping it."""

    def __init__(self, services: Services, request: AgenticRequest, run: Run) -> None:
        self._services = services
        self._request = request
        self._answer = Answer(request=request, run_id=run.id)
        self._vocabulary: Vocabulary | None = None
        self._decision: ThreadDecision | None = None

    async def __call__(self, run: Run) -> None:
        """Make the answer as a turn.

        Raises:
            WorkerError: There is no such conversation, or nothing could be found.
        """
        request = self._request
        with told_as_ours():
            async with self._services.conversations.turn(
                request.caller.account_id, request.conversation_id
            ) as turn:
                run.conversation_id = turn.conversation_id
                memory = ConversationMemory(turn, self._answer)
                try:
                    await memory.load()
                    await self._make(memory, run)
                finally:
                    if not memory.is_over:
                        await self._keep(memory, LAST_WORDS_SECONDS)

    async def _make(self, memory: ConversationMemory, run: Run) -> None:
        await self._decide(memory.thread)
        decision = self._decision
        is_follow_up = decision is not None and bool(memory.history) and decision.kind in ("search", "show")
        if decision is not None and is_follow_up:
            self._answer.request = self._rewritten(decision)
        part = TurnPart(
            answer=self._answer,
            history=() if self._services.model is None else memory.past_turns(),
            is_follow_up=is_follow_up,
            is_plain=decision is not None and decision.kind == "show",
            keep=lambda: self._keep(memory, _COMMIT_SECONDS),
        )
        await AgenticSearch(self._services, self._answer.request, run, turn=part)(run)

    async def _decide(self, thread: ThreadState) -> None:
        request = self._request
        asked = PlanRequest(caller=request.caller, index=request.index, query=request.query, max_categories=1)
        try:
            self._vocabulary = await self._services.reader.vocabulary(asked)
        except SearchError:
            # The search itself will say what is wrong with the index.
            return
        self._decision = decide_turn(request.query, thread, self._vocabulary, may_ask=False)

    def _rewritten(self, decision: ThreadDecision) -> AgenticRequest:
        """Return the request as the thread means it."""
        request = self._request
        if decision.search is None:
            named = InFilter("_id", decision.product_ids)
            initial = replace(request.initial, q=None, filter=merge_filters(request.initial.filter, named))
            return replace(request, initial=replace(initial, collapse=False))
        return self._searching(request, decision.search)

    def _searching(self, request: AgenticRequest, search: ThreadSearch) -> AgenticRequest:
        initial = replace(
            request.initial,
            q=search.query,
            filter=merge_filters(request.initial.filter, search.filter),
            sort_by=search.sort or request.initial.sort_by,
            offset=search.offset or request.initial.offset,
        )
        if self._services.model is not None:
            return replace(request, initial=initial)
        # The catalog planner knows no history: what the thread demands binds its categories as well.
        category = replace(request.category, filter=merge_filters(request.category.filter, search.filter))
        return replace(request, query=search.query or search.label, initial=initial, category=category)

    async def _keep(self, memory: ConversationMemory, seconds: float) -> None:
        answer = self._answer
        plain = answer.initial.hits if answer.initial is not None else ()
        categories = [found for found in answer.categories if found.hits]
        hits = (*plain, *(hit for found in categories for hit in found.hits))
        if not hits and not answer.summary:
            return
        ids = list(dict.fromkeys(str(hit["_id"]) for hit in hits))
        # "The second one" is of the list, which the categories stand beside.
        spoken_of = [str(hit["_id"]) for hit in plain] or ids
        await memory.keep_within(
            seconds,
            query=self._request.query,
            text="".join(answer.summary),
            product_ids=ids,
            categories=[found.expansion.label for found in categories],
            thread=await self._thread_after(memory.thread, spoken_of, len(plain)),
        )

    async def _thread_after(self, thread: ThreadState, ids: list[str], page: int) -> ThreadState:
        decision, vocabulary = self._decision, self._vocabulary
        if decision is None or vocabulary is None or decision.kind == "clarify":
            return thread
        if decision.kind != "search":
            return decision.state
        request = self._request
        try:
            found = await self._services.search.get_documents(request.caller, request.index, ids[:MAX_SHOWN])
        except SearchError:
            return thread
        documents = [{**entry.document, "_id": entry.id} for entry in found if entry.document is not None]
        if not documents:
            return decision.state.after_nothing(thread)
        shown = decision.state.after_showing([shown_product(each, vocabulary.roles) for each in documents])
        # Only the plain hits are pages of the thread's search; the categories' are not.
        return replace(shown, offset=decision.state.offset + page)
