"""Tells a new wish from a refinement of the old one, and forgets what a new one no longer needs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from search_proxy.filters import TermFilter
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.catalog_words import singular, words_of
from worker.planning.thread_demands import ReadDemands
from worker.planning.thread_products import ShownProduct
from worker.planning.thread_state import Constraint, ThreadState

_ASKS_FOR = re.compile(
    r"\b(?:show me|i need|i want|i'?m looking for|looking for|search for|find me"
    r"|do you (?:have|sell)|have you got|what about"
    r"|how about|let'?s look at|now|switch to|go to|instead)\b",
    re.I,
)
_SPEAKS_OF_THE_OLD = re.compile(
    r"\b(?:ones?|it|them|those|these|they|that|also|too|as well|only|any (?:of|in)|with)\b", re.I
)
_A_THING = re.compile(
    r"^(?:and |maybe |perhaps |just )*(?:an?|some) (?!bit|little|lot|different|other)", re.I
)
_REFINES = re.compile(
    r"^(?:and |but |so )*(?:what|how) about (?:something |one |ones )?(?:for|with|without|in|from)\b"
)
_MORE_SO = re.compile(
    r"\b(?:something|anything|somewhat|a (?:bit|little)|much|even|ones?) (?:more \w+|\w{3,}er)(?: ones?)?$"
)
_WHAT_ABOUT = re.compile(r"^(?:and |but |so )*(?:what|how) about\b")
MAX_REFINING_WORDS = 3


def begins_anew(text: str, demands: ReadDemands, state: ThreadState, vocabulary: Vocabulary) -> bool:
    """Return whether the sentence names another kind of product than the thread is about."""
    if not demands.topic or _REFINES.search(text) is not None or all(map(_is_measure, demands.topic)):
        return False
    known = {singular(word) for word in words_of(state.query)}
    known |= {
        singular(word)
        for each in state.constraints
        if each.role == "category"
        for word in words_of(each.words)
    }
    new = [singular(word) for word in demands.topic if singular(word) not in known]
    if not new:
        # Said again in full, a wish starts anew; one word of it only repeats what it is about.
        return len(demands.topic) > 1 and _names_products(demands.topic, vocabulary)
    if _MORE_SO.search(text) is not None and len(new) == 1:
        return False
    if _names_products(new, vocabulary):
        return True
    if demands.constraints and _WHAT_ABOUT.search(text) is not None:
        return False
    if _SPEAKS_OF_THE_OLD.search(text):
        return False
    # Qualities come bare or with "for": "waterproof", "for hiking". A plural or "a ..." is a thing.
    if singular(demands.topic[-1]) != demands.topic[-1] or _A_THING.search(text):
        return " for " not in f" {text} "
    return _ASKS_FOR.search(text) is not None or len(new) > MAX_REFINING_WORDS


def opened(state: ThreadState, demands: ReadDemands) -> ThreadState:
    """Return the thread ready for a new word: of a likeness only the kind stays, of measures only others."""
    counts_people = any(each.words.endswith(" people") for each in demands.constraints)
    if not (demands.topic or counts_people):
        return state
    if state.like is not None and any(each.role == "category" for each in state.constraints):
        return replace(state, query="", like=None)
    units = {_unit(word) for word in demands.topic if _is_measure(word)}
    units |= {"-person"} if counts_people else set()
    kept = (word for word in state.query.split() if not (_is_measure(word) and _unit(word) in units))
    return replace(state, query=" ".join(kept))


def shared_category(products: Sequence[ShownProduct], vocabulary: Vocabulary) -> Constraint | None:
    """Return the kind or category that most of the products are in, as a constraint, or None.

    The finer one wins: who was shown sofas and says "cheaper" wants a sofa, not a lamp of the same room.
    """
    roles = vocabulary.roles
    for names, values in (
        (roles.types, [product.kind for product in products]),
        (roles.categories, [product.category for product in products]),
    ):
        counts = Counter(value for value in values if value is not None)
        if not counts:
            continue
        value, count = counts.most_common(1)[0]
        field = next((name for name in names if _has_value(name, value, vocabulary)), None)
        if field is not None and count * 3 >= len(products) * 2:
            return Constraint(role="category", wanted=True, filter=TermFilter(field, value), words=value)
    return None


def _has_value(name: str, value: str, vocabulary: Vocabulary) -> bool:
    return any(known.value == value for known in vocabulary.values.get(name, {}).values())


def without_roles(state: ThreadState, roles: frozenset[str], *, wanted_only: bool = False) -> ThreadState:
    """Return the thread without its constraints of some roles; `wanted_only` keeps what must not be."""
    kept = (
        each
        for each in state.constraints
        if each.role not in roles or (wanted_only and not each.wanted and each.role != "product")
    )
    return replace(state, constraints=tuple(kept))


def blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text with some spans left out."""
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return " ".join(text.split())


def _is_measure(word: str) -> bool:
    """Return whether a word only measures: "4-person", "2l"."""
    return word[0].isdigit()


def _unit(word: str) -> str:
    return word.lstrip("0123456789.,").casefold()


def _names_products(words: Iterable[str], vocabulary: Vocabulary) -> bool:
    """Return whether a word is what the name of a category ends in, as "jackets" in "Rain Jackets"."""
    wanted = set(words)
    for name in vocabulary.roles.category_fields:
        for value in vocabulary.values.get(name, {}):
            if value and value[-1] in {singular(word) for word in wanted}:
                return True
    return False
