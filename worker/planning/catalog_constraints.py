"""Reads what a sentence demands of a product's fields: price, stock, brand, colour, size, and what to avoid.

Everything is checked against the catalog's own vocabulary, so a demand that no field can express stays in
the words to search for. Each demand keeps its words: when nothing satisfies it, they can be searched instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from search_proxy.filters import Filter, InFilter, NotFilter, RangeFilter, TermFilter, merge_filters
from search_proxy.models import SortField
from worker.planning.catalog_lexicon import BEST_RATED_FIRST, CHEAPEST_FIRST, DEAREST_FIRST, IN_STOCK
from worker.planning.catalog_prices import find_price_limits
from worker.planning.catalog_roles import Roles
from worker.planning.catalog_values import read_unwanted, read_value
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.catalog_words import WORD

Role = Literal["price", "stock", "brand", "colour", "size", "material", "audience", "text"]

_UNWANTED = re.compile(
    r"\b(?:(?:anything|everything|all|nothing) but|other than|rather than|instead of|apart from|free of"
    r"|(?:but|and) (?:not|no)"
    r"|(?:do not|don'?t|doesn'?t|does not) (?:want|like|need|have|contain|include)|(?:is|are|be) not"
    r"|hates?|allergic to)\b",
    re.I,
)
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8}
_PERSONS = re.compile(
    rf"\b(?:for |sleeps )?({'|'.join(_COUNTS)}|\d{{1,2}})[ -](?:people|persons?|man|adults)\b", re.I
)
"""Catalogs write "2-person" for what people say in many ways."""
_CORDLESS = re.compile(
    r"\b(?:sans fils?|ohne kabel|kabellos\w*|sin cables?|without (?:a )?(?:wires?|cords?|cables?))\b", re.I
)
"""What is said as a thing left out, and stands in catalogs as a quality."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One thing demanded: the filter that expresses it and the words that said so."""

    role: Role
    filter: Filter
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What a sentence demands, the words left to search for, and the order it asked for."""

    demands: tuple[Demand, ...] = ()
    rest: tuple[str, ...] = ()
    sort: SortField | None = None

    @property
    def filter(self) -> Filter | None:
        """Return the demands ANDed; several wanted values of one field become one IN."""
        return merge_filters(*_joined(self.demands))


def read_demands(query: str, vocabulary: Vocabulary) -> Demands:
    """Split a query into demands on fields and the remaining words, casefolded, in order."""
    roles = vocabulary.roles
    demands: list[Demand] = []
    text, sort = _take_sort(query, roles)
    text = _take_price(text, roles, demands)
    text = _take_stock(text, roles, demands)
    text = _PERSONS.sub(lambda match: f" {_COUNTS.get(match[1].lower(), match[1])}-person ", text)
    text = _UNWANTED.sub(" not ", _CORDLESS.sub(" wireless ", text))
    words = [match.group().casefold().replace("’", "'") for match in WORD.finditer(text)]
    rest: list[str] = []
    position = 0
    while position < len(words):
        unwanted = read_unwanted(words, position, vocabulary)
        if unwanted is not None:
            demands += [
                Demand(role=value.role, filter=NotFilter(value.filter), words=f"not {value.words}")
                for value in unwanted.values
            ]
            position = unwanted.end
            continue
        value = read_value(words, position, vocabulary)
        if value is not None:
            demands.append(Demand(role=value.role, filter=value.filter, words=value.words))
            position = value.end
            continue
        rest.append(words[position])
        position += 1
    return Demands(demands=tuple(demands), rest=tuple(rest), sort=sort)


def without(demands: Demands, roles: frozenset[Role]) -> Demands:
    """Return the demands without those of some roles; the words of what was wanted go back to the search."""
    freed = [
        word
        for demand in demands.demands
        if demand.role in roles
        and demand.role not in ("price", "stock")
        and not isinstance(demand.filter, NotFilter)
        for word in demand.words.split()
    ]
    kept = tuple(demand for demand in demands.demands if demand.role not in roles)
    return replace(demands, demands=kept, rest=(*freed, *demands.rest))


def _take_sort(text: str, roles: Roles) -> tuple[str, SortField | None]:
    for pattern, field, order in (
        (CHEAPEST_FIRST, roles.price, "asc"),
        (DEAREST_FIRST, roles.price, "desc"),
        (BEST_RATED_FIRST, roles.rating, "desc"),
    ):
        match = pattern.search(text)
        if match is not None:
            found = SortField(name=field, order="asc" if order == "asc" else "desc") if field else None
            return _blank(text, [match.span()]), found
    return text, None


def _take_price(text: str, roles: Roles, demands: list[Demand]) -> str:
    limits = find_price_limits(text)
    if roles.price is None or not limits.spans:
        return text
    words = " ".join(text[start:end].strip() for start, end in limits.spans)
    for low, high in _ranges(limits.lower, limits.upper):
        demands.append(Demand(role="price", filter=RangeFilter(roles.price, low, high), words=words))
    return _blank(text, limits.spans)


def _ranges(lower: float | None, upper: float | None) -> Iterable[tuple[float | None, float | None]]:
    low, high = _whole(lower), _whole(upper)
    if low is not None and high is not None and low > high:
        # The sentence contradicts itself: both limits are kept, so nothing matches, which is the truth.
        return ((low, None), (None, high))
    return ((low, high),)


def _whole(value: float | None) -> float | None:
    return int(value) if value is not None and value == int(value) else value


def _take_stock(text: str, roles: Roles, demands: list[Demand]) -> str:
    match = IN_STOCK.search(text)
    stock = roles.stock
    if match is None:
        return text
    if stock is not None:
        wanted: Filter
        if stock.kind == "number":
            wanted = RangeFilter(stock.name, 1, None)
        elif stock.kind == "boolean":
            wanted = TermFilter(stock.name, "true")
        else:
            values = [value for value, _ in stock.top_values]
            in_stock = next(
                (value for value in values if re.fullmatch(r"in[ _-]?stock|yes|true", value, re.I)),
                "in stock",
            )
            wanted = TermFilter(stock.name, in_stock)
        demands.append(Demand(role="stock", filter=wanted, words=match.group()))
    return _blank(text, [match.span()])


def _blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _joined(demands: Sequence[Demand]) -> list[Filter]:
    """Return one filter per demand, wanted values of one field together."""
    joined: list[Filter] = []
    for demand in demands:
        previous = next(
            (
                index
                for index, other in enumerate(joined)
                if isinstance(demand.filter, TermFilter)
                and isinstance(other, TermFilter | InFilter)
                and other.field == demand.filter.field
            ),
            None,
        )
        if previous is None or not isinstance(demand.filter, TermFilter):
            if demand.filter not in joined:
                joined.append(demand.filter)
            continue
        other = joined[previous]
        assert isinstance(other, TermFilter | InFilter)
        values = other.values if isinstance(other, InFilter) else (other.value,)
        if demand.filter.value not in values:
            joined[previous] = InFilter(demand.filter.field, (*values, demand.filter.value))
    return joined
