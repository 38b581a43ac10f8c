"""Answers with a stored plan: its searches run fresh, its links are checked against what they find.

What has just been made so is kept for who asks the same next, as long as its searches would find the same:
while the index has neither a document nor a vector more or less.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from worker.answer import Answer
from worker.answer_stream import AnswerStream
from worker.known_questions import KnownQuestion
from worker.made_answer import MadeAnswer, made_answer
from worker.planning.plan import PlanSource
from worker.request import AgenticRequest
from worker.run import Run
from worker.services import Services
from worker.stored_answer import StoredAnswer
from worker.summary_step import ground_summary
from worker.trace.recording import current_recording


async def replay(stream: AnswerStream, stored: StoredAnswer, initial: Awaitable[None]) -> None:
    """Send the categories as they land, then what comes behind them; `initial` is the first search."""
    # Its end is as near as its slowest search: sorting out what a summary speaks of would cost more.
    stream.keeps_hits = True
    answer = stream.answer
    answer.source = PlanSource.CACHED
    answer.cache_tier = answer.cache_tier or "flight"
    answer.decision = stored.decision
    answer.complements = list(stored.complements)
    async with asyncio.TaskGroup() as searches:
        stream.searching_in(searches)
        for expansion in stored.expansions:
            stream.take(expansion)
    stream.offer_complements()
    await initial
    text = ground_summary(answer, stored.summary)
    if text:
        stream.say(text)


def keep_made(services: Services, question: KnownQuestion, answer: Answer, run: Run, payload: bytes) -> None:
    """Keep what `run` has said so far, made with a stored `payload`, for who asks the same next."""
    has_room = services.questions.max_bytes > 0
    if has_room and answer.request.reranking is None and current_recording() is None:
        made = made_answer(answer, run, payload)
        if made is not None:
            keeping = _keep_if_unchanged(services, answer.request, question, made)
            services.wait_until(keeping, name="keep-made")


async def _keep_if_unchanged(
    services: Services, request: AgenticRequest, question: KnownQuestion, made: MadeAnswer
) -> None:
    if await services.search.describe_index(request.caller, request.index) == request.description:
        services.questions.keep(question, made)
