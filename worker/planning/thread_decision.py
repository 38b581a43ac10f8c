"""What the rules decide for one sentence of a conversation: to search, to show, to answer or to ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from search_proxy.filters import Filter
from search_proxy.models import SortField
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.thread_products import ShownProduct
from worker.planning.thread_question_kinds import Question
from worker.planning.thread_state import ThreadState
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

    `search` is there for `search`, `product_ids` for `show`, with the `question` that was asked about them,
    if any. `state` is the thread after the sentence, before anything new was shown
    (`ThreadState.after_showing`); where the search finds nothing, `when_empty` is what to say and
    `ThreadState.after_nothing` what to keep. `options` are offered beside a question of ours.
    """

    kind: Kind
    state: ThreadState
    message: str
    search: ThreadSearch | None = None
    product_ids: tuple[str, ...] = ()
    question: Question | None = None
    when_empty: str = ""
    options: tuple[str, ...] = ()


def to_search(
    state: ThreadState, vocabulary: Vocabulary, *, opening: str = "Here", offset: int | None = None
) -> ThreadDecision:
    """Return the decision to search for the thread as it stands, or for a page of what it has shown."""
    kept = replace(state, offset=offset or 0)
    if offset is None:
        kept = replace(kept, lowest=None, highest=None, focus=None, shown=(), spoken=())
    label = describe(kept, vocabulary)
    return ThreadDecision(
        kind="search",
        state=kept,
        message=f"{opening}: {label}.",
        search=ThreadSearch(
            query=kept.query or None,
            filter=kept.filter(vocabulary.roles),
            sort=() if kept.sort is None else (kept.sort,),
            offset=kept.offset,
            label=label,
        ),
        when_empty=f"I found {'nothing for' if offset is None else 'no more'} {label}.",
    )


def to_show(
    products: Sequence[ShownProduct], state: ThreadState, question: Question | None = None
) -> ThreadDecision:
    """Return the decision to show the very products, and to answer what was asked about them."""
    is_one_of_several = len(products) == 1 and products[0] in state.spoken
    titles = " and ".join(product.title or product.id for product in products)
    return ThreadDecision(
        kind="show",
        state=replace(
            state,
            focus=products[0] if len(products) == 1 else None,
            spoken=state.spoken if is_one_of_several else tuple(products) if len(products) > 1 else (),
        ),
        message=f"Here is {titles}." if len(products) == 1 else f"Here are {titles}.",
        product_ids=tuple(product.id for product in products),
        question=question,
    )


def no_such_position(words: str, state: ThreadState) -> ThreadDecision:
    """Return the decision to ask, because the sentence names a position that was not shown."""
    count = len(state.shown)
    products = "product" if count == 1 else "products"
    message = f"I showed {count} {products}, so there is no “{words}”. Which one do you mean?"
    return ThreadDecision(kind="clarify", state=state, message=message)
