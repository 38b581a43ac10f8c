"""Puts the moves about price and the lifted constraints into the thread.

Relative to what? To the product that the sentence names, else to the one that the last turn was about, else
to everything that this search has shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from search_proxy.models import SortField
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.catalog_words import singular, words_of
from worker.planning.thread_demands import CENT, limit_price
from worker.planning.thread_moves import Move
from worker.planning.thread_references import References
from worker.planning.thread_state import ShownProduct, ThreadState
from worker.planning.thread_topics import blank, without_roles

_TAKEN_BACK = (
    re.compile(
        r"\b(?:drop|forget|remove|lift|ignore|never mind|scratch)(?: about)? (?:the |that )?"
        r"(?P<words>[\w' -]{2,40}?)(?: (?:requirement|filter|restriction|part|thing|limit))?\s*$"
    ),
    re.compile(
        r"^\W*(?P<words>[\w' -]{2,40}?) (?:is|are|would be) (?:fine|ok|okay|alright|all right|good)"
        r"(?: too| after all| as well| with me)*\W*$"
    ),
)


def moved(
    state: ThreadState, moves: frozenset[Move], references: References, vocabulary: Vocabulary
) -> ThreadState:
    """Return the thread after the moves that are about price, and those that lift a constraint."""
    for move, roles in _LIFTED.items():
        if move in moves:
            state = without_roles(state, roles)
    for move, role in ((Move.OTHER_COLOUR, "colour"), (Move.OTHER_BRAND, "brand")):
        if move in moves:
            turned = (
                replace(each, wanted=False) if each.wanted and each.role == role else each
                for each in state.constraints
            )
            state = replace(state, constraints=tuple(turned))
    if Move.ANY_PRICE in moves:
        state = replace(state, price_min=None, price_max=None)
    prices = [each.price for each in references.products or _seen(state) if each.price is not None]
    lowest = min(prices, default=None) if references.products or state.focus else state.lowest
    highest = max(prices, default=None) if references.products or state.focus else state.highest
    price = vocabulary.roles.price
    if Move.NOT_CHEAPER in moves and lowest is not None:
        state = limit_price(state, lowest, None)
    if Move.NOT_DEARER in moves and highest is not None:
        state = limit_price(state, None, highest)
    if Move.CHEAPER in moves and price is not None:
        if lowest is None:
            return replace(state, sort=SortField(name=price, order="asc"))
        state = limit_price(state, None, round(lowest - CENT, 2))
    if Move.DEARER in moves and price is not None:
        if highest is None:
            return replace(state, sort=SortField(name=price, order="desc"))
        state = limit_price(state, round(highest + CENT, 2), None)
    return state


_LIFTED: Mapping[Move, frozenset[str]] = {
    Move.ANY_COLOUR: frozenset({"colour"}),
    Move.ANY_BRAND: frozenset({"brand"}),
    Move.ANY_MATERIAL: frozenset({"material"}),
    Move.ANY_SIZE: frozenset({"size"}),
    Move.ANY_STOCK: frozenset({"stock"}),
}


def _seen(state: ThreadState) -> tuple[ShownProduct, ...]:
    return (state.focus,) if state.focus is not None else state.shown


def lift_values(text: str, state: ThreadState) -> tuple[ThreadState, str]:
    """Lift constraints that the sentence takes back by name: "drop the wool", "black is fine after all".

    Returns:
        The thread without them and what is left of the text; the very same state where there was nothing.
    """
    for pattern in _TAKEN_BACK:
        match = pattern.search(text)
        named = {singular(word) for word in words_of(match["words"])} if match is not None else set()
        kept = tuple(
            each
            for each in state.constraints
            if not named & {singular(word) for word in words_of(each.words)} or each.role == "category"
        )
        if match is not None and len(kept) < len(state.constraints):
            return replace(state, constraints=kept), blank(text, [match.span()])
    return state, text
