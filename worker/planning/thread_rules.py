"""Converses without a model: what a sentence means for the search so far, by rules over the thread.

Pure: the state of the thread and a sentence go in, a decision comes out; the flow searches, shows, and puts
what was shown into the state (`ThreadState.after_showing`). Every price move is relative to what was shown:
"cheaper" is strictly below the cheapest of it, "more expensive" strictly above the dearest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from search_proxy.filters import TermFilter
from search_proxy.models import IndexDescription, SortField
from worker.planning.catalog_decision import Decision, decide
from worker.planning.catalog_vocabulary import Vocabulary, learn_vocabulary
from worker.planning.catalog_words import singular
from worker.planning.plan import Strategy
from worker.planning.thread_changes import accepts, asked_to_drop, lift_values, moved, resized
from worker.planning.thread_decision import (
    NOT_UNDERSTOOD,
    START_OVER_MESSAGE,
    ThreadDecision,
    no_such_position,
    to_search,
    to_show,
)
from worker.planning.thread_demands import ReadDemands, apply_demands, read_thread_demands
from worker.planning.thread_moves import Move, Moves, take_moves
from worker.planning.thread_phrasing import plain, rephrase
from worker.planning.thread_products import ShownProduct, product_filter
from worker.planning.thread_question_kinds import read_question
from worker.planning.thread_questions import about_all, about_some, is_about_one
from worker.planning.thread_recall import recall
from worker.planning.thread_references import References, find_pointed, find_references
from worker.planning.thread_spelling import respelled
from worker.planning.thread_state import (
    MAX_CONSTRAINTS,
    MAX_QUERY_CHARACTERS,
    Constraint,
    ThreadState,
    search_of,
    with_earlier,
)
from worker.planning.thread_topics import begins_anew, blank, opened, shared_category, without_roles

NO_SIZES = "I cannot compare the sizes of these. Say which size you need, if they have one."

_AMOUNT = re.compile(r"^\W*(?:(?:and|or|then|what about|how about)\s+)?(?P<amount>\d{2,6})\W*$")
_NO_POSITION = 12
"""A bare number above this, or above what was shown, is money: nobody counts that far."""


def vocabulary_of(description: IndexDescription) -> Vocabulary:
    """Return the vocabulary that an index's own description gives, without a search."""
    facets: Mapping[str, Mapping[str, Mapping[str, int]]] = {
        field.name: {value: {"count": count} for value, count in field.top_values}
        for field in description.fields
    }
    return learn_vocabulary(description, facets)


def decide_turn(
    utterance: str, state: ThreadState, vocabulary: Vocabulary, *, may_ask: bool = True
) -> ThreadDecision:
    """Return what a sentence means for the thread; where we may not ask back, "it" is all that was shown."""
    typed = respelled(plain(utterance), vocabulary)
    text = _with_amount(rephrase(typed), state, vocabulary)
    recalled = recall(typed, state, vocabulary)
    if recalled is not None:
        return recalled
    taken = take_moves(text)
    if Move.START_OVER in taken.moves:
        fresh = decide(taken.rest, vocabulary)
        if not (fresh.topic or fresh.demands.demands):
            return ThreadDecision(kind="answer", state=ThreadState(), message=START_OVER_MESSAGE)
        return _first_turn(taken.rest, fresh, vocabulary)
    first = decide(plain(utterance), vocabulary)
    if first.strategy is Strategy.NO_MATCH:
        return ThreadDecision(kind="answer", state=state, message=first.message or NOT_UNDERSTOOD)
    if state.is_empty:
        return _first_turn(text, decide(text, vocabulary), vocabulary)
    references = find_references(taken.rest, state)
    if references.missing is not None and not references.products:
        return no_such_position(references.missing, state)
    decided = _next_turn(text, taken, references, state, vocabulary, may_ask=may_ask)
    if decided.kind != "search":
        return decided
    return replace(decided, state=replace(decided.state, earlier=_earlier(decided.state, state)))


