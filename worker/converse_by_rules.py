"""Answers a turn by the rules over its thread: no model, the same events.

What a sentence means is `planning/thread_rules.py`'s; here it is searched, shown and said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from search_proxy.filters import InFilter
from search_proxy.models import Hit
from worker.category_search import CategoryHits
from worker.converse_turn import ConverseTurn
from worker.images import CANNOT_SEE_MESSAGE
from worker.planning.plan import PlanDecision, Strategy
from worker.planning.thread_answers import answer_question, needs_variants
from worker.planning.thread_decision import ThreadDecision, ThreadSearch
from worker.planning.thread_products import product_filter, remembered_fields, shown_product
from worker.planning.thread_state import ThreadState

NO_LONGER_THERE = "That product is not here any more."

MAX_VARIANTS = 100


async def answer_by_rules(turn: ConverseTurn) -> ThreadState:
    """Search, show and say what the rules decided; return the thread to keep."""
    decision, stream = turn.decision, turn.stream
    turn.answer.decision = PlanDecision(strategy=_strategy(decision))
    blind = bool(turn.request.images)
    if blind:
        stream.say(CANNOT_SEE_MESSAGE)
    if decision.kind == "search" and decision.search is not None:
        return await _search(turn, decision.search)
    if decision.kind == "show":
        found = await show_products(turn, decision)
        stream.say(await answered(turn, decision, found.hits) if found.hits else NO_LONGER_THERE)
        return decision.state
    if not blind:
        stream.say(decision.message)
    stream.offer(decision.options)
    return decision.state


async def show_products(turn: ConverseTurn, decision: ThreadDecision) -> CategoryHits:
    """Send the very products that the sentence spoke of."""
    named = {product.id: product.title or product.id for product in turn.thread.shown}
    label = " and ".join(named.get(identifier, identifier) for identifier in decision.product_ids)
    template = turn.request.agentic.category
    # A question may be about anything that the product says of itself.
    fields = turn.vocabulary.description.fields if decision.question else ()
    names = (*(template.attributes_to_retrieve or ()), *(field.name for field in fields))
    wanted = replace(
        template,
        q=None,
        filter=InFilter("_id", decision.product_ids),
        attributes_to_retrieve=tuple(dict.fromkeys(names)),
        limit=len(decision.product_ids),
        collapse=False,
    )
    return await turn.stream.search(label, wanted, decision.product_ids)


async def answered(turn: ConverseTurn, decision: ThreadDecision, hits: Sequence[Hit]) -> str:
    """Return what to say of the products that are shown: the answer to the question, if there was one."""
    question = decision.question
    if question is None:
        return decision.message
    if question.asked == "rating":
        return " ".join([answer_question(question, hits, hits, turn.vocabulary), await _reviews(turn, hits)])
    variants: Sequence[Hit] = hits
    if needs_variants(question):
        roles = turn.vocabulary.roles
        family = product_filter(shown_product(hits[0], roles))
        names = (
            *remembered_fields(roles),
            *roles.colours,
            *roles.sizes,
            *([roles.stock.name] if roles.stock else []),
        )
        variants = await turn.stream.look_up(family, tuple(dict.fromkeys(names)), MAX_VARIANTS) or hits
    return answer_question(question, hits, variants, turn.vocabulary)


async def _reviews(turn: ConverseTurn, hits: Sequence[Hit]) -> str:
    """Return what the stored reviews say of products."""
    asked, ids = turn.request.agentic, [str(hit["_id"]) for hit in hits]
    summaries = await turn.services.reviews.summaries(asked.caller.account_id, asked.index, ids)
    return " ".join(f"Shoppers say: “{summaries[name]}”" for name in ids if name in summaries)


async def _search(turn: ConverseTurn, search: ThreadSearch) -> ThreadState:
    decision = turn.decision
    wanted = replace(
        turn.request.agentic.category,
        q=search.query,
        filter=search.filter,
        sort_by=search.sort,
        offset=search.offset,
    )
    found = await turn.stream.search(search.label, wanted)
    if found.error is not None:
        turn.stream.say("I could not search just now. Please ask again.")
        return turn.thread
    if not found.hits:
        turn.stream.say(decision.when_empty)
        return decision.state.after_nothing(turn.thread)
    turn.stream.say(decision.message)
    roles = turn.vocabulary.roles
    return decision.state.after_showing([shown_product(hit, roles) for hit in found.hits])


def _strategy(decision: ThreadDecision) -> Strategy:
    if decision.search is None:
        named = {"show": Strategy.METADATA_ONLY, "clarify": Strategy.NEEDS_CLARIFICATION}
        return named.get(decision.kind, Strategy.NO_MATCH)
    if decision.search.query is None:
        return Strategy.METADATA_ONLY
    return Strategy.CONTENT_ONLY if decision.search.filter is None else Strategy.HYBRID
