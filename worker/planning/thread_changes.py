"""Puts the moves about price and the lifted constraints into the thread.

Relative to what? To the product that the sentence names, else to the one that the last turn was about, else
to everything that this search has shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from search_proxy.filters import TermFilter
from search_proxy.models import SortField
from worker.planning.catalog_prices import APPROXIMATELY
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.catalog_words import singular, words_of
from worker.planning.thread_demands import CENT, limit_price
from worker.planning.thread_moves import Move
from worker.planning.thread_products import ShownProduct
from worker.planning.thread_references import References
from worker.planning.thread_sizes import sizes_beyond
from worker.planning.thread_state import Constraint, ConstraintRole, ThreadState
from worker.planning.thread_topics import blank, without_roles

_DROPPED = re.compile(
    r"\b(?:drop|forget|remove|lift|ignore|never mind|scratch|take (?:off|away|out))(?: about)? (?:the "
    r"|that )?"
    r"(?P<words>[\w' -]{2,40}?)(?: (?:requirement|filter|restriction|part|thing|limit))?\s*$"
)
_FINE_AFTER_ALL = re.compile(
    r"^\W*(?P<words>[\w' -]{2,40}?) (?:is|are|would be) (?:fine|ok|okay|alright|all right|good)"
    r"(?: too| after all| as well| with me)*\W*$"
)


def moved(
    state: ThreadState, moves: frozenset[Move], references: References, vocabulary: Vocabulary
) -> ThreadState:
    """Return the thread after the moves that are about price, and those that lift a constraint."""
    for move, roles in _LIFTED.items():
        if move in moves:
            state = without_roles(state, roles)
    state = _compared(state, moves, references, vocabulary)
    if Move.ANY_PRICE in moves:
        state = replace(state, price_min=None, price_max=None)
    prices = [each.price for each in references.products or _seen(state) if each.price is not None]
    lowest = min(prices, default=None) if references.products or state.focus else state.lowest
    highest = max(prices, default=None) if references.products or state.focus else state.highest
    price = vocabulary.roles.price
    if Move.SAME_PRICE in moves and lowest is not None and highest is not None:
        state = limit_price(
            state, round(lowest * (1 - APPROXIMATELY), 2), round(highest * (1 + APPROXIMATELY), 2)
        )
    if Move.NOT_CHEAPER in moves and lowest is not None:
        state = limit_price(state, lowest, None)
    if Move.NOT_DEARER in moves and highest is not None:
        state = limit_price(state, None, highest)
    if Move.CHEAPER in moves and price is not None:
        if lowest is None:
            return replace(state, sort=SortField(name=price, order="asc"))
        # A floor says what the shopper expected to pay, not what it has to cost.
        state = limit_price(replace(state, price_min=None), None, round(lowest - CENT, 2))
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


def _compared(
    state: ThreadState, moves: frozenset[Move], references: References, vocabulary: Vocabulary
) -> ThreadState:
    """Return the thread bound to the colour, brand or material of a product, or to any other."""
    product = next(iter(references.products), None) or state.focus or next(iter(_seen(state)), None)
    for move, (role, wanted) in _COMPARING.items():
        if move not in moves:
            continue
        demanded = [each for each in state.constraints if each.role == role and each.wanted]
        if wanted or not demanded:
            found = None if product is None else attribute_of(product, role, wanted, vocabulary)
            demanded = [] if found is None else [found]
        named = {each.words for each in demanded}
        others = (
            each
            for each in state.constraints
            if not (each.role == role and (each.wanted or each.words in named))
        )
        turned = (replace(each, wanted=wanted) for each in demanded)
        state = replace(state, constraints=(*others, *turned))
    return state


_COMPARING: Mapping[Move, tuple[ConstraintRole, bool]] = {
    Move.OTHER_COLOUR: ("colour", False),
    Move.OTHER_BRAND: ("brand", False),
    Move.SAME_COLOUR: ("colour", True),
    Move.SAME_BRAND: ("brand", True),
    Move.SAME_MATERIAL: ("material", True),
}


def attribute_of(
    product: ShownProduct, role: ConstraintRole, wanted: bool, vocabulary: Vocabulary
) -> Constraint | None:
    """Return what a product has in a role as a demand, None where the catalog has no field for it."""
    roles = vocabulary.roles
    fields = {"colour": roles.colours, "brand": roles.brands[:1], "material": roles.materials}.get(role, ())
    for name in fields:
        for known in vocabulary.values.get(name, {}).values():
            if known.value.casefold() in product.attributes:
                value = known.value if role == "brand" else known.value.casefold()
                return Constraint(role=role, wanted=wanted, filter=TermFilter(name, known.value), words=value)
    return None


def resized(
    state: ThreadState, moves: frozenset[Move], references: References, vocabulary: Vocabulary
) -> ThreadState | None:
    """Return the thread in larger or smaller sizes; None where the catalog has none to compare."""
    if not moves & {Move.LARGER, Move.SMALLER}:
        return state
    wanted = sizes_beyond(state, references.products or _seen(state), vocabulary, larger=Move.LARGER in moves)
    if wanted is None:
        return None
    others = (each for each in state.constraints if not (each.role == "size" and each.wanted))
    return replace(state, constraints=(*others, wanted))


def _seen(state: ThreadState) -> tuple[ShownProduct, ...]:
    return (state.focus,) if state.focus is not None else state.spoken or state.shown


def lift_values(text: str, state: ThreadState) -> tuple[ThreadState, str]:
    """Lift constraints that the sentence takes back by name: "drop the wool", "black is fine after all".

    Returns:
        The thread without them and what is left of the text; the very same state where there was nothing.
    """
    for pattern in (_DROPPED, _FINE_AFTER_ALL):
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


def asked_to_drop(text: str) -> str | None:
    """Return what a sentence wants dropped, or None where it does not speak of that."""
    match = _DROPPED.search(text)
    return None if match is None else match["words"]


def accepts(text: str) -> bool:
    """Return whether a sentence only says that something would do as well."""
    return _FINE_AFTER_ALL.search(text) is not None