def _first_turn(text: str, decision: Decision, vocabulary: Vocabulary) -> ThreadDecision:
    if decision.strategy is Strategy.NEEDS_CLARIFICATION:
        message = decision.message or "What are you looking for?"
        return ThreadDecision(kind="clarify", state=ThreadState(), message=message, options=decision.options)
    demands = read_thread_demands(text, vocabulary)
    constraints = tuple(each for each in demands.constraints if each.role != "text" or not each.wanted)
    # What became a constraint leaves the query, so that "in blue" later replaces the red of "red shoes".
    bound = {each.words for each in constraints if each.wanted}
    words = decision.topic.split()
    query = " ".join([word for word in words if word not in bound] or words)[:MAX_QUERY_CHARACTERS]
    state = apply_demands(ThreadState(query=query), replace(demands, constraints=constraints))
    if decision.category is not None:
        named = Constraint(
            role="category",
            wanted=True,
            filter=TermFilter(decision.category.field, decision.category.value),
            words=decision.category.value,
        )
        state = replace(state, query="", constraints=(named, *state.constraints))
    return to_search(state, vocabulary)


def _next_turn(
    text: str,
    taken: Moves,
    references: References,
    state: ThreadState,
    vocabulary: Vocabulary,
    *,
    may_ask: bool,
) -> ThreadDecision:
    moves, rest = taken.moves, taken.rest
    rest_without = blank(rest, references.spans)
    negated = rest[: references.spans[0][0]].rstrip().endswith("not") if references.spans else False
    if not references.products and Move.MORE not in moves:
        pointed = find_pointed(rest, state)
        if pointed.products and not moves & {Move.CHEAPER, Move.DEARER}:
            references, rest_without = pointed, blank(rest, pointed.spans)
            negated = rest[: pointed.spans[0][0]].rstrip().endswith("not")
    question = None if negated else read_question(rest_without)
    if question is not None and not moves:
        about = about_some(question, references.products, state)
        if about is not None:
            return about
        if may_ask and is_about_one(rest_without, question, state):
            return about_all(question, state)
    lifted, rest_without = lift_values(rest_without, state)
    if lifted is not state:
        return to_search(lifted, vocabulary)
    dropped = None if references.products else asked_to_drop(rest_without)
    if dropped is not None and not moves:
        return ThreadDecision(kind="clarify", state=state, message=f"There is no “{dropped}” to drop.")
    demands = read_thread_demands(rest_without, vocabulary)
    if accepts(rest_without):
        # "Black is fine too" opens what was demanded; where nothing was, black was fine before.
        open_roles = {each.role for each in state.constraints if each.wanted}
        demands = replace(
            demands,
            constraints=tuple(each for each in demands.constraints if each.role in open_roles),
            adds=True,
        )
    if not references.products and begins_anew(text, demands, state, vocabulary):
        return _new_topic(text, moves, demands, state, vocabulary)
    said = moves or references.products or demands.any_demand or demands.topic
    understood = bool(said) or accepts(rest_without)
    if negated:
        state, references = _without_products(state, references), References()
    if question is not None and not demands.any_demand and question.asked != "words" and not moves:
        return about_all(question, state)
    if not understood:
        return ThreadDecision(kind="clarify", state=state, message=NOT_UNDERSTOOD)
    asks_for_stock = all(each.role == "stock" for each in demands.constraints) and demands.price_range is None
    if references.products and not moves and not demands.topic and asks_for_stock:
        return to_show(references.products, state)
    changed = moved(state, moves, references, vocabulary)
    sized = resized(changed, moves, references, vocabulary)
    if sized is None and moves <= {Move.LARGER, Move.SMALLER} and not demands.any_demand:
        return ThreadDecision(kind="clarify", state=state, message=NO_SIZES)
    changed = sized or changed
    changed = _about(changed, moves, references, demands, vocabulary)
    changed = apply_demands(changed, demands)
    if Move.SIMILAR not in moves:
        changed = opened(changed, demands)
    if demands.topic:
        changed = replace(changed, query=_joined_query(changed.query, demands.topic))
    if moves == {Move.MORE} and changed == state:
        return to_search(state, vocabulary, opening="More", offset=state.offset)
    return to_search(_kept_in_category(changed, vocabulary), vocabulary)


_OF_THE_OLD_KIND = frozenset({"category", "size", "text", "product"})


