"""Plans a search from the catalog alone: no model, the same events.

Rules decide the strategy; one search shows what the best hits are; their categories become rows, or, where
they agree on one category, what differs among them does (docs/strategies.md).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from search_proxy.binding import SearchBinding
from search_proxy.errors import SearchError
from search_proxy.filters import AndFilter, Filter, NotFilter, OrFilter, TermFilter, merge_filters
from worker.errors import PlanningFailed
from worker.planning.catalog_bands import band_rows, price_bands
from worker.planning.catalog_complements import complements
from worker.planning.catalog_confidence import category_confidence, descending, split_confidence
from worker.planning.catalog_decision import Decision, decide
from worker.planning.catalog_groups import Group, group_counts, group_hits, in_group, is_named, with_named
from worker.planning.catalog_roles import Roles
from worker.planning.catalog_rows import MINIMUM_HITS, Row, category_rows, is_meant
from worker.planning.catalog_search import CatalogSearch, Sample
from worker.planning.catalog_splits import split_facets, split_fields, split_rows
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.plan import (
    Emit,
    PlanDecision,
    PlanReport,
    PlanRequest,
    PlanSource,
    QueryComplement,
    QueryExpansion,
    Strategy,
)

MAX_ROWS = 6
"""Rows of one plan. Source: flow document, step 7."""
ENOUGH_PARTS = 3
ENOUGH_CATEGORIES = 4
TAIL_CONFIDENCE = 0.38
"""Where there are enough rows, one that is less likely than this only distracts."""
MAX_VOCABULARIES = 64
"""Vocabularies kept; one belongs to an index's generation and to the rights that it was read with."""

MAX_DECISIONS = 2048
"""Decisions kept, by query: what is asked once is asked again."""

_WITHOUT_SEARCH = (Strategy.NO_MATCH, Strategy.NEEDS_CLARIFICATION)
_VocabularyKey = tuple[str, str, str, str, str]


class CatalogPlanner:
    """A `Planner` by rules over an index's own categories and attributes."""

    def __init__(self, search: SearchBinding) -> None:
        self._search = search
        self._vocabularies: OrderedDict[_VocabularyKey, Vocabulary] = OrderedDict()
        self._decisions: OrderedDict[str, tuple[Vocabulary, Decision]] = OrderedDict()

    async def plan(self, request: PlanRequest, emit: Emit) -> PlanReport:
        """Push the decision, then the rows from the most to the least likely, then follow-up queries.

        Raises:
            PlanningFailed: The catalog could not be searched.
        """
        search = CatalogSearch(self._search, request)
        try:
            vocabulary = await self.vocabulary(request)
            decision = decide(request.query, vocabulary)
            emit(_decided(decision, request))
            if decision.strategy in _WITHOUT_SEARCH:
                for option in decision.options:
                    emit(QueryComplement(query=option))
                return PlanReport(source=PlanSource.CATALOG)
            sample = await search.sample(decision, vocabulary)
            if sample.relaxed:
                emit(_decided(sample.decision, request))
            await _plan_rows(search, request, sample, vocabulary, emit)
        except SearchError as error:
            raise PlanningFailed(f"the catalog could not be searched for a plan: {error}") from error
        return PlanReport(
            source=PlanSource.CATALOG,
            warnings=("demands_given_up",) if sample.relaxed else (),
        )

    async def read(self, request: PlanRequest) -> Decision:
        """Return what the rules make of the query, before any search for it.

        Raises:
            SearchError: As the binding.
        """
        vocabulary = await self.vocabulary(request)
        known = self._decisions.get(request.query)
        # A decision belongs to the vocabulary it was made with: another generation or right makes another.
        if known is not None and known[0] is vocabulary:
            return known[1]
        decision = decide(request.query, vocabulary)
        self._decisions[request.query] = (vocabulary, decision)
        if len(self._decisions) > MAX_DECISIONS:
            self._decisions.popitem(last=False)
        return decision

    async def vocabulary(self, request: PlanRequest) -> Vocabulary:
        """Return the words of the index as the caller may see it, learned once per generation.

        Raises:
            SearchError: As the binding.
        """
        search = CatalogSearch(self._search, request)
        description = await search.describe()
        caller = request.caller
        key = (caller.account_id, request.index, description.generation, caller.rights, description.rights)
        known = self._vocabularies.get(key)
        if known is None:
            known = self._vocabularies[key] = await search.learn(description)
        self._vocabularies.move_to_end(key)
        while len(self._vocabularies) > MAX_VOCABULARIES:
            self._vocabularies.popitem(last=False)
        return known


