"""What a conversation without a model remembers: the search as it stands, and what was shown of it.

It travels as small JSON in the stored turn. A state that this program cannot read is an empty one: the
conversation then goes on from the next sentence, which is better than not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from search_proxy.filters import (
    Filter,
    FilterSyntaxError,
    NotFilter,
    OrFilter,
    RangeFilter,
    merge_filters,
    parse_filter,
)
from search_proxy.models import SortField
from worker.planning.catalog_roles import Roles
from worker.planning.thread_products import ShownProduct, product_filter, product_json, product_of_json

STATE_FORMAT = 1
MAX_SHOWN = 36
"""Products that can be spoken of as "the seventh": six categories of six; a state stays under 32 KB."""
MAX_CONSTRAINTS = 24
MAX_QUERY_CHARACTERS = 300
MAX_EARLIER = 8
_EARLIER_CHARACTERS = 6_000
"""Of filters, over all earlier searches; most of them have few."""

ConstraintRole = Literal[
    "stock", "brand", "colour", "size", "material", "audience", "text", "product", "category"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """One thing that every product must be, or must not be; `filter` says what, `words` how it was said."""

    role: ConstraintRole
    wanted: bool
    filter: Filter
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadState:
    """The search as it stands. `shown` is the last page in display order; `offset` counts all pages.

    `lowest` and `highest` are prices over all pages of this search. `focus` is the product that the last
    turn was about, `spoken` are those where it was about several, `like` is the one that the search
    resembles. `earlier` are the searches before this one, the last one last (`search_of`).
    """

    query: str = ""
    constraints: tuple[Constraint, ...] = ()
    price_min: float | None = None
    price_max: float | None = None
    sort: SortField | None = None
    like: ShownProduct | None = None
    shown: tuple[ShownProduct, ...] = ()
    offset: int = 0
    lowest: float | None = None
    highest: float | None = None
    focus: ShownProduct | None = None
    spoken: tuple[ShownProduct, ...] = ()
    earlier: tuple[ThreadState, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing yet that a sentence could refine."""
        return not (self.query or self.constraints or self.shown or self.like) and self.price_range is None

    @property
    def price_range(self) -> tuple[float | None, float | None] | None:
        """Return the price limits, or None where there are none."""
        limits = (self.price_min, self.price_max)
        return None if limits == (None, None) else limits

    def filter(self, roles: Roles) -> Filter | None:
        """Return everything that the thread demands: wanted values of one role ORed, all else ANDed."""
        wanted: dict[str, Filter] = {}
        parts: list[Filter] = []
        for constraint in self.constraints:
            if not constraint.wanted:
                parts.append(NotFilter(constraint.filter))
            elif constraint.role in wanted:
                wanted[constraint.role] = OrFilter(wanted[constraint.role], constraint.filter)
            else:
                wanted[constraint.role] = constraint.filter
        if self.price_range is not None and roles.price is not None:
            parts.append(RangeFilter(roles.price, _whole(self.price_min), _whole(self.price_max)))
        if self.like is not None:
            parts.append(NotFilter(product_filter(self.like)))
        return merge_filters(*wanted.values(), *parts)

    def after_showing(self, products: Sequence[ShownProduct]) -> ThreadState:
        """Return the state after a page of products was shown for this search."""
        prices = [product.price for product in products if product.price is not None]
        earlier = [price for price in (self.lowest, self.highest) if price is not None]
        known = [*prices, *earlier]
        return replace(
            self,
            shown=tuple(products[:MAX_SHOWN]),
            offset=self.offset + len(products),
            lowest=min(known, default=None),
            highest=max(known, default=None),
            focus=products[0] if len(products) == 1 else None,
            spoken=(),
        )

    def after_nothing(self, previous: ThreadState) -> ThreadState:
        """Return the thread after a search that found nothing: `previous`, with what is unwanted since.

        A wish that cannot be met is given up, so that the next one can; an exclusion never is, so it is the
        wishes beside it that go: who gets no grey jacket without black ones wants any colour but black.
        """
        unwanted = tuple(
            each for each in self.constraints if not each.wanted and each not in previous.constraints
        )
        kept = tuple(
            each
            for each in previous.constraints
            if not (each.wanted and any(each.role == other.role for other in unwanted))
        )
        # Going back from here is going back to `previous`, not to what was before it.
        after = replace(previous, constraints=(*kept, *unwanted)[-MAX_CONSTRAINTS:])
        return replace(after, earlier=with_earlier(previous.earlier, previous))

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON, a few kilobytes."""
        return {
            "format": STATE_FORMAT,
            **_search_json(self),
            "shown": [product_json(product) for product in self.shown],
            "offset": self.offset,
            "seen_prices": [self.lowest, self.highest],
            "focus": None if self.focus is None else product_json(self.focus),
            "spoken": [product_json(product) for product in self.spoken],
            "earlier": [_search_json(search) for search in self.earlier],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ThreadState:
        """Return the state of stored JSON, an empty one where it is of another format."""
        if value.get("format") != STATE_FORMAT:
            return cls()
        try:
            return replace(
                _search_of_json(value),
                shown=tuple(product_of_json(item) for item in value["shown"]),
                offset=int(value["offset"]),
                lowest=value["seen_prices"][0],
                highest=value["seen_prices"][1],
                focus=None if value["focus"] is None else product_of_json(value["focus"]),
                spoken=tuple(product_of_json(item) for item in value.get("spoken", ())),
                earlier=tuple(_search_of_json(item) for item in value.get("earlier", ())),
            )
        except (KeyError, TypeError, ValueError, IndexError, FilterSyntaxError):
            return cls()


def search_of(state: ThreadState) -> ThreadState:
    """Return what a thread searches for, without what it has shown."""
    return ThreadState(
        query=state.query,
        constraints=state.constraints,
        price_min=state.price_min,
        price_max=state.price_max,
        sort=state.sort,
        like=state.like,
    )


def with_earlier(earlier: tuple[ThreadState, ...], state: ThreadState) -> tuple[ThreadState, ...]:
    """Return the earlier searches with that of a state as the last; the oldest go where it gets too much."""
    search = search_of(state)
    if search.is_empty or earlier[-1:] == (search,):
        return earlier
    kept = (*earlier, search)[-MAX_EARLIER:]
    while sum(len(str(each.filter)) for search in kept for each in search.constraints) > _EARLIER_CHARACTERS:
        kept = kept[1:]
    return kept


def _search_json(state: ThreadState) -> dict[str, Any]:
    return {
        "query": state.query,
        "constraints": [[each.role, each.wanted, str(each.filter), each.words] for each in state.constraints],
        "price": [state.price_min, state.price_max],
        "sort": None if state.sort is None else [state.sort.name, state.sort.order],
        "like": None if state.like is None else product_json(state.like),
    }


def _search_of_json(value: Mapping[str, Any]) -> ThreadState:
    return ThreadState(
        query=str(value["query"]),
        constraints=tuple(
            Constraint(role=role, wanted=bool(wanted), filter=parse_filter(text), words=words)
            for role, wanted, text, words in value["constraints"]
        ),
        price_min=value["price"][0],
        price_max=value["price"][1],
        sort=None if value["sort"] is None else SortField(name=value["sort"][0], order=value["sort"][1]),
        like=None if value["like"] is None else product_of_json(value["like"]),
    )


def _whole(value: float | None) -> float | int | None:
    return int(value) if value is not None and value == int(value) else value
