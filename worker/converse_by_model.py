"""Answers a turn with the model: one function call that holds the searches and what is said.

The call's text is sent when its searches have landed, since it may only link to what this stream has sent
or what the question was about.
"""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace

from search_proxy.accounts.settings_schema import AgenticConfig
from search_proxy.errors import SearchError
from worker.closing_words import options_of
from worker.converse_by_rules import show_products
from worker.converse_turn import ConverseTurn
from worker.errors import PlanningFailed
from worker.grounding import GroundedText
from worker.llm.prompts import fenced
from worker.planning.plan import PlanRequest, PlanSource, Strategy
from worker.planning.thread_products import ShownProduct
from worker.product_context import ProductContext, context_text, fetch_product_context
from worker.request import plan_request
from worker.summary_prices import PriceCheck
from worker.summary_request import SummaryCategory, SummaryRequest, hit_price
from worker.summary_rules import rules_summary
from worker.timing import Stage

logger = logging.getLogger(__name__)

TOP_HITS = 6
"""Hits that passive context puts before the model: one row of a page."""
_SHOWN_BEFORE = 12


async def answer_by_model(turn: ConverseTurn) -> bool:
    """Plan, search and speak; return False where nothing came that could be shown or said."""
    answer, stream = turn.answer, turn.stream
    known = await spoken_of(turn)
    context = await _context(turn, known)
    async with asyncio.TaskGroup() as searches:
        stream.searching_in(searches)
        try:
            with answer.timings.measure(Stage.LLM_FIRST_CALL):
                report = await turn.services.converse_planner.plan(_asked(turn, context), stream.take)
        except PlanningFailed as error:
            answer.degraded = error.message
            return False
    answer.plan_report = report
    text = answer.decision.message or "".join(answer.plan_summary)
    if not report.complete:
        answer.degraded = str(report.details.get("reason") or "incomplete")
    if not answer.expansions and not text:
        answer.degraded = answer.degraded or "empty_plan"
        return False
    answer.source = PlanSource.LLM
    if turn.decision.kind == "show" and not turn.context.ids.issuperset(turn.decision.product_ids):
        await show_products(turn, turn.decision)
    stream.say(_said(turn, known, text))
    stream.offer(answer.complements or await _choices(turn))
    return True


async def _choices(turn: ConverseTurn) -> list[str]:
    """Return the catalog's own categories for a question to which the plan gave no answers."""
    if turn.answer.decision.strategy is not Strategy.NEEDS_CLARIFICATION:
        return []
    return await options_of(turn.services.reader, plan_request(turn.request.agentic))


def has_passive_context(config: AgenticConfig) -> bool:
    """Return whether the best hits are put before the model; never beside tools that search for them."""
    return config.passive_context and not config.tools.enabled


def _asked(turn: ConverseTurn, context: str) -> PlanRequest:
    asked = plan_request(turn.request.agentic)
    return replace(asked, history=turn.history, context=context, images=turn.request.images)


async def spoken_of(turn: ConverseTurn) -> ProductContext:
    """Return the products of the page, and those that the sentence or the last turn pointed at."""
    focus = turn.decision.state.focus or turn.thread.focus
    pointed = (*turn.decision.product_ids, *([focus.id] if focus else []))
    ids = [identifier for identifier in dict.fromkeys(pointed) if identifier not in turn.context.ids]
    if not ids:
        return turn.context
    request = turn.request
    try:
        found = await fetch_product_context(
            turn.services.search,
            turn.services.reviews,
            request.agentic.caller,
            request.agentic.index,
            ids,
            request.context_fields,
            timeout_seconds=turn.services.settings.search_timeout_seconds,
        )
    except (SearchError, TimeoutError) as error:
        logger.warning("product_context_failed", extra={"run_id": turn.answer.run_id, "reason": repr(error)})
        return turn.context
    documents = (*turn.context.documents, *found.documents)
    return replace(turn.context, documents=documents, text="\n".join([turn.context.text, found.text]).strip())


def product_parts(turn: ConverseTurn, known: ProductContext) -> list[str]:
    """Return what the model is told of the products that the talk is about, each part fenced."""
    parts = [known.text]
    if turn.thread.shown:
        parts.append(fenced("shown_before", "\n".join(_shown_lines(turn.thread.shown[:_SHOWN_BEFORE]))))
    return [part for part in parts if part]


async def _context(turn: ConverseTurn, known: ProductContext) -> str:
    parts = product_parts(turn, known)
    if has_passive_context(turn.request.agentic.settings.agentic_config):
        parts.append(await _top_hits(turn))
    return "\n".join(part for part in parts if part)


def _shown_lines(products: tuple[ShownProduct, ...]) -> list[str]:
    rows = ([place, product.id, product.title, product.price] for place, product in enumerate(products, 1))
    return [json.dumps(row, ensure_ascii=False) for row in rows]


async def _top_hits(turn: ConverseTurn) -> str:
    request = turn.request.agentic
    wanted = replace(request.category, q=request.query, limit=TOP_HITS)
    try:
        async with asyncio.timeout(turn.services.settings.search_timeout_seconds):
            found = await turn.services.search.handle_search(request.caller, wanted)
    except (SearchError, TimeoutError) as error:
        turn.answer.warnings.append(f"passive_context_failed:{type(error).__name__}")
        return ""
    text = context_text(found.hits, None, {})
    return text.replace("<products>", "<top_hits>").replace("</products>", "</top_hits>")


def _said(turn: ConverseTurn, about: ProductContext, text: str) -> str:
    """Return the model's text as it may be shown, or the rules' where it would not be true."""
    sent = turn.sent_hits()
    if turn.answer.expansions and not sent:
        return rules_summary(found_categories(turn))
    known = [*sent, *about.documents]
    prices = [hit_price(hit) for hit in known] + [product.price for product in turn.thread.shown]
    asked = " ".join([turn.request.agentic.query, *(past.query for past in turn.history)])
    grounded = GroundedText(
        {str(hit["_id"]) for hit in known},
        PriceCheck((price for price in prices if price is not None), query=asked),
    )
    said = (grounded.feed(text) + grounded.close()).strip()
    turn.answer.warnings += grounded.warnings
    return said or rules_summary(found_categories(turn))


def found_categories(turn: ConverseTurn) -> SummaryRequest:
    """Return what was found in this turn, as the rules write a summary of it."""
    found = [item for item in turn.answer.categories if item.error is None]
    return SummaryRequest(
        query=turn.request.agentic.query,
        categories=tuple(
            SummaryCategory(label=item.expansion.label, hits=item.hits, total=item.total_hits)
            for item in found
        ),
    )