async def _plan_rows(
    search: CatalogSearch, request: PlanRequest, sample: Sample, vocabulary: Vocabulary, emit: Emit
) -> None:
    limit = max(0, min(request.max_categories, MAX_ROWS))
    roles = vocabulary.roles
    groups = await _groups(search, sample, vocabulary)
    rows: list[tuple[Row, float]] = []
    if limit and request.allow_filters and (not groups or groups[0].is_settled):
        parts = await _split(search, request, sample, groups[0] if groups else None, vocabulary, limit)
        rows = parts_and_others(parts, groups, roles, limit)
    enough = ENOUGH_PARTS if rows else ENOUGH_CATEGORIES
    if not rows:
        rows = [
            (row, category_confidence(row.share, row.covered)) for row in category_rows(groups, roles, limit)
        ]
    confidences = descending([confidence for _, confidence in rows])
    offered: list[str] = []
    for (row, _), confidence in zip(rows, confidences, strict=True):
        if len(offered) >= enough and confidence < TAIL_CONFIDENCE:
            break
        expansion = _expansion(request, sample, row, confidence)
        wanted = merge_filters(sample.filter, row.filter) if request.allow_filters else None
        products = row.products if expansion.query == sample.query else None
        if products is None:
            products = await search.count(expansion.query, wanted)
        if products >= MINIMUM_HITS:
            offered.append(row.label)
            emit(expansion)
    for text in complements(sample.decision, groups, sample.result.hits, roles, offered):
        emit(QueryComplement(query=text))


async def _groups(search: CatalogSearch, sample: Sample, vocabulary: Vocabulary) -> list[Group]:
    """Return the categories that the hits speak for, with the one that the topic names."""
    fields = vocabulary.roles.categories or vocabulary.roles.types[:1]
    if sample.query is None and not sample.decision.demands.sort:
        return group_counts(sample.result.hits, fields, sample.result.facets)
    groups = group_hits(sample.result.hits, fields, sample.decision.topic, sample.decision.head)
    named = vocabulary.named_category(sample.decision.topic.split(), sample.decision.head)
    if named is None or sample.query is None or (groups and is_named(groups[0], named.value)):
        return groups
    found = await search.within(sample, TermFilter(named.field, named.value))
    return with_named(groups, named.field, named.value, found.hits) if found.hits else groups


def parts_and_others(
    parts: Sequence[Row], groups: Sequence[Group], roles: Roles, limit: int
) -> list[tuple[Row, float]]:
    """Return the parts of the leading category, then the other categories that the hits speak for.

    One part alone is no choice: then there are none, and the categories themselves are the rows.
    """
    if len(parts) < 2:
        return []
    lead = groups[0].share if groups else 0.5
    covered = groups[0].covered if groups else 1.0
    strong = [group for group in groups[1:] if is_meant(group)]
    others = category_rows(strong, roles, limit - 2) if strong and limit > 2 else []
    return [
        *((row, split_confidence(lead, row.share, covered)) for row in parts[: limit - len(others)]),
        *((row, category_confidence(row.share, row.covered)) for row in others),
    ]


async def _split(
    search: CatalogSearch,
    request: PlanRequest,
    sample: Sample,
    group: Group | None,
    vocabulary: Vocabulary,
    limit: int,
) -> list[Row]:
    """Return the parts of the one category that the hits agree on."""
    roles = vocabulary.roles
    hits = [hit for hit in sample.result.hits if group is None or in_group(hit, group)]
    taken = fields_of(merge_filters(request.client_filter, sample.filter))
    fields = split_fields(hits, vocabulary, taken)
    bands = [] if roles.price in taken else price_bands(hits, roles.price)
    facets = split_facets(fields, bands, roles)
    if facets is None:
        return []
    named = sample.decision.category is not None and sample.filter is not None
    scope = None if group is None or named else group.filter
    counted = (await search.facets(sample.query, merge_filters(sample.filter, scope), facets)).facets
    category = "" if group is None else group.value
    rows = split_rows(category, scope, fields, counted, roles, hits, limit)
    if len(rows) < 2:
        banded = band_rows(category, scope, bands, counted.get(roles.price or "", {}), roles, hits)[:limit]
        rows = banded if len(banded) > len(rows) else rows
    return rows


def fields_of(part: Filter | None) -> frozenset[str]:
    """Return the fields that a filter speaks of, negations left out: "not black" settles no colour."""
    if part is None or isinstance(part, NotFilter):
        return frozenset()
    if isinstance(part, AndFilter | OrFilter):
        return fields_of(part.left) | fields_of(part.right)
    return frozenset((part.field,))


def conjuncts(part: Filter | None) -> list[Filter]:
    """Return the parts that a filter ANDs, so that none is said twice."""
    if part is None:
        return []
    if isinstance(part, AndFilter):
        return [*conjuncts(part.left), *conjuncts(part.right)]
    return [part]


def _decided(decision: Decision, request: PlanRequest) -> PlanDecision:
    rewritten = decision.topic if decision.topic and decision.topic != request.query else None
    return PlanDecision(strategy=decision.strategy, rewritten_query=rewritten, message=decision.message)


def _expansion(request: PlanRequest, sample: Sample, row: Row, confidence: float) -> QueryExpansion:
    """Return a row as a plan has it; without filters, its words alone must find it."""
    topic = sample.decision.topic
    if not request.allow_filters:
        words = [word for word in row.label.lower().split() if word not in topic.split()]
        return QueryExpansion(query=" ".join((topic, *words)).strip(), label=row.label, confidence=confidence)
    wanted = merge_filters(*dict.fromkeys((*conjuncts(sample.filter), *conjuncts(row.filter))))
    return QueryExpansion(
        query=topic or row.label.lower(),
        label=row.label,
        confidence=confidence,
        filter=None if wanted is None else str(wanted),
    )
