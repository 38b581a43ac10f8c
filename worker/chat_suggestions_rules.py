"""Questions for a product page without a model: from its own attributes and its siblings'.

Each question is asked before it is offered: the rules of the conversation read it, the catalog is searched,
and it stays only where other products answer it as it was meant. None is a promise that the shop breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from search_proxy.binding import SearchBinding
from search_proxy.caller import Caller
from search_proxy.filters import TermFilter
from search_proxy.models import Document, FacetField, FacetsRequest, Hit, SearchRequest
from worker.planning.catalog_labels import category_label
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.thread_answers import can_answer
from worker.planning.thread_products import ShownProduct, remembered_fields, shown_product
from worker.planning.thread_rules import decide_turn
from worker.planning.thread_state import ThreadState

MAX_TRIED = 20
"""Questions tried for one product; each is one search of a millisecond or two."""
_SAID_ONCE = frozenset({"price", "other brand"})
"""Asked in another way it is the same question."""
_VALUES = 12
_TRIED_VALUES = 3
_HITS = 6
"""A row of the conversation."""
_SUITING = 3
"""So many of a row, from its beginning, have to suit; what a shopper looks at first is the answer."""

_OF_ITSELF = (
    ("material", "What is it made of?"),
    ("weight", "How heavy is it?"),
    ("warranty", "How long is the warranty?"),
    ("rating", "How good is it rated?"),
    ("stock", "Is it in stock?"),
)

Suits = Callable[[ShownProduct], bool]
Values = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A question, and what every product that answers it must be; `itself` in another variant, or others.

    Without `suits` it is the product's own data that answers.
    """

    question: str
    about: str
    suits: Suits | None = None
    itself: bool = False


class CatalogSuggestions:
    """Finds the questions that the catalog can answer."""

    def __init__(self, search: SearchBinding, caller: Caller, index: str, vocabulary: Vocabulary) -> None:
        self._search = search
        self._caller = caller
        self._index = index
        self._vocabulary = vocabulary

    async def questions(self, document: Document, limit: int) -> tuple[str, ...]:
        """Return up to `limit` questions, each about something else, the most telling first.

        Raises:
            SearchError: The catalog could not be searched.
        """
        product = shown_product(document, self._vocabulary.roles)
        variants, siblings = await self._values(document)
        found: dict[str, str] = {}
        spare: list[str] = []
        candidates = _candidates(document, product, variants, siblings, self._vocabulary)
        for tried, candidate in enumerate(candidates):
            if tried >= MAX_TRIED or len(found) >= limit:
                break
            if await self._is_answered(candidate, product, document):
                if candidate.about not in found:
                    found[candidate.about] = candidate.question
                elif candidate.about not in _SAID_ONCE:
                    spare.append(candidate.question)
        return (*found.values(), *spare)[:limit]

    async def _values(self, document: Document) -> tuple[Values, Values]:
        """Return what colours, sizes and brands the product's variants have, and those of its category."""
        roles = self._vocabulary.roles
        kinds = (*roles.types, *roles.categories)
        category = next((name for name in kinds if _one(document, name)), None)
        parent = document.get("parentProductId")
        of_itself = TermFilter("parentProductId", parent) if isinstance(parent, str) else None
        of_kind = None if category is None else TermFilter(category, _one(document, category))
        variants = {} if of_itself is None else await self._facets(of_itself)
        return variants, await self._facets(of_kind)

    async def _facets(self, scope: TermFilter | None) -> Values:
        roles = self._vocabulary.roles
        names = (*roles.colours[:1], *roles.sizes[:1], *roles.brands[:1])
        if not names:
            return {}
        wanted = SearchRequest(
            index=self._index,
            limit=1,
            filter=scope,
            facets=FacetsRequest(fields=tuple(FacetField(name=name, max_results=_VALUES) for name in names)),
            attributes_to_retrieve=("_id",),
            collapse=False,
        )
        facets = (await self._search.handle_search(self._caller, wanted)).facets
        return {name: list(facets.get(name, {})) for name in names}

    async def _is_answered(self, candidate: _Candidate, product: ShownProduct, document: Document) -> bool:
        thread = ThreadState().after_showing([product])
        decision = decide_turn(candidate.question, thread, self._vocabulary)
        if candidate.suits is None:
            question = decision.question
            return question is not None and can_answer(question, document, self._vocabulary)
        if decision.search is None:
            return False
        roles = self._vocabulary.roles
        wanted = SearchRequest(
            index=self._index,
            q=decision.search.query,
            limit=_HITS,
            filter=decision.search.filter,
            sort_by=decision.search.sort,
            attributes_to_retrieve=remembered_fields(roles),
        )
        hits = (await self._search.handle_search(self._caller, wanted)).hits
        answers = [shown_product(hit, roles) for hit in hits]
        others = [each for each in answers if each.id != product.id]
        if not others or not all(candidate.suits(each) for each in others[:_SUITING]):
            return False
        return not candidate.itself or others[0].parent == product.parent is not None


