"""Turns a valid payload, the account's settings and the index into what one answer needs.

Everything that a client can get wrong is found here, before the first byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

from search_proxy.accounts.prompt_slots import PromptInUse
from search_proxy.accounts.prompt_text import compile_prompt
from search_proxy.accounts.settings_schema import AgenticConfig, IndexSettings, Reranking, SettingsSnapshot
from search_proxy.caller import Caller
from search_proxy.default_facets import default_facets
from search_proxy.errors import InvalidSearch, UnknownField
from search_proxy.filters import (
    AndFilter,
    Filter,
    FilterSyntaxError,
    NotFilter,
    OrFilter,
    merge_filters,
    parse_filter,
)
from search_proxy.models import IndexDescription, SearchRequest
from search_proxy.search_payload import read_search
from worker.errors import FeatureDisabled, InvalidRequest
from worker.llm.prompts import read_prompt
from worker.payload import MAX_CATEGORIES, AgenticPayload, clean_query
from worker.planning.plan import PlanRequest, TokenUsage, ignored_usage

ALWAYS_KNOWN_FIELDS = frozenset(
    {"_id", "parentProductId", "productTitle", "variantTitle", "variantImageUrl", "price", "currency"}
    | {"description", "productCollections"}
)
"""Fields of every product, which a filter may name even where no document has them yet."""


Feature = Literal["agentic_search", "converse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgenticRequest:
    """One agentic question, checked.

    `initial` is the first search with the client's filter in it; `category` is the template of the others.
    `converses` says that the answer is a turn of a conversation, a new one without a `conversation_id`.
    """

    caller: Caller
    index: str
    query: str
    settings: IndexSettings
    settings_version: int
    prompt: PromptInUse
    description: IndexDescription
    initial: SearchRequest
    category: SearchRequest
    max_categories: int
    clickable_summary: bool
    suggest_filters: bool
    reranking: Reranking | None = None
    user_id: str | None = None
    session_id: str | None = None
    converses: bool = False
    conversation_id: str | None = None

    @property
    def system_prompt(self) -> str:
        """The base prompt, the merchant's part in it, and the rules that nothing can change."""
        return compile_prompt(read_prompt("base"), self.prompt.slots)

    @property
    def summary_advice(self) -> str:
        """The merchant's part and the rules that nothing can change, without the base prompt."""
        return compile_prompt("", self.prompt.slots).strip()

    @property
    def locale(self) -> str:
        """The language and region of the shop."""
        return self.prompt.slots.locale or "en"


def build_request(
    caller: Caller,
    index: str,
    payload: AgenticPayload,
    snapshot: SettingsSnapshot,
    description: IndexDescription,
    *,
    feature: Feature = "agentic_search",
) -> AgenticRequest:
    """Combine what was asked with what the account allows.

    Raises:
        FeatureDisabled: The account has not switched agentic search on.
        InvalidRequest: A filter, a facet or another search setting is wrong; the message says where.
    """
    settings = snapshot.settings
    check_enabled(settings, feature, index)
    query = clean_query(payload.q)
    config = settings.agentic_config
    initial = _initial_search(index, query, payload, description)
    initial = replace(initial, reasons=_explains(payload, initial, config))
    category = replace(
        initial,
        limit=payload.category_result_limit or config.category_result_limit,
        offset=0,
        facets=None,
        sort_by=(),
    )
    return AgenticRequest(
        caller=caller,
        index=index,
        query=query,
        settings=settings,
        settings_version=snapshot.version,
        prompt=snapshot.prompts.for_session(caller.account_id, payload.session_id),
        description=description,
        initial=initial,
        category=category,
        max_categories=min(payload.max_categories or config.max_categories, MAX_CATEGORIES),
        clickable_summary=payload.clickable_summary,
        suggest_filters=payload.suggest_filters,
        reranking=config.reranking if payload.reranked_hits and config.reranking.kind != "none" else None,
        user_id=payload.user_id,
        session_id=payload.session_id,
        converses=feature == "converse" or payload.converses,
        conversation_id=payload.conversation_id,
    )


