"""Converses without a model: what a sentence means for the search so far, by rules over the thread.

Pure: the state of the thread and a sentence go in, a decision comes out; the flow searches, shows, and puts
what was shown into the state (`ThreadState.after_showing`). Every price move is relative to what was shown:
"cheaper" is strictly below the cheapest of it, "more expensive" strictly above the dearest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from search_proxy.filters import Filter, TermFilter
from search_proxy.models import IndexDescription, SortField
from worker.planning.catalog_decision import Decision, decide
from worker.planning.catalog_vocabulary import Vocabulary, learn_vocabulary
from worker.planning.plan import Strategy
from worker.planning.thread_changes import lift_values, moved
from worker.planning.thread_demands import (
    ReadDemands,
    apply_demands,
    read_thread_demands,
)
from worker.planning.thread_moves import Move, take_moves
from worker.planning.thread_phrasing import plain, rephrase
from worker.planning.thread_references import References, find_pointed, find_references
from worker.planning.thread_state import (
    MAX_CONSTRAINTS,
    MAX_QUERY_CHARACTERS,
    Constraint,
    ShownProduct,
    ThreadState,
    product_filter,
)
from worker.planning.thread_topics import begins_anew, blank, shared_category, without_roles
from worker.planning.thread_wording import describe

Kind = Literal["search", "show", "answer", "clarify"]

START_OVER_MESSAGE = "Let us start over. What are you looking for?"
NOT_UNDERSTOOD = (
    "I did not get that. You can narrow this down, for example “cheaper”, “under 50”, “in red”, “not wool”,"
    " “the second one” or “show me more”."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadSearch:
    """One search of the thread. `query` None browses; `offset` counts its products already shown."""

    query: str | None
    filter: Filter | None
    sort: tuple[SortField, ...] = ()
    offset: int = 0
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadDecision:
    """What to do for a sentence.

    `search` is there for `search`, `product_ids` for `show`. `state` is the thread after the sentence, before
    anything new was shown (`ThreadState.after_showing`); where the search finds nothing, `when_empty` is
    what to say and `ThreadState.after_nothing` what to keep. `options` are offered beside a question.
    """

    kind: Kind
    state: ThreadState
    message: str
    search: ThreadSearch | None = None
    product_ids: tuple[str, ...] = ()
    when_empty: str = ""
    options: tuple[str, ...] = ()


def vocabulary_of(description: IndexDescription) -> Vocabulary:
    """Return the vocabulary that an index's own description gives, without a search."""
    facets: Mapping[str, Mapping[str, Mapping[str, int]]] = {
        field.name: {value: {"count": count} for value, count in field.top_values}
        for field in description.fields
    }
    return learn_vocabulary(description, facets)


def decide_turn(utterance: str, state: ThreadState, vocabulary: Vocabulary) -> ThreadDecision:
    """Return what a sentence means for the thread."""
    text = rephrase(plain(utterance))
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
        return _no_such_position(references.missing, state)
    return _next_turn(text, taken.moves, taken.rest, references, state, vocabulary)


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
    return _search(state, vocabulary)


def _next_turn(
    text: str,
    moves: frozenset[Move],
    rest: str,
    references: References,
    state: ThreadState,
    vocabulary: Vocabulary,
) -> ThreadDecision:
    rest_without = blank(rest, references.spans)
    negated = rest[: references.spans[0][0]].rstrip().endswith("not") if references.spans else False
    if not references.products and Move.MORE not in moves:
        pointed = find_pointed(rest, state)
        if pointed.products and not moves & {Move.CHEAPER, Move.DEARER}:
            references, rest_without = pointed, blank(rest, pointed.spans)
    lifted, rest_without = lift_values(rest_without, state)
    if lifted is not state:
        return _search(lifted, vocabulary)
    demands = read_thread_demands(rest_without, vocabulary)
    if not references.products and begins_anew(text, demands, state, vocabulary):
        return _new_topic(text, moves, demands, state, vocabulary)
    understood = bool(moves or references.products or demands.any_demand or demands.topic)
    if negated:
        state, references = _without_products(state, references), References()
    if not understood:
        return ThreadDecision(kind="clarify", state=state, message=NOT_UNDERSTOOD)
    asks_for_stock = all(each.role == "stock" for each in demands.constraints) and demands.price_range is None
    if references.products and not moves and not demands.topic and asks_for_stock:
        return _show(references, state)
    changed = moved(state, moves, references, vocabulary)
    changed = _about(changed, moves, references, demands, vocabulary)
    changed = apply_demands(changed, demands)
    if demands.topic:
        changed = replace(changed, query=_joined_query(changed.query, demands.topic))
    if moves == {Move.MORE} and changed == state:
        return _search(state, vocabulary, more=True)
    return _search(_kept_in_category(changed, vocabulary), vocabulary)


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
    return _search(changed, vocabulary)


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


def _show(references: References, state: ThreadState) -> ThreadDecision:
    products = references.products
    titles = " and ".join(product.title or product.id for product in products)
    focused = replace(state, focus=products[0] if len(products) == 1 else None)
    return ThreadDecision(
        kind="show",
        state=focused,
        message=f"Here is {titles}." if len(products) == 1 else f"Here are {titles}.",
        product_ids=tuple(product.id for product in products),
    )


def _without_products(state: ThreadState, references: References) -> ThreadState:
    left_out = tuple(
        Constraint(role="product", wanted=False, filter=product_filter(product), words=product.title)
        for product in references.products
    )
    return replace(state, constraints=(*state.constraints, *left_out)[-MAX_CONSTRAINTS:], focus=None)


def _no_such_position(words: str, state: ThreadState) -> ThreadDecision:
    count = len(state.shown)
    products = "product" if count == 1 else "products"
    message = f"I showed {count} {products}, so there is no “{words}”. Which one do you mean?"
    return ThreadDecision(kind="clarify", state=state, message=message)


def _joined_query(query: str, topic: tuple[str, ...]) -> str:
    known = query.split()
    return " ".join([*known, *(word for word in topic if word not in known)])[:MAX_QUERY_CHARACTERS].strip()


def _search(state: ThreadState, vocabulary: Vocabulary, *, more: bool = False) -> ThreadDecision:
    """Return the decision to search for the thread as it stands, from its beginning unless for `more`."""
    if not more:
        state = replace(state, offset=0, lowest=None, highest=None, focus=None, shown=())
    label = describe(state, vocabulary)
    wanted = state.filter(vocabulary.roles)
    return ThreadDecision(
        kind="search",
        state=state,
        message=f"{'More' if more else 'Here'}: {label}.",
        search=ThreadSearch(
            query=state.query or None,
            filter=wanted,
            sort=() if state.sort is None else (state.sort,),
            offset=state.offset,
            label=label,
        ),
        when_empty=f"I found {'no more' if more else 'nothing for'} {label}.",
    )
