"""Decides how one answer meets the cache: its key, whether it may be looked up, what would be stored.

Everything that shapes the plan or the summary is in the key or in the tags: another filter is another
question, another prompt or model makes the old answer a miss. What is in neither, one shopper could spoil for
all (docs/caching.md).
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import orjson

from cache.eligibility import CacheCandidate, Ineligible, why_not, why_not_stored
from cache.errors import InvalidKey
from cache.keys import QueryKey, variant_of
from cache.query_cache import QueryCache
from search_proxy.accounts.settings_schema import IndexSettings
from worker.answer import Answer
from worker.llm.prompts import read_prompt
from worker.planning.plan import PlanSource
from worker.request import AgenticRequest
from worker.stored_answer import FORMAT, StoredAnswer
from worker.summary_prompt import HITS_PER_CATEGORY
from worker.summary_request import TITLE_FIELDS

logger = logging.getLogger(__name__)

_TOLD_FIELDS = (*TITLE_FIELDS, "price", "currency")
"""What a summary tells of a product."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePlan:
    """How this request meets the cache; decided before its lookup, by a pure function.

    `skip_lookup` and `skip_store` say why not, or None. `tags` must be on an entry for it to be used.
    `differs` names what sets the question apart from the plain one.
    """

    key: QueryKey | None
    differs: tuple[str, ...]
    skip_lookup: Ineligible | None
    skip_store: Ineligible | None
    tags: Mapping[str, str]

    def as_log(self) -> dict[str, object]:
        """Return what a log line adds to say which entry was looked for; nothing for the plain question.

        `{"variant": "5f...", "differs": ["filter"]}`
        """
        if self.key is None or not self.key.variant:
            return {}
        return {"variant": self.key.variant, "differs": list(self.differs)}


def plan_cache(request: AgenticRequest, default_model: str) -> CachePlan:
    """Return the key, the tags, and why the cache is passed by where it is.

    `default_model` plans where the account has chosen none.
    """
    differs = _differences(request)
    key = _key(request, differs)
    candidate = CacheCandidate(
        account_id=request.caller.account_id,
        session=request.session_id or request.query,
        has_key=key is not None,
        is_conversation=request.converses,
        has_uncovered_filter=request.description.is_judged,
    )
    return CachePlan(
        key=key,
        differs=tuple(differs),
        skip_lookup=why_not(candidate, request.settings.cached_query_percentage),
        skip_store=why_not_stored(candidate),
        tags=_tags(request, default_model),
    )


def for_session(plan: CachePlan, request: AgenticRequest) -> CachePlan:
    """Return the plan of an equal question as the session of this request meets it."""
    percentage = request.settings.cached_query_percentage
    if plan.skip_store is not None or percentage >= 100:
        return plan
    candidate = CacheCandidate(
        account_id=request.caller.account_id, session=request.session_id or request.query
    )
    return replace(plan, skip_lookup=why_not(candidate, percentage))


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


def _key(request: AgenticRequest, differs: Mapping[str, object]) -> QueryKey | None:
    try:
        return QueryKey.of(request.caller.account_id, request.index, request.query, variant_of(differs))
    except InvalidKey:
        return None


def _differences(request: AgenticRequest) -> dict[str, object]:
    """Return how a request differs from the plain question: by filter, by rights, by what it shows."""
    differs: dict[str, object] = {}
    if request.initial.filter is not None:
        differs["filter"] = str(request.initial.filter)
    if request.caller.forced_filter is not None:
        differs["forced"] = str(request.caller.forced_filter)
    if request.caller.groups:
        differs["groups"] = sorted(request.caller.groups)
    if request.caller.is_owner and request.description.says_who_may_see:
        differs["owner"] = True
    if request.max_categories != request.settings.agentic_config.max_categories:
        differs["categories"] = request.max_categories
    return differs | _ground(request)


def _ground(request: AgenticRequest) -> dict[str, object]:
    """Return how the products that the summary is written from differ from what everybody gets."""
    search, differs = request.category, dict[str, object]()
    if not request.clickable_summary:
        differs["plain"] = True
    told_hits = min(search.limit, HITS_PER_CATEGORY)
    if told_hits != _told_hits(request.settings):
        differs["hits"] = told_hits
    if search.attributes_to_retrieve is not None:
        told = [name for name in _TOLD_FIELDS if name in search.attributes_to_retrieve]
        if "price" not in told or not set(told) & set(TITLE_FIELDS):
            differs["fields"] = told
    if not search.collapse:
        differs["collapse"] = False
    if search.lane != "all" or search.min_similarity is not None:
        differs["lane"] = [search.lane, search.min_similarity]
    return differs


def _tags(request: AgenticRequest, default_model: str) -> dict[str, str]:
    config = request.settings.agentic_config
    shape = orjson.dumps(
        [
            config.enable_summary,
            config.filter_facets.model_dump(mode="json"),
            config.max_categories,
            config.models.model_dump(mode="json"),
            request.settings.view_gate.model_dump(mode="json"),
            _told_hits(request.settings),
            _own_prompts(),
        ]
    )
    return {
        "format": str(FORMAT),
        "model": config.models.plan or default_model,
        "prompt": str(request.prompt.version),
        "shape": hashlib.sha256(shape).hexdigest()[:12],
        **_view(request),
    }


def _view(request: AgenticRequest) -> dict[str, str]:
    """Return what ties an answer to who may see what, in an index whose documents say so.

    A product may have been kept from somebody since its name was written into a summary.
    """
    description = request.description
    view = {"view": description.rights} if description.rights else {}
    return {**view, "index": description.generation} if description.says_who_may_see else view


def _told_hits(settings: IndexSettings) -> int:
    return min(settings.agentic_config.category_result_limit, HITS_PER_CATEGORY)


@lru_cache(maxsize=1)
def _own_prompts() -> str:
    """Return what the prompts of this release amount to; another release's answers are another's."""
    texts = [read_prompt(name) for name in ("base", "filters", "format", "summary")]
    return hashlib.sha256(orjson.dumps(texts)).hexdigest()[:12]