def _explains(payload: AgenticPayload, initial: SearchRequest, config: AgenticConfig) -> bool:
    return initial.reasons or (config.explain_hits if payload.explain_hits is None else payload.explain_hits)


def plan_request(
    request: AgenticRequest, note_usage: Callable[[TokenUsage], None] = ignored_usage
) -> PlanRequest:
    """Return what a planner is asked for a request, with what the account says of planning."""
    config = request.settings.agentic_config
    return PlanRequest(
        caller=request.caller,
        index=request.index,
        query=request.query,
        max_categories=request.max_categories,
        client_filter=request.initial.filter,
        allow_filters=config.filter_facets.enabled,
        filter_fields=config.filter_facets.fields,
        system_prompt=request.system_prompt,
        models=tuple(name for name in (config.models.plan, config.models.fallback) if name),
        tokens_per_day=config.budgets.tokens_per_day,
        note_usage=note_usage,
    )


def check_enabled(settings: IndexSettings, feature: str, index: str) -> None:
    """Refuse what the account has not switched on.

    Raises:
        FeatureDisabled: The flag of that name is off.
    """
    if not getattr(settings.feature_flags, feature):
        name = feature.replace("_", " ")
        raise FeatureDisabled(f"{name} is not enabled for index {index!r}; ask the account's owner")


def check_filter_fields(filter_tree: Filter, description: IndexDescription, where: str) -> None:
    """Refuse a filter over a field that the index does not have.

    Raises:
        InvalidRequest: Names the field and what the index has.
    """
    known = {field.name for field in description.fields} | ALWAYS_KNOWN_FIELDS
    for name in filter_field_names(filter_tree):
        if name not in known:
            raise InvalidRequest(str(UnknownField(name, sorted(known), where=where)))


def filter_field_names(filter_tree: Filter) -> Iterator[str]:
    """Yield the field of every leaf, left to right."""
    pending: list[Filter] = [filter_tree]
    while pending:
        node = pending.pop()
        match node:
            case AndFilter(left, right) | OrFilter(left, right):
                pending += [right, left]
            case NotFilter(operand):
                pending.append(operand)
            case _:
                yield node.field


def _initial_search(
    index: str, query: str, payload: AgenticPayload, description: IndexDescription
) -> SearchRequest:
    initial = _search_settings(index, payload.search_settings or {})
    if initial.filter is not None:
        check_filter_fields(initial.filter, description, "searchSettings.filter")
    if payload.filter is not None:
        try:
            own = parse_filter(payload.filter)
        except FilterSyntaxError as error:
            raise InvalidRequest(f"filter: {error}") from error
        check_filter_fields(own, description, "filter")
        initial = replace(initial, filter=merge_filters(own, initial.filter))
    _check_named_fields(initial, description)
    facets = initial.facets or default_facets(description)
    return replace(initial, q=query, facets=facets)


def _check_named_fields(search: SearchRequest, description: IndexDescription) -> None:
    known = {field.name for field in description.fields} | ALWAYS_KNOWN_FIELDS
    named = [("searchSettings.sortBy", field.name) for field in search.sort_by]
    if search.facets is not None:
        named += [("searchSettings.facets", field.name) for field in search.facets.fields]
    for where, name in named:
        if name not in known:
            raise InvalidRequest(str(UnknownField(name, sorted(known), where=where)))


def _search_settings(index: str, values: dict[str, Any]) -> SearchRequest:
    if not values:
        return SearchRequest(index=index)
    if "q" in values:
        raise InvalidRequest("searchSettings.q: the query stands in q, not in searchSettings")
    try:
        request = read_search(index, orjson.dumps(values))
    except InvalidSearch as error:
        raise InvalidRequest(f"searchSettings: {error}") from error
    if "attributesToRetrieve" not in values:
        return replace(request, attributes_to_retrieve=None)
    return request
