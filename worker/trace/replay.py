"""Runs a trace once more, without a model and without a key, and says what has become different.

The plan is parsed, merged and searched by the very code that answers shoppers; what the model wrote comes
from the trace, and the products from the index as it is now.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from cache.config import CacheConfig
from cache.opening import open_cache
from search_proxy.accounts.prompt_slots import PromptInUse, PromptSlots
from search_proxy.accounts.settings_schema import IndexSettings
from search_proxy.caller import Caller
from search_proxy.default_facets import default_facets
from search_proxy.filters import parse_filter
from search_proxy.models import SearchRequest, SortField
from worker.agentic_search import AgenticSearch
from worker.answer_cache import plan_cache
from worker.model_parts import open_model_parts
from worker.planning.plan import PlanDecision, QueryExpansion, Strategy
from worker.request import AgenticRequest
from worker.run import Run
from worker.services import Services
from worker.stored_answer import StoredAnswer
from worker.trace.replayed_model import ReplayedModel
from worker.trace.trace_files import TraceUnreadable
from worker.trace.traces import outline


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a replay came to; equal where `differences` is empty."""

    run_id: str
    differences: tuple[str, ...]
    notes: tuple[str, ...]


async def replay(services: Services, trace: Mapping[str, Any]) -> Replay:
    """Answer the trace's question again on the index of `services`.

    Raises:
        TraceUnreadable: The trace cannot be replayed; the message says why.
        SearchError: The index is not there.
    """
    try:
        return await _replay(services, trace)
    except (KeyError, TypeError, ValueError) as error:
        raise TraceUnreadable(f"the trace cannot be replayed: {_what_is_wrong(error)}") from error


def _what_is_wrong(error: KeyError | TypeError | ValueError) -> str:
    """Return what a trace lacks or has in another form, in words and by the names that it has in the file."""
    match error:
        case KeyError():
            return f"a part of it has no {str(error.args[0])!r}"
        case ValidationError():
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "its settings or prompt"
            return f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}"
        case ValueError():
            return str(error)
    return "a part of it is of another kind than it should be, such as a text where a list belongs"


async def _replay(services: Services, trace: Mapping[str, Any]) -> Replay:
    if trace["request"]["converses"]:
        raise TraceUnreadable("a turn of a conversation cannot be replayed: its thread is not in the trace")
    request = await _asked_again(services, trace)
    is_cached = trace["answer"]["source"] == "cached"
    model = ReplayedModel(trace["calls"])
    async with _offline(services, trace, model) as parts:
        if is_cached:
            await _store(parts, request, trace)
        run = Run(account_id=request.caller.account_id, index=request.index)
        flow = AgenticSearch(parts, request, run, looks_up=is_cached, stores=False)
        await run.execute(flow)
        again = outline(flow.answer)
        generation = None if flow.answer.initial is None else flow.answer.initial.generation
    notes = []
    if generation != trace["generation"]:
        notes.append("the index has changed since: hits may well differ")
    if request.description.embedded_documents != trace["embedded"]:
        now, then = request.description.embedded_documents, trace["embedded"]
        notes.append(f"{now:,} products have a vector now, {then:,} had one then: ranks may well differ")
    if trace["leftOut"]:
        notes.append(f"the trace was cut: {trace['leftOut']} parts of it were over its bounds")
    if trace["outcome"] not in {"ok", "degraded"}:
        notes.append(f"the traced run ended as {trace['outcome']!r}")
    if model.missing or model.unused:
        notes.append(f"{model.missing} model calls were not in the trace, {model.unused} were not made again")
    return Replay(
        run_id=trace["runId"], differences=tuple(compared(trace["answer"], again)), notes=tuple(notes)
    )


async def _asked_again(services: Services, trace: Mapping[str, Any]) -> AgenticRequest:
    asked = trace["request"]
    rights = asked["rights"]
    forced = rights["forcedFilter"]
    caller = Caller(
        account_id=trace["account"],
        key_kind=rights["keyKind"],
        groups=frozenset(rights["groups"]),
        forced_filter=None if forced is None else parse_filter(forced),
        indexes=None if rights["indexes"] is None else frozenset(rights["indexes"]),
    )
    index = trace["index"]
    description = await services.search.describe_index(caller, index)
    initial = SearchRequest(
        index=index,
        q=asked["q"],
        limit=asked["limit"],
        offset=asked["offset"],
        filter=None if asked["filter"] is None else parse_filter(asked["filter"]),
        sort_by=tuple(
            SortField(name=name, order=order, missing=last) for name, order, last in asked["sortBy"]
        ),
        facets=default_facets(description),
    )
    settings = IndexSettings.model_validate(asked["settings"] | {"cached_query_percentage": 100})
    return AgenticRequest(
        caller=caller,
        index=index,
        query=asked["q"],
        settings=settings,
        settings_version=asked["settingsVersion"],
        prompt=PromptInUse(version=asked["promptVersion"], slots=PromptSlots.model_validate(asked["prompt"])),
        description=description,
        initial=initial,
        category=replace(initial, limit=asked["categoryLimit"], offset=0, facets=None, sort_by=()),
        max_categories=asked["maxCategories"],
        clickable_summary=asked["clickableSummary"],
        suggest_filters=asked["suggestFilters"],
    )


