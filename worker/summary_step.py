"""The summary of an answer: the second model call, or an honest sentence by rules.

It speaks only of what this stream has sent; links to anything else become plain text.
"""

from __future__ import annotations

from collections.abc import Callable

from worker.answer import Answer
from worker.planning.plan import PlanSource
from worker.services import Services
from worker.summary import SummaryConfig, write_summary
from worker.summary_request import SummaryCategory, SummaryRequest
from worker.timing import Stage


async def stream_summary(services: Services, answer: Answer, say: Callable[[str], None]) -> None:
    """Write the summary piece by piece through `say`, and note in `answer` what it took."""
    # A model that has just failed to plan is not asked again: the rules answer at once.
    planned = answer.plan_report.model if answer.plan_report and answer.source is PlanSource.LLM else None
    if planned is None or answer.degraded:
        report = await write_summary(None, _request(answer), say)
    else:
        config = SummaryConfig(model=planned, deadlines=services.settings.deadlines())
        with answer.timings.measure(Stage.LLM_SECOND_CALL):
            report = await write_summary(services.model, _request(answer), say, config)
    answer.summary_report = report


def _request(answer: Answer) -> SummaryRequest:
    request, initial = answer.request, answer.initial
    found = [item for item in answer.categories if item.error is None]
    return SummaryRequest(
        query=request.query,
        categories=tuple(
            SummaryCategory(label=item.expansion.label, hits=item.hits, total=item.total_hits)
            for item in found
        ),
        hits=initial.hits if initial else (),
        total=initial.total_hits if initial else None,
        facets=initial.facets if initial else {},
        clickable=request.clickable_summary,
    )
