"""Answers a turn with the model and the account's tools: it searches by itself, then says what it found.

The answer links only to products that a tool returned in this turn or that the question was about. Whatever
keeps the model from an answer, the rules give one; what was shown until then stays.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager

from search_proxy.caller import Caller
from search_proxy.errors import SearchError
from search_proxy.filters import merge_filters
from search_proxy.tools.definition import OfferedTool
from worker.converse_by_model import answer_by_model, found_categories, product_parts, spoken_of
from worker.converse_by_rules import show_products
from worker.converse_turn import ConverseTurn
from worker.grounding import GroundedText
from worker.planning.plan import PlanReport, PlanSource
from worker.product_context import ProductContext
from worker.services import Services
from worker.summary_prices import PriceCheck
from worker.summary_request import hit_price
from worker.summary_rules import rules_summary
from worker.timing import Stage
from worker.tool_loop import LoopAnswer, LoopLimits, ToolLoop, ToolLoopFailed
from worker.tool_loop_calls import LoopCalls
from worker.tool_loop_model import ModelSeat
from worker.tool_loop_page import ToolFinds
from worker.tool_loop_prompt import opening_request

logger = logging.getLogger(__name__)

_SHARE_OF_RUN = 0.8


async def answer_by_tools(turn: ConverseTurn) -> bool:
    """Search by tools and speak; return False where the model gave no answer."""
    answer, models = turn.answer, turn.services.tool_models
    offered = await _offered(turn)
    if models is None or not offered:
        return await answer_by_model(turn)
    config = turn.request.agentic.settings.agentic_config
    seat = models.seat(
        turn.request.agentic.caller.account_id,
        chain=tuple(name for name in (config.models.plan, config.models.fallback) if name),
        tokens_per_day=config.budgets.tokens_per_day,
    )
    known, finds = await spoken_of(turn), ToolFinds(turn)
    calls = _calls(turn, finds)
    answer.tool_calls = calls.reports
    whole_run = turn.services.settings.run_total_seconds
    limits = LoopLimits(
        steps=config.tools.max_steps,
        # What is left of the run is for the rules, should they have to answer.
        seconds=min(config.tools.max_seconds, whole_run * _SHARE_OF_RUN),
        tokens=config.tools.max_tokens,
    )
    loop = ToolLoop(seat, calls, limits, lambda is_first: _thinking(turn, is_first))
    whole = False
    try:
        said = await loop.run(opening_request(turn, offered, "\n".join(product_parts(turn, known))))
        whole = said.is_whole
    except ToolLoopFailed as failed:
        answer.degraded = failed.reason
        return False
    finally:
        answer.plan_report = _report(seat, whole)
    await _speak(turn, said, finds, known)
    return True


async def _offered(turn: ConverseTurn) -> Sequence[OfferedTool]:
    """Return the account's tools that can answer here; none where the index cannot be described."""
    agentic, toolbox = turn.request.agentic, turn.services.toolbox
    if not toolbox.is_measured(agentic.caller, agentic.index):
        # Some dozens of searches, which the next turn has the use of and this one does not wait for.
        measuring = _measure(turn.services, agentic.caller, agentic.index)
        turn.services.wait_until(measuring, name="measure-tools")
    try:
        offered = await toolbox.offered(agentic.caller, agentic.index, measured=False)
    except SearchError as error:
        turn.answer.warnings.append(f"tools_not_offered:{type(error).__name__}")
        return ()
    return [tool for tool in offered if tool.is_available]


async def _measure(services: Services, caller: Caller, index: str) -> None:
    try:
        await services.toolbox.offered(caller, index)
    except SearchError as error:
        logger.warning("tools_not_measured", extra={"index": index, "reason": str(error)})


def _calls(turn: ConverseTurn, finds: ToolFinds) -> LoopCalls:
    agentic = turn.request.agentic
    return LoopCalls(
        turn.services.toolbox,
        agentic.caller,
        agentic.index,
        bound=merge_filters(agentic.category.filter),
        starting=lambda name: turn.stream.progress("searching", name),
        taken=finds.take,
    )


def _thinking(turn: ConverseTurn, is_first: bool) -> AbstractContextManager[None]:
    turn.stream.progress("thinking")
    return turn.answer.timings.measure(Stage.LLM_FIRST_CALL if is_first else Stage.LLM_SECOND_CALL)


def _report(seat: ModelSeat, whole: bool) -> PlanReport:
    return PlanReport(
        source=PlanSource.LLM,
        model=seat.model,
        usage=seat.usage,
        warnings=tuple(seat.warnings),
        complete=whole,
    )


async def _speak(turn: ConverseTurn, said: LoopAnswer, finds: ToolFinds, known: ProductContext) -> None:
    answer = turn.answer
    answer.source = PlanSource.LLM
    there = turn.context.ids | {str(hit["_id"]) for hit in turn.sent_hits()}
    if turn.decision.kind == "show" and not there.issuperset(turn.decision.product_ids):
        await show_products(turn, turn.decision)
    await finds.show_linked(said.text)
    products = [*turn.sent_hits(), *known.documents]
    prices = [hit_price(product) for product in products]
    prices += [*finds.prices, *(product.price for product in turn.thread.shown)]
    asked = " ".join([turn.request.agentic.query, *(past.query for past in turn.history)])
    grounded = GroundedText(
        {str(product["_id"]) for product in products},
        PriceCheck((price for price in prices if price is not None), query=asked),
    )
    text = (grounded.feed(said.text) + grounded.close()).strip()
    answer.warnings += grounded.warnings
    if not said.is_whole:
        answer.warnings.append("answer_cut")
    turn.stream.say(text or rules_summary(found_categories(turn)))