@asynccontextmanager
async def _offline(
    services: Services, trace: Mapping[str, Any], model: ReplayedModel
) -> AsyncIterator[Services]:
    """Yield the services with the trace in the model's place, and an empty cache."""
    server = trace["server"]
    settings = services.settings.model_copy(
        update={
            "model": server["model"],
            "fallback_models": server["fallbackModels"],
            "model_wire": server["modelWire"],
            "tokens_per_day": None,
        }
    )
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aisle-replay-")))
        cache = await stack.enter_async_context(open_cache(CacheConfig(data_dir=folder)))
        client = model if trace["calls"] or server["hasModel"] else None
        parts = await stack.enter_async_context(
            open_model_parts(settings, services.search, services.catalog_planner, client=client, offline=True)
        )
        yield replace(
            services,
            settings=settings,
            cache=cache,
            planner=parts.planner,
            model=parts.model,
            breakers=parts.breakers,
            budget=parts.budget,
            suggestions=None,
            tool_models=None,
            rerankers={},
        )


async def _store(services: Services, request: AgenticRequest, trace: Mapping[str, Any]) -> None:
    """Put the plan that the cache had back into it."""
    answer, decision = trace["answer"], trace["decision"]
    stored = StoredAnswer(
        expansions=tuple(
            QueryExpansion(query=query, label=label, confidence=confidence, filter=filter_text)
            for query, label, confidence, filter_text in answer["expansions"]
        ),
        complements=tuple(answer["complements"]),
        decision=PlanDecision(
            strategy=None if decision["strategy"] is None else Strategy(decision["strategy"]),
            rewritten_query=decision["rewrittenQuery"],
            message=decision["message"],
        ),
        summary=answer["summary"],
    )
    plan = plan_cache(request, services.settings.model)
    if plan.key is None or plan.skip_lookup is not None:
        raise TraceUnreadable("the answer came from the cache, where its question has no key any more")
    await services.cache.store(plan.key, stored.encode(), plan.tags)


def compared(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return what differs between two outlines of an answer, a sentence each."""
    said = []
    for name in ("source", "complements", "expansions"):
        if then[name] != now[name]:
            said.append(f"{name}: then {_shown(then[name])}, now {_shown(now[name])}")
    if then["hits"] != now["hits"]:
        said.append(f"first hits: {_hits(then['hits'], now['hits'])}")
    said += _categories(then["categories"], now["categories"])
    if then["summary"] != now["summary"]:
        said.append(f"summary: then {_shown(then['summary'])}, now {_shown(now['summary'])}")
    return said


def _categories(then: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> list[str]:
    before = {(each["category"], each["query"]): each for each in then}
    after = {(each["category"], each["query"]): each for each in now}
    said = [f"category {name!r} ({query!r}) is gone" for name, query in before if (name, query) not in after]
    said += [f"category {name!r} ({query!r}) is new" for name, query in after if (name, query) not in before]
    for key in before.keys() & after.keys():
        old, new = before[key], after[key]
        for part in ("appliedFilter", "filterDropped", "error", "totalHits"):
            if old[part] != new[part]:
                said.append(f"category {key[0]!r}: {part} then {_shown(old[part])}, now {_shown(new[part])}")
        if old["hits"] != new["hits"]:
            said.append(f"category {key[0]!r}: hits: {_hits(old['hits'], new['hits'])}")
    return said


def _hits(then: Sequence[str], now: Sequence[str]) -> str:
    gone = [each for each in then if each not in now]
    new = [each for each in now if each not in then]
    if not gone and not new:
        return "the same products in another order"
    return f"gone {', '.join(gone) or 'none'}; new {', '.join(new) or 'none'}"


def _shown(value: Any) -> str:
    """Return a value as it stands in the trace, so that it can be looked up there."""
    return "nothing" if value is None else orjson.dumps(value).decode()
