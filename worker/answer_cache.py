"""Decides how one answer meets the cache: its key, whether it may be looked up, what would be stored.

Everything that shapes the plan or the summary is in the key or in the tags: another filter is another
question, another prompt or model makes the old answer a miss (docs/caching.md).
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from cache.eligibility import CacheCandidate, Ineligible, why_not, why_not_stored
from cache.errors import InvalidKey
from cache.keys import QueryKey, variant_of
from cache.query_cache import QueryCache
from worker.answer import Answer
from worker.planning.plan import PlanSource
from worker.request import AgenticRequest
from worker.stored_answer import FORMAT, StoredAnswer

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePlan:
    """How this request meets the cache; decided before its lookup, by a pure function.

    `skip_lookup` and `skip_store` say why not, or None. `tags` must be on an entry for it to be used.
    """

    key: QueryKey | None
    skip_lookup: Ineligible | None
    skip_store: Ineligible | None
    tags: Mapping[str, str]


def plan_cache(request: AgenticRequest) -> CachePlan:
    """Return the key, the tags, and why the cache is passed by where it is."""
    key = _key(request)
    candidate = CacheCandidate(
        account_id=request.caller.account_id,
        session=request.session_id or request.query,
        has_key=key is not None,
        is_conversation=request.converses,
    )
    return CachePlan(
        key=key,
        skip_lookup=why_not(candidate, request.settings.cached_query_percentage),
        skip_store=why_not_stored(candidate),
        tags=_tags(request),
    )


def storable(answer: Answer, plan: CachePlan) -> bool:
    """Return whether the answer is complete, the model's own, and anybody's."""
    planned, written = answer.plan_report, answer.summary_report
    return (
        plan.key is not None
        and plan.skip_store is None
        and answer.request.settings.agentic_config.cache_model_answers
        and answer.source is PlanSource.LLM
        and answer.degraded is None
        and planned is not None
        and planned.complete
        and (written is None or (written.complete and written.source == "llm"))
        and bool(answer.expansions)
        and all(found.error is None for found in answer.categories)
    )


def encoded_answer(answer: Answer) -> bytes:
    """Return the plan and the summary of an answer as they are stored."""
    stored = StoredAnswer(
        expansions=tuple(answer.expansions),
        complements=tuple(answer.complements),
        decision=answer.decision,
        summary="".join(answer.summary),
        model=answer.plan_report.model if answer.plan_report else None,
    )
    return stored.encode()


async def store_answer(cache: QueryCache, answer: Answer, plan: CachePlan) -> None:
    """Store the plan and the summary, never the hits; what the tiers say is logged."""
    assert plan.key is not None
    report = await cache.store(plan.key, encoded_answer(answer), plan.tags)
    logger.info("answer_stored", extra={"run_id": answer.run_id, "table": report.table, "edge": report.edge})


def _key(request: AgenticRequest) -> QueryKey | None:
    """Return the key; a caller's own rights are part of it, since the summary speaks of what they saw."""
    differs: dict[str, object] = {}
    if request.initial.filter is not None:
        differs["filter"] = str(request.initial.filter)
    if request.caller.forced_filter is not None:
        differs["forced"] = str(request.caller.forced_filter)
    if request.caller.groups:
        differs["groups"] = sorted(request.caller.groups)
    if request.max_categories != request.settings.agentic_config.max_categories:
        differs["categories"] = request.max_categories
    try:
        return QueryKey.of(request.caller.account_id, request.index, request.query, variant_of(differs))
    except InvalidKey:
        return None


def _tags(request: AgenticRequest) -> dict[str, str]:
    config = request.settings.agentic_config
    shape = orjson.dumps(
        [
            config.enable_summary,
            config.filter_facets.model_dump(mode="json"),
            config.max_categories,
            config.models.model_dump(mode="json"),
        ]
    )
    return {
        "format": str(FORMAT),
        "prompt": str(request.prompt.version),
        "shape": hashlib.sha256(shape).hexdigest()[:12],
    }
