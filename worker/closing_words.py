"""What an answer says when its rows have landed: a plan's message, a summary, a question with options."""

from __future__ import annotations

from collections.abc import Callable

from search_proxy.errors import SearchError
from worker.answer_stream import AnswerStream
from worker.planning.catalog_decision import clarifying_options
from worker.planning.plan import Emit, PlanRequest, PlanSource, QueryComplement, Strategy
from worker.services import QueryReader, Services
from worker.summary_step import ground_summary, stream_summary


async def close_in_words(
    services: Services, stream: AnswerStream, asked: PlanRequest, take: Emit, say: Callable[[str], None]
) -> None:
    """Send the plan's message or a summary through `say`, as the account has it.

    Answers that the plan did not give to its own question go through `take`, as parts of a plan do.
    """
    answer = stream.answer
    if answer.decision.message:
        if answer.decision.strategy is Strategy.NEEDS_CLARIFICATION and not answer.complements:
            for option in await options_of(services.reader, asked):
                take(QueryComplement(query=option))
            stream.offer_complements()
        say(ground_summary(answer, answer.decision.message))
    elif answer.request.settings.agentic_config.enable_summary:
        stream.status("summarizing")
        report = answer.plan_report
        # A model that has just failed to plan is not asked again: the rules answer at once.
        planned = answer.source is PlanSource.LLM and not answer.degraded
        await stream_summary(services, answer, say, report.model if report and planned else None)
    elif answer.plan_summary:
        say(ground_summary(answer, "".join(answer.plan_summary)))


async def options_of(reader: QueryReader, asked: PlanRequest) -> list[str]:
    """Return the catalog's largest categories to click on, none where the index cannot be asked for them."""
    try:
        return list(clarifying_options(await reader.vocabulary(asked)))
    except SearchError:
        return []
