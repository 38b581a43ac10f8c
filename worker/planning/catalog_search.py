"""The searches that a plan by rules needs, on behalf of one request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from search_proxy.binding import SearchBinding
from search_proxy.errors import SearchUnavailable
from search_proxy.filters import Filter, merge_filters
from search_proxy.models import FacetField, FacetsRequest, IndexDescription, SearchRequest, SearchResult
from worker.planning.catalog_constraints import Role, without
from worker.planning.catalog_decision import Decision, settle
from worker.planning.catalog_roles import read_roles
from worker.planning.catalog_rows import MINIMUM_HITS
from worker.planning.catalog_vocabulary import (
    MAX_VALUES_PER_FIELD,
    Vocabulary,
    learn_vocabulary,
    vocabulary_fields,
)
from worker.planning.plan import PlanRequest, Strategy

SAMPLE_HITS = 50
"""Hits that the attributes are read from; the categories read fewer."""
SCOPED_HITS = 20

_SOFT_ROLES: tuple[Role, ...] = ("size", "colour", "material", "audience")
"""What a shopper gives up first when nothing has it all; the price goes next, then the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The best hits of a query and the decision that found them; `relaxed` where demands were given up."""

    decision: Decision
    query: str | None
    filter: Filter | None
    result: SearchResult
    relaxed: bool = False


class CatalogSearch:
    """Asks the binding what one plan wants to know."""

    def __init__(self, search: SearchBinding, request: PlanRequest) -> None:
        self._search = search
        self._request = request

    async def describe(self) -> IndexDescription:
        """Return the description of the request's index."""
        return await self._search.describe_index(self._request.caller, self._request.index)

    async def learn(self, description: IndexDescription) -> Vocabulary:
        """Return the index's vocabulary as the caller may see it: one browse with facets.

        Raises:
            SearchError: As the binding; also where the view gate could not decide.
        """
        names = vocabulary_fields(read_roles(description))
        if not names:
            return learn_vocabulary(description, {})
        facets = FacetsRequest(
            fields=tuple(FacetField(name=name) for name in names), max_results=MAX_VALUES_PER_FIELD
        )
        browse = self._ask(q=None, limit=1, wanted=None, facets=facets, attributes=("_id",))
        result = await self._search.handle_search(self._request.caller, browse)
        if result.is_closed:
            raise SearchUnavailable(
                "the words of the index cannot be told: its view gate let nothing through"
            )
        return learn_vocabulary(description, result.facets)

    async def sample(self, decision: Decision, vocabulary: Vocabulary) -> Sample:
        """Return the best hits with all demands met, or with as few given up as leaves something."""
        last: Sample | None = None
        for index, attempt in enumerate(self._attempts(decision)):
            wanted = attempt.filter if self._request.allow_filters else None
            browse = attempt.strategy is Strategy.METADATA_ONLY and wanted is not None
            query = None if browse or not attempt.topic else attempt.topic
            facets = _category_facets(vocabulary) if query is None else None
            found = self._ask(q=query, limit=SAMPLE_HITS, wanted=wanted, facets=facets, attributes=("*",))
            found = replace(
                found, sort_by=(attempt.demands.sort,) if attempt.demands.sort and query is None else ()
            )
            result = await self._search.handle_search(self._request.caller, found)
            last = Sample(decision=attempt, query=query, filter=wanted, result=result, relaxed=index > 0)
            if result.total_hits >= MINIMUM_HITS:
                break
        assert last is not None
        return last

    async def within(self, sample: Sample, scope: Filter) -> SearchResult:
        """Return the sample's best hits within a scope."""
        wanted = merge_filters(sample.filter, scope)
        request = self._ask(q=sample.query, limit=SCOPED_HITS, wanted=wanted, attributes=("*",))
        return await self._search.handle_search(self._request.caller, request)

    async def count(self, query: str, wanted: Filter | None) -> int:
        """Return how many products the index has for a row."""
        request = self._ask(q=query, limit=1, wanted=wanted, attributes=("_id",))
        return (await self._search.handle_search(self._request.caller, request)).total_hits

    async def facets(self, query: str | None, wanted: Filter | None, facets: FacetsRequest) -> SearchResult:
        """Return the counts of some fields within a row's products."""
        request = self._ask(q=query, limit=1, wanted=wanted, facets=facets, attributes=("_id",))
        return await self._search.handle_search(self._request.caller, request)

    def _attempts(self, decision: Decision) -> Iterator[Decision]:
        if not self._request.allow_filters and decision.demands.demands:
            # Without filters every demand can only be a word among the others.
            decision = settle(decision, without(decision.demands, frozenset(_all_roles(decision))))
        yield decision
        roles = _all_roles(decision)
        tried = {roles}
        for kept in (
            roles - frozenset(_SOFT_ROLES),
            roles - frozenset((*_SOFT_ROLES, "price")),
            frozenset[Role](),
        ):
            if kept in tried:
                continue
            tried.add(kept)
            attempt = settle(decision, without(decision.demands, roles - kept))
            if attempt.topic or attempt.filter is not None:
                yield attempt

    def _ask(
        self,
        *,
        q: str | None,
        limit: int,
        wanted: Filter | None,
        facets: FacetsRequest | None = None,
        attributes: tuple[str, ...],
    ) -> SearchRequest:
        return SearchRequest(
            index=self._request.index,
            q=q,
            limit=limit,
            filter=merge_filters(self._request.client_filter, wanted),
            facets=facets,
            attributes_to_retrieve=attributes,
        )


def _category_facets(vocabulary: Vocabulary) -> FacetsRequest | None:
    names = vocabulary.roles.categories or vocabulary.roles.types[:1]
    return (
        FacetsRequest(fields=tuple(FacetField(name=name) for name in names), max_results=200)
        if names
        else None
    )


def _all_roles(decision: Decision) -> frozenset[Role]:
    return frozenset(demand.role for demand in decision.demands.demands)
