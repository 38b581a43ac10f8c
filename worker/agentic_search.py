"""The flow of one agentic search: first hits, a plan, its categories, a summary, the end.

The first search runs beside everything else. Where the plan comes from is the only difference between the
paths: the cache, somebody who is asking the same right now, a planner, or nothing for a short query.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace

from cache.errors import FlightAbandoned
from cache.single_flight import Seat
from search_proxy.errors import SearchError
from worker.answer import Answer
from worker.answer_cache import CachePlan, plan_cache, storable, store_answer
from worker.answer_stream import AnswerStream
from worker.closing_words import close_in_words
from worker.converse_search_turn import TurnPart
from worker.errors import PlanningFailed, UpstreamFailed
from worker.first_search import WITHOUT_SEARCH
from worker.known_questions import KnownQuestion
from worker.observe.completed import answer_completed
from worker.observe.completion import Purpose
from worker.plan_flight import PlanTeller, follow_plan
from worker.planning.catalog_decision import Decision
from worker.planning.fallback_planner import ENOUGH_EXPANSIONS
from worker.planning.plan import (
    ExpansionsComplete,
    PlanDecision,
    PlanEvent,
    PlanRequest,
    PlanSource,
    QueryExpansion,
)
from worker.request import AgenticRequest, plan_request
from worker.run import Outcome, Run
from worker.services import Services
from worker.stored_answer import AnswerReader
from worker.stored_replay import keep_made, replay
from worker.summary_step import stream_summary
from worker.timing import Stage
from worker.trace.recording import current_recording
from worker.words import count_words


class AgenticSearch:
    """One answer being made; `__call__` is the work of its run.

    `looks_up` False answers anew, to replace a stale entry; `stores` False leaves the cache as it is.
    `turn` is there where the answer is a turn of a conversation, `question` where others ask the same.
    """

    def __init__(
        self,
        services: Services,
        request: AgenticRequest,
        run: Run,
        *,
        looks_up: bool = True,
        stores: bool = True,
        turn: TurnPart | None = None,
        question: KnownQuestion | None = None,
    ) -> None:
        self._services = services
        self._question, self._run = question, run
        self._turn = turn
        self._request = request
        self._looks_up = looks_up
        self._stores = stores
        ways = plan_cache if question is None else question.plan_cache
        self._cache: CachePlan = ways(request, services.settings.model)
        self._reader = AnswerReader(None if question is None else question.made)
        self._teller: PlanTeller | None = None
        self._begin_summary: Callable[[str], asyncio.Task[None]] | None = None
        self._summary: asyncio.Task[None] | None = None
        self.answer = turn.answer if turn is not None else Answer(request=request, run_id=run.id)
        # A conversation and a preview show more of the products than a summary does.
        keeps_hits = turn is not None or not stores
        self._stream = AnswerStream(services, self.answer, run, keeps_hits=keeps_hits)

    async def __call__(self, run: Run) -> None:
        """Make the answer and log its completion, however it ends.

        Raises:
            WorkerError: Nothing could be found at all; the run turns it into an event.
        """
        with self._services.traces.recording(self.answer):
            await self._make(run)

    async def _make(self, run: Run) -> None:
        answer = self.answer
        try:
            async with asyncio.timeout(self._services.settings.run_total_seconds):
                await self._answer()
            answer.outcome = Outcome.DEGRADED if answer.degraded else Outcome.OK
        except asyncio.CancelledError:
            answer.outcome = Outcome.CANCELED
            raise
        except TimeoutError:
            answer.error = "deadline_exceeded"
            self._stream.fail("deadline_exceeded", "the answer took too long", "run")
        finally:
            # Tasks and functions that know this object would keep it, hits and all, until a collection.
            self._begin_summary = self._summary = None
            purpose: Purpose = "request" if self._looks_up else "refresh" if self._stores else "offline"
            self._services.observers.observe(
                answer_completed("agentic_search_completed", answer, run, sys.exception(), purpose=purpose)
            )

    async def _answer(self) -> None:
        config = self._request.settings.agentic_config
        made = None if self._question is None or current_recording() else self._question.made
        payload = None if made is None else await self._look_up()
        if made is not None and payload is not None and made.is_of(payload):
            made.send(self.answer, self._run)
            self._stream.close()
            return
        read = None if self._turn is not None and self._turn.is_follow_up else await self._read()
        if read is not None and read.strategy in WITHOUT_SEARCH:
            await self._answer_in_words(read)
            return
        async with asyncio.TaskGroup() as group:
            initial = group.create_task(self._stream.first_hits(read), name="first-hits")
            if self._request.reranking is not None:
                group.create_task(self._stream.better_hits(initial), name="rerank")
            if made is None:
                payload = await self._look_up()
            stored = self._reader.read(payload)
            if payload is not None and stored is not None:
                self._stream.open(categories=bool(stored.expansions), summary=bool(stored.summary))
                await replay(self._stream, stored, initial)
                if self._question is not None:
                    keep_made(self._services, self._question, self.answer, self._run, payload)
            elif self._is_plain():
                self.answer.source = PlanSource.SHORT_QUERY_BYPASS
                self._stream.open(categories=False, summary=False)
            else:
                self._stream.open(categories=True, summary=config.enable_summary)
                self._stream.status("thinking")
                await self._plan(initial)
        if self.answer.initial is None and not self.answer.categories:
            raise UpstreamFailed("the search could not be answered; please try again")
        await self._close()

    async def _close(self) -> None:
        """Send the receipt; a turn is committed first, so that the end of the stream stands for it."""
        if self._turn is not None:
            await self._turn.keep()
        self._stream.close()

    def _is_plain(self) -> bool:
        """Return whether the query gets plain hits; a follow-up is short by nature."""
        if self._turn is not None and self._turn.is_follow_up:
            return self._turn.is_plain
        return count_words(self._request.query) < self._request.settings.agentic_config.short_query_words

    async def _read(self) -> Decision | None:
        """Return what the rules make of the query, or None where the index cannot be asked."""
        try:
            decision = await self._services.reader.read(self._plan_request())
        except SearchError:
            return None
        self.answer.decision = PlanDecision(strategy=decision.strategy)
        return decision

    async def _answer_in_words(self, read: Decision) -> None:
        """Answer a greeting, or ask back: nothing was looked for, so nothing is missing."""
        self.answer.source = PlanSource.CATALOG
        self.answer.complements = list(read.options)
        self._stream.open(categories=False, summary=True)
        self._stream.say(read.message or "")
        self._stream.offer_complements()
        await self._close()

    async def _look_up(self) -> bytes | None:
        """Return the answer that the cache has, noting in any case what it said."""
        plan, answer = self._cache, self.answer
        if plan.key is None or plan.skip_lookup is not None or not self._looks_up:
            reason = str(plan.skip_lookup or "anew")
            answer.cache = {"hit": False, "reason": reason, "steps": [], **plan.as_log()}
            return None
        with answer.timings.measure(Stage.CACHED_QUERY_LOOKUP):
            decision = await self._services.cache.lookup(
                plan.key, expect=plan.tags, refresh=self._refresh, is_answer=self._reader.can_read
            )
        told = {name: value for name, value in decision.as_log().items() if name != "key"}
        answer.cache = told | plan.as_log()
        answer.cache_tier = decision.tier
        return decision.entry.payload if decision.entry is not None else None

    async def _refresh(self) -> None:
        run = Run(account_id=self._request.caller.account_id, index=self._request.index)
        await run.execute(AgenticSearch(self._services, self._request, run, looks_up=False))

    async def _plan(self, initial: asyncio.Task[None]) -> None:
        """Plan, alone or together with everybody who asks the same right now."""
        key, cache = self._cache.key, self._services.cache
        alone = self._services.model is None or self._cache.skip_lookup is not None
        if key is None or alone or not self._looks_up:
            await self._lead(initial)
            return
        while True:
            async with AsyncExitStack() as stack:
                flight = cache.single_flight(key, expect=self._cache.tags, is_answer=self._reader.can_read)
                seat = await stack.enter_async_context(flight)
                found = self._reader.read(seat.found.payload if seat.found is not None else None)
                if found is not None:
                    await replay(self._stream, found, initial)
                elif seat.leads:
                    await self._lead_flight(seat, stack, initial)
                else:
                    try:
                        await follow_plan(seat, self._stream, initial)
                    except FlightAbandoned:
                        continue
                return

    async def _lead_flight(self, seat: Seat, stack: AsyncExitStack, initial: asyncio.Task[None]) -> None:
        """Plan for the others too; the flight lasts until the answer is stored."""
        self._teller = PlanTeller(seat)
        await self._lead(initial, store=False)
        self._teller.end(self.answer)
        self._services.wait_until(self._land(seat, stack.pop_all()), name="land-flight")

    async def _land(self, seat: Seat, stack: AsyncExitStack) -> None:
        async with stack:
            await self._store()
            await seat.finish()

    async def _lead(self, initial: asyncio.Task[None], *, store: bool = True) -> None:
        answer = self.answer
        async with asyncio.TaskGroup() as group:
            self._begin_summary = lambda model: group.create_task(
                self._summarize(model, initial), name="summary"
            )
            async with asyncio.TaskGroup() as searches:
                self._stream.searching_in(searches)
                await self._ask_planner()
            self._stream.offer_complements()
        await initial
        if self._summary is None:
            await close_in_words(self._services, self._stream, self._plan_request(), self._take, self._say)
        if store and self._stores and storable(answer, self._cache):
            self._services.wait_until(self._store(), name="store-answer")

    async def _ask_planner(self) -> None:
        answer = self.answer
        try:
            with answer.timings.measure(Stage.LLM_FIRST_CALL):
                report = await self._services.planner.plan(self._plan_request(), self._take)
        except PlanningFailed as error:
            answer.degraded = answer.degraded or error.message
            self._stream.fail(error.code, error.message, "plan")
            return
        answer.plan_report = report
        answer.source = report.source
        if report.model is None:
            answer.timings.rename(Stage.LLM_FIRST_CALL, Stage.CATALOG_PLAN)

    def _take(self, event: PlanEvent) -> None:
        if isinstance(event, ExpansionsComplete):
            self._expansions_complete(event.model)
            return
        if isinstance(event, QueryExpansion) and self._summary is not None:
            return
        self._stream.take(event)
        if self._teller is not None:
            self._teller.tell(event)

    def _expansions_complete(self, model: str) -> None:
        """Begin the summary while the rest of the plan still comes, where nothing can change its ground."""
        enough = min(ENOUGH_EXPANSIONS, self._request.max_categories)
        has_ground = len(self.answer.expansions) >= enough and not self.answer.decision.message
        if has_ground and self._begin_summary is not None:
            self._summary = self._begin_summary(model)

    async def _summarize(self, model: str, initial: asyncio.Task[None]) -> None:
        await self._stream.landed()
        await initial
        self._stream.status("summarizing")
        await stream_summary(self._services, self.answer, self._say, model)

    def _say(self, text: str) -> None:
        self._stream.say(text)
        if self._teller is not None:
            self._teller.say(text)

    async def _store(self) -> None:
        if storable(self.answer, self._cache):
            await store_answer(self._services.cache, self.answer, self._cache)

    def _plan_request(self) -> PlanRequest:
        announce = self._request.settings.agentic_config.enable_summary
        history = () if self._turn is None else self._turn.history
        asked = plan_request(self._request, self.answer.note_plan_usage)
        return replace(asked, announce_complete=announce, history=history)
