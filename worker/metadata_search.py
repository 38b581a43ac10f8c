"""How a category is searched where the strategy is `metadata_only`: by filters alone, and nothing is scored.

Every word of the row must then stand in a filter: the agent's own, or what the rules read in the row's query
and label. Where a word is left over, the row is searched by it and ranked, as any other row is.
"""

from __future__ import annotations

from dataclasses import replace

from search_proxy.errors import SearchError
from search_proxy.filters import (
    AndFilter,
    Filter,
    FilterSyntaxError,
    InFilter,
    TermFilter,
    merge_filters,
    parse_filter,
)
from search_proxy.models import SearchRequest
from worker.answer import Answer
from worker.first_search import WITHOUT_SEARCH
from worker.planning.catalog_words import singular, words_of
from worker.planning.plan import PlanDecision, QueryExpansion, Strategy
from worker.request import AgenticRequest, plan_request
from worker.services import QueryReader

LATE_STRATEGY = "late_strategy"
"""The warning for a plan that says its strategy behind its rows."""


async def category_template(
    reader: QueryReader, request: AgenticRequest, strategy: Strategy | None, expansion: QueryExpansion
) -> tuple[SearchRequest, QueryExpansion]:
    """Return the search of one row and the row: without words (`q` None) where its filter says everything."""
    as_planned = request.category, expansion
    if strategy is not Strategy.METADATA_ONLY or not request.settings.agentic_config.filter_facets.enabled:
        return as_planned
    asked = plan_request(request)
    try:
        read = await reader.read(replace(asked, query=expansion.query))
        whole = await reader.read(asked)
        vocabulary = await reader.vocabulary(asked)
        agent = parse_filter(expansion.filter) if expansion.filter else None
    except (SearchError, FilterSyntaxError):
        return as_planned
    named = vocabulary.find(vocabulary.roles.category_fields, tuple(words_of(expansion.label)))
    category = None if named is None else TermFilter(named.field, named.value)
    parts = [*_conjuncts(agent), *_conjuncts(category), *_conjuncts(read.filter)]
    everything = merge_filters(*(part for place, part in enumerate(parts) if part not in parts[:place]))
    if everything is None or not _stems(read.topic) <= _said_by(everything):
        return as_planned
    sort = () if whole.demands.sort is None else (whole.demands.sort,)
    template = replace(request.category, q=None, sort_by=sort)
    return template, replace(expansion, filter=str(everything))


def executed(decision: PlanDecision, answer: Answer) -> PlanDecision:
    """Return the decision with the strategy by which the answer's rows are really searched.

    One that comes when rows are under way cannot change how they are: that is noted, and theirs stands.
    """
    known = answer.decision.strategy
    if decision.strategy is None:
        return replace(decision, strategy=known)
    was_unscored = known is Strategy.METADATA_ONLY
    is_late = bool(answer.expansions) and was_unscored != (decision.strategy is Strategy.METADATA_ONLY)
    if not is_late or decision.strategy in WITHOUT_SEARCH:
        return decision
    if LATE_STRATEGY not in answer.warnings:
        answer.warnings.append(LATE_STRATEGY)
    return replace(decision, strategy=known if was_unscored else Strategy.HYBRID)


def _conjuncts(part: Filter | None) -> list[Filter]:
    if isinstance(part, AndFilter):
        return [*_conjuncts(part.left), *_conjuncts(part.right)]
    return [] if part is None else [part]


def _stems(text: str) -> set[str]:
    return {singular(word) for word in words_of(text)}


def _said_by(part: Filter) -> set[str]:
    """Return the words of every value that a filter asks for."""
    match part:
        case AndFilter(left, right):
            return _said_by(left) | _said_by(right)
        case TermFilter(value=value):
            return _stems(value)
        case InFilter(values=values):
            return {stem for value in values for stem in _stems(value)}
        case _:
            return set()