def _new_topic(
    text: str, moves: frozenset[Move], demands: ReadDemands, state: ThreadState, vocabulary: Vocabulary
) -> ThreadDecision:
    base = ThreadState()
    if any(phrase in text for phrase in ("same", "also")):
        base = replace(
            without_roles(state, _OF_THE_OLD_KIND, wanted_only=True), query="", like=None, sort=None
        )
    elif any(phrase in text for phrase in ("instead", "what about", "how about")):
        # Another kind of product: what it may cost starts anew, what it must not be does not.
        lasting = tuple(
            each
            for each in state.constraints
            if (not each.wanted or each.role == "stock") and each.role != "product"
        )
        base = ThreadState(constraints=lasting)
    changed = apply_demands(replace(base, query=_joined_query("", demands.topic)), demands)
    price = vocabulary.roles.price
    if Move.CHEAPER in moves and price is not None:
        changed = replace(changed, sort=SortField(name=price, order="asc"))
    if Move.DEARER in moves and price is not None:
        changed = replace(changed, sort=SortField(name=price, order="desc"))
    return to_search(changed, vocabulary)


def _about(
    state: ThreadState,
    moves: frozenset[Move],
    references: References,
    demands: ReadDemands,
    vocabulary: Vocabulary,
) -> ThreadState:
    """Return the thread turned to products like one that was shown, where the sentence is about one."""
    product = next(iter(references.products), None)
    if Move.SIMILAR in moves:
        product = product or state.focus or next(iter(state.shown), None)
        return state if product is None else _turned_to(state, product, vocabulary, leave_out=True)
    if product is not None and (demands.constraints or demands.topic):
        # "the second one in blue", "do you have it in green": the product itself is welcome among the hits.
        return _turned_to(state, product, vocabulary, leave_out=False)
    return state


def _turned_to(
    state: ThreadState, product: ShownProduct, vocabulary: Vocabulary, *, leave_out: bool
) -> ThreadState:
    kept = without_roles(state, frozenset({"text", "category"}), wanted_only=True)
    category = shared_category((product,), vocabulary)
    constraints = kept.constraints if category is None else (category, *kept.constraints)
    return replace(
        kept,
        query=product.title or state.query,
        constraints=constraints,
        like=product if leave_out else None,
        sort=None,
    )


def _kept_in_category(state: ThreadState, vocabulary: Vocabulary) -> ThreadState:
    """Return the thread bound to the category of what was shown, so that a refinement does not wander off."""
    if any(each.role == "category" for each in state.constraints):
        return state
    shared = shared_category(state.shown, vocabulary)
    return state if shared is None else replace(state, constraints=(shared, *state.constraints))


def _without_products(state: ThreadState, references: References) -> ThreadState:
    left_out = tuple(
        Constraint(role="product", wanted=False, filter=product_filter(product), words=product.title)
        for product in references.products
    )
    return replace(state, constraints=(*state.constraints, *left_out)[-MAX_CONSTRAINTS:], focus=None)


def _joined_query(query: str, topic: tuple[str, ...]) -> str:
    known = query.split()
    stems = {singular(word) for word in known}
    # A search knows that mugs are a mug, but not that mice are a mouse.
    new = (word if word.endswith("s") else singular(word) for word in topic)
    joined = [*known, *(word for word in new if singular(word) not in stems)]
    return " ".join(joined)[:MAX_QUERY_CHARACTERS].strip()


def _with_amount(text: str, state: ThreadState, vocabulary: Vocabulary) -> str:
    """Return a bare number as a size after a size, else as money where it can be no position."""
    match = _AMOUNT.match(text)
    if match is None or int(match["amount"]) <= max(_NO_POSITION, len(state.shown)) or state.is_empty:
        return text
    has_size = any(each.role == "size" and each.wanted for each in state.constraints)
    is_size = vocabulary.find_ending(vocabulary.roles.sizes, (match["amount"],)) is not None
    return f"size {match['amount']}" if has_size and is_size else f"at most {match['amount']}"


def _earlier(state: ThreadState, before: ThreadState) -> tuple[ThreadState, ...]:
    same = search_of(state) == search_of(before)
    return before.earlier if same else with_earlier(before.earlier, before)