def _candidates(
    document: Document, product: ShownProduct, variants: Values, siblings: Values, vocabulary: Vocabulary
) -> Iterator[_Candidate]:
    roles = vocabulary.roles
    noun = _noun(document, vocabulary)
    kind = product.kind or product.category
    own = set(product.attributes)

    def of_its_kind(other: ShownProduct) -> bool:
        return kind is None or kind in (other.kind, other.category)

    def with_value(value: str) -> Suits:
        return lambda other: of_its_kind(other) and value.casefold()[:40] in other.attributes

    def others(values: Values, names: tuple[str, ...]) -> list[str]:
        found = [value for name in names for value in values.get(name, ())]
        return [value for value in found if value.casefold()[:40] not in own][:_TRIED_VALUES]

    for value in others(variants, roles.colours[:1]):
        question = f"Do you have it in {value}?"
        yield _Candidate(question=question, suits=with_value(value), about="colour", itself=True)
    for value in others(variants, roles.sizes[:1]):
        question = f"Is there one in size {value}?"
        yield _Candidate(question=question, suits=with_value(value), about="size", itself=True)
    for value in others(siblings, roles.colours[:1]):
        for question in (f"Which {noun} do you have in {value}?", f"Is there something similar in {value}?"):
            yield _Candidate(question=question, suits=with_value(value), about="colour")
    price = product.price
    if price is not None:
        for question in (f"Are there cheaper {noun}?", "Is there something cheaper?"):
            yield _Candidate(
                question=question,
                suits=lambda other: of_its_kind(other) and other.price is not None and other.price < price,
                about="price",
            )
    for name in roles.brands[:1]:
        brand = _one(document, name)
        if brand:
            question = f"What other {noun} are there from {brand}?"
            yield _Candidate(question=question, suits=with_value(brand), about="brand")
    for about, question in _OF_ITSELF:
        yield _Candidate(question=question, about=about)
    for value in others(siblings, roles.brands[:1]):
        for question in (f"Do you have {noun} from {value}?", f"Is there something similar from {value}?"):
            yield _Candidate(question=question, suits=with_value(value), about="other brand")
    yield _Candidate(question="Do you have anything similar?", suits=of_its_kind, about="similar")
    if price is not None:
        yield _Candidate(
            question="Is there something more expensive?",
            suits=lambda other: of_its_kind(other) and other.price is not None and other.price > price,
            about="dearer",
        )


def _noun(document: Document, vocabulary: Vocabulary) -> str:
    roles = vocabulary.roles
    name = next((name for name in (*roles.types, *roles.categories) if _one(document, name)), None)
    return "products" if name is None else category_label(_one(document, name)).lower()


def _one(document: Document | Hit, name: str) -> str:
    """Return the first text value of a field, empty where it has none."""
    value = document.get(name)
    values = value if isinstance(value, list) else [value]
    return next((item for item in values if isinstance(item, str)), "")
