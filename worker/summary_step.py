"""The summary of an answer: the second model call, or an honest sentence by rules.

It speaks only of what this stream has sent; links to anything else become plain text.
"""

from __future__ import annotations

from collections.abc import Callable

from worker.answer import Answer
from worker.planning.plan import PlanSource
from worker.services import Services
from worker.summary import FoundCategory, SummaryRequest, write_summary
from worker.timing import Stage


async def stream_summary(services: Services, answer: Answer, say: Callable[[str], None]) -> None:
    """Write the summary piece by piece through `say`, and note in `answer` what it took."""
    request = answer.request
    # A model that has just failed to plan is not asked again: the rules answer at once.
    model = services.model if answer.source is PlanSource.LLM and not answer.degraded else None
    stage = Stage.LLM_SECOND_CALL if model is not None else None
    question = SummaryRequest(
        model=answer.plan_report.model if answer.plan_report and answer.plan_report.model else "",
        query=request.query,
        categories=tuple(
            FoundCategory(label=found.expansion.label, hits=found.hits, total=found.total_hits)
            for found in answer.categories
            if found.error is None
        ),
        hits=answer.initial.hits if answer.initial else (),
        total=answer.initial.total_hits if answer.initial else 0,
        clickable=request.clickable_summary,
    )
    if stage is None:
        report = await write_summary(None, question, say)
    else:
        with answer.timings.measure(stage):
            report = await write_summary(model, question, say)
    answer.summary_usage = report.usage
    answer.ungrounded_links = report.ungrounded_links
    answer.warnings.extend(report.warnings)
