"""Reads what is left of a sentence as demands on the products, and puts them into the thread.

The catalog planner's reader finds what fields can express. Beside it this file knows what a thread needs:
a colour or material that no field holds is looked for in the texts, and what is unwanted is looked for
everywhere, because one wool hit after "not wool" is worse than one product too few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from search_proxy.filters import ContainsFilter, Filter, NotFilter, OrFilter, RangeFilter, TermFilter
from search_proxy.models import SortField
from worker.planning.catalog_constraints import Demand, read_demands
from worker.planning.catalog_lexicon import COLOURS, FILLER, SPELLINGS, VAGUE, topic_words
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.catalog_words import singular, word_set, words_of
from worker.planning.thread_measures import for_persons, sizes_named
from worker.planning.thread_state import MAX_CONSTRAINTS, Constraint, ConstraintRole, ThreadState

CENT = 0.01

_MATERIALS = word_set(
    """wool merino lambswool cashmere mohair alpaca cotton linen hemp silk satin velvet denim leather suede
    nubuck fur shearling sheepskin polyester nylon acrylic fleece down feather feathers rubber latex
    plastic metal steel aluminium aluminum iron brass copper titanium glass crystal ceramic porcelain
    stoneware wood wooden oak pine walnut bamboo teak rattan wicker cork marble stone concrete canvas
    mesh spandex elastane viscose lyocell modal synthetic synthetics jute animal animals
    fabric sisal seagrass raffia coir"""
)
_KINDS_OF = {
    "wool": ("wool", "woollen", "woolen", "merino", "lambswool", "cashmere"),
    "leather": ("leather", "suede", "nubuck"),
    "fur": ("fur", "faux-fur", "shearling", "sheepskin"),
    "down": ("down", "feather", "feathers"),
    "wood": ("wood", "wooden", "oak", "pine", "walnut", "teak"),
    "plastic": ("plastic", "polypropylene", "acrylic"),
    "synthetic": (
        "synthetic",
        "polyester",
        "nylon",
        "acrylic",
        "polypropylene",
        "polycarbonate",
        "polyamide",
        "polyurethane",
        "elastane",
        "spandex",
        "plastic",
    ),
    "animal": (
        *("wool", "woollen", "woolen", "merino", "lambswool", "cashmere", "alpaca", "mohair", "silk"),
        *("leather", "suede", "nubuck", "fur", "sheepskin", "down", "feather"),
    ),
    "metal": ("metal", "steel", "aluminium", "aluminum", "iron", "brass"),
}
"""What a shopper who excludes the word does not want either."""

_PROSE = word_set("down iron pine cork stone")
"""Materials that descriptions also use as other words: "rolls down small"."""

_TALK = word_set(
    """back before anymore requirement after all fine ones one colour color colours colors version versions
    instead else other others option options same different again okay ok yes no please hmm actually
    also too only size sizes brand brands made material materials variant variants them those these it
    that this thing things price priced prices costing cost costs style styles kind type similar like
    than as then now still already second first third last next more less lot bit little page results
    result products product items item anything something nothing everything choice choices alternative
    alternatives rather really very quite just but and or with in of from by for at least most show see
    find get give tell about details detail information info take buy love prefer compare comparison
    difference versus vs between better which what how both either neither come comes coming previous
    cut left there got pair pairs
    many stainless spend pay willing able"""
)
_ROSE_GOLD = "rose gold"
_SAYS_BELOW = re.compile(r"\b(?:under|below|beneath|less than|cheaper than|lower than|<(?!=))", re.I)
_SAYS_ABOVE = re.compile(r"\b(?:over|above|more than|exceeding|>(?!=))", re.I)
_LEADING = re.compile(r"^[\W_]*(?:(?:and|but|or|than)\b\s*)+")
_ADDS = re.compile(r"\b(?:also|as well|too|and also|or in|additionally)\b", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDemands:
    """What a sentence demands: constraints, price limits, order, and the words left to search."""

    constraints: tuple[Constraint, ...] = ()
    price_min: float | None = None
    price_max: float | None = None
    sort: SortField | None = None
    topic: tuple[str, ...] = ()
    adds: bool = False

    @property
    def any_demand(self) -> bool:
        """Return whether the sentence demands anything that fields or texts can answer."""
        return bool(self.constraints or self.sort) or self.price_range is not None

    @property
    def price_range(self) -> tuple[float | None, float | None] | None:
        """Return the price limits, or None where the sentence sets none."""
        limits = (self.price_min, self.price_max)
        return None if limits == (None, None) else limits


def read_thread_demands(text: str, vocabulary: Vocabulary) -> ReadDemands:
    """Read the demands of a rephrased sentence whose moves were taken out."""
    text = sizes_named(text, vocabulary)
    clauses = [read_demands(_LEADING.sub("", clause), vocabulary) for clause in text.split(";")]
    constraints: list[Constraint] = []
    price_min: float | None = None
    price_max: float | None = None
    for demand in (demand for read in clauses for demand in read.demands):
        if demand.role == "price" and isinstance(demand.filter, RangeFilter):
            lower, upper = demand.filter.lower, demand.filter.upper
            # "under 50" leaves 50 out in a conversation: the reply will say "under 50" too.
            if upper is not None:
                price_max = round(upper - CENT, 2) if _SAYS_BELOW.search(demand.words) else upper
            if lower is not None:
                price_min = round(lower + CENT, 2) if _SAYS_ABOVE.search(demand.words) else lower
        elif demand.role != "price":
            constraints.append(_constraint(demand, vocabulary))
    topic: list[str] = []
    for word in (word for read in clauses for word in _joined(read.rest)):
        found = for_persons(word, vocabulary) or _by_lexicon(word, vocabulary, topic)
        if found is not None:
            constraints.append(found)
        else:
            topic.append(word)
    return ReadDemands(
        constraints=tuple(constraints),
        price_min=price_min,
        price_max=price_max,
        sort=next((read.sort for read in clauses if read.sort is not None), None),
        topic=tuple(word for word in topic_words(topic) if word not in _TALK and word not in VAGUE),
        adds=_ADDS.search(text) is not None,
    )


def apply_demands(state: ThreadState, demands: ReadDemands) -> ThreadState:
    """Return the thread with the demands in it: a new value of a role takes the place of the old ones."""
    constraints = list(state.constraints)
    replaced: set[ConstraintRole] = set()
    for new in demands.constraints:
        if new.wanted and not demands.adds and new.role not in replaced:
            constraints = [old for old in constraints if not (old.wanted and old.role == new.role)]
            replaced.add(new.role)
        constraints = [old for old in constraints if not _is_about_the_same(old, new)]
        constraints.append(new)
    changed = replace(
        state,
        query=_without_unwanted(state.query, demands.constraints),
        constraints=tuple(constraints[-MAX_CONSTRAINTS:]),
    )
    changed = limit_price(changed, demands.price_min, demands.price_max)
    return changed if demands.sort is None else replace(changed, sort=demands.sort)


def _without_unwanted(query: str, constraints: Sequence[Constraint]) -> str:
    """Return the query without the words that it must not have: "canon" of a query goes with "no canon"."""
    unwanted = {
        singular(word)
        for each in constraints
        if not each.wanted and each.role != "product"
        for word in words_of(each.words)
    }
    return " ".join(word for word in query.split() if singular(word) not in unwanted)


def kinds_of(word: str) -> tuple[str, ...]:
    """Return the word and what else it stands for: merino is wool."""
    return _KINDS_OF.get(word, (word,))


def limit_price(state: ThreadState, price_min: float | None, price_max: float | None) -> ThreadState:
    """Return the thread with new limits; an older limit that contradicts a new one goes."""
    lower = price_min if price_min is not None else state.price_min
    upper = price_max if price_max is not None else state.price_max
    if lower is not None and upper is not None and lower > upper:
        lower = lower if price_min is not None else None
        upper = upper if price_max is not None else None
    return replace(state, price_min=lower, price_max=upper)


def text_filter(words: Sequence[str], vocabulary: Vocabulary) -> Filter | None:
    """Return the filter for products whose title or description has one of the words."""
    parts = [ContainsFilter(name, word) for name in vocabulary.roles.texts for word in words]
    return _any_of(parts)


def _constraint(demand: Demand, vocabulary: Vocabulary) -> Constraint:
    role: ConstraintRole = demand.role if demand.role != "price" else "text"
    if not isinstance(demand.filter, NotFilter):
        return Constraint(
            role=role, wanted=True, filter=demand.filter, words=_called(demand.filter, role, demand.words)
        )
    words = demand.words.removeprefix("not ")
    unwanted = demand.filter.operand
    if role == "text" and all(word in COLOURS for word in words_of(words)):
        role = "colour"
    elif role == "text" and any(singular(word) in _MATERIALS for word in words_of(words)):
        role = "material"
    if role in {"material", "text", "colour"}:
        everywhere = unwanted_filter(words, role, vocabulary)
        if isinstance(unwanted, TermFilter) and everywhere is not None:
            unwanted = OrFilter(unwanted, everywhere)
        else:
            unwanted = everywhere or unwanted
    words = _called(demand.filter.operand, role, words)
    return Constraint(role=role, wanted=False, filter=unwanted, words=words)


def _called(wanted: Filter, role: ConstraintRole, words: str) -> str:
    """Return how to speak of a constraint: brand and size as the catalog has them, all else as said."""
    return wanted.value if role in {"brand", "size"} and isinstance(wanted, TermFilter) else words


def unwanted_filter(words: str, role: ConstraintRole, vocabulary: Vocabulary) -> Filter | None:
    """Return the filter for products that have an unwanted colour, material or word anywhere."""
    roles = vocabulary.roles
    spoken = words_of(words)
    if role == "colour":
        names = tuple(dict.fromkeys((*spoken, *(SPELLINGS[word] for word in spoken if word in SPELLINGS))))
        fields = roles.colours or roles.texts
        return _any_of([ContainsFilter(field, word) for field in fields for word in names])
    kinds = tuple(dict.fromkeys(kind for word in spoken for kind in _KINDS_OF.get(singular(word), (word,))))
    parts: list[ContainsFilter] = []
    tags = tuple(name for name in ("tags",) if vocabulary.description.field(name) is not None)
    texts = roles.texts[:1] if roles.materials and _PROSE.intersection(spoken) else roles.texts
    for field in (*roles.materials, *tags, *texts):
        values = vocabulary.value_words.get(field, frozenset())
        containing = [value for value in sorted(values) for kind in kinds if kind in value and len(kind) > 2]
        parts += [ContainsFilter(field, word) for word in dict.fromkeys((*kinds, *containing))]
    return _any_of(parts)


def _joined(words: Sequence[str]) -> Iterator[str]:
    """Yield the words with "rose gold" as one: it is no rose and no gold."""
    left = iter(words)
    for word in left:
        following = next(left, None) if word == "rose" else None
        if following == "gold":
            yield _ROSE_GOLD
            continue
        yield word
        if following is not None:
            yield following


def _by_lexicon(word: str, vocabulary: Vocabulary, before: Sequence[str]) -> Constraint | None:
    """Read a colour that no field has, or a material, as a word that field or text must have."""
    if word in COLOURS | {_ROSE_GOLD} and not vocabulary.roles.colours:
        names = (word, *((SPELLINGS[word],) if word in SPELLINGS else ()))
        wanted = text_filter(names, vocabulary)
        return None if wanted is None else Constraint(role="colour", wanted=True, filter=wanted, words=word)
    if singular(word) not in _MATERIALS or word in FILLER:
        return None
    fields = tuple(
        name
        for name in vocabulary.roles.materials
        if singular(word) in vocabulary.value_words.get(name, frozenset())
    )
    wanted = _any_of([ContainsFilter(name, singular(word)) for name in fields]) or text_filter(
        (word,), vocabulary
    )
    if wanted is None or _names_a_category([*before, word], vocabulary):
        return None
    return Constraint(role="material", wanted=True, filter=wanted, words=word)


def _names_a_category(words: Sequence[str], vocabulary: Vocabulary) -> bool:
    return vocabulary.find(vocabulary.roles.category_fields, tuple(words[-2:])) is not None


def _is_about_the_same(old: Constraint, new: Constraint) -> bool:
    if old.role == "product" or new.role == "product":
        return old == new
    if old.role != new.role:
        return False
    ours = {singular(word) for word in words_of(old.words)}
    theirs = {singular(word) for word in words_of(new.words)}
    if old.role != "material" or old.wanted == new.wanted:
        return ours == theirs
    # "not wood" after "wooden" takes its place: they speak of the same thing.
    return bool(
        {kind for word in ours for kind in kinds_of(word)}
        & {kind for word in theirs for kind in kinds_of(word)}
    )


def _any_of(parts: Sequence[ContainsFilter | TermFilter]) -> Filter | None:
    combined: Filter | None = None
    for part in dict.fromkeys(parts):
        combined = part if combined is None else OrFilter(combined, part)
    return combined
