"""The summary of an answer: the second model call, or an honest sentence by rules.

It speaks only of what this stream has sent; links to anything else become plain text.
"""

from __future__ import annotations

from collections.abc import Callable

from worker.answer import Answer
from worker.grounding import GroundedText
from worker.services import Services
from worker.summary import SummaryConfig, write_summary
from worker.summary_prices import PriceCheck
from worker.summary_request import SummaryCategory, SummaryRequest, hit_price
from worker.timing import Stage


async def stream_summary(
    services: Services, answer: Answer, say: Callable[[str], None], model: str | None
) -> None:
    """Write the summary piece by piece through `say`, and note in `answer` what it took.

    `model` is the one that has planned; without one the rules answer at once.
    """
    if model is None:
        report = await write_summary(None, _request(answer), say)
    else:
        config = SummaryConfig(model=model, deadlines=services.settings.deadlines())
        with answer.timings.measure(Stage.LLM_SECOND_CALL):
            try:
                report = await write_summary(
                    services.model, _request(answer), say, config, note_usage=answer.note_summary_usage
                )
            finally:
                # A shopper who leaves in mid-sentence has used tokens, too.
                services.budget.spend(answer.request.caller.account_id, answer.summary_usage)
    answer.summary_report = report


def grounded_text(answer: Answer) -> GroundedText:
    """Return what makes text safe to show beside what this answer has sent."""
    found = [item.hits for item in answer.categories if item.error is None]
    sent = [hit for hits in (*found, answer.initial.hits if answer.initial else ()) for hit in hits]
    prices = (price for hit in sent if (price := hit_price(hit)) is not None)
    return GroundedText(
        {str(hit["_id"]) for hit in sent},
        PriceCheck(prices, query=answer.request.query, locale=answer.request.locale),
        clickable=answer.request.clickable_summary,
    )


def ground_summary(answer: Answer, text: str) -> str:
    """Return `text` as it may be shown beside what this answer has sent."""
    grounded = grounded_text(answer)
    return grounded.feed(text) + grounded.close()


def _request(answer: Answer) -> SummaryRequest:
    request, initial = answer.request, answer.initial
    # In the plan's order: which search ended first must not change what is said.
    order = {id(expansion): place for place, expansion in enumerate(answer.expansions)}
    landed = (item for item in answer.categories if item.error is None)
    found = sorted(landed, key=lambda item: order.get(id(item.expansion), len(order)))
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
        system_prompt=request.summary_advice,
        locale=request.locale,
    )
