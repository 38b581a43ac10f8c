"""Answers without a shopper: for a merchant's preview of a prompt, and for filling the cache.

The same flow as for a shopper, in a run that nobody listens to; the cache is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cache.errors import CannotWarm
from cache.warming import WarmAnswer
from search_proxy.accounts.prompt_preview import PreviewCategory, QueryPreview
from search_proxy.accounts.prompt_slots import PromptInUse
from search_proxy.accounts.settings_schema import IndexSettings
from search_proxy.caller import Caller
from search_proxy.errors import SearchError
from search_proxy.models import Hit
from worker.agentic_search import AgenticSearch
from worker.answer import Answer
from worker.answer_cache import encoded_answer, plan_cache, storable
from worker.category_search import CategoryHits
from worker.errors import WorkerError
from worker.payload import AgenticPayload
from worker.planning.plan import TokenUsage
from worker.request import AgenticRequest, build_request
from worker.run import Run
from worker.services import Services

_PREVIEW_HITS = 6
_TOKENS_BEFORE_ANY_ANSWER = 2500
"""A plan and a summary of the sample store; replaced by what answers have cost as soon as there are some."""


async def answer_once(services: Services, request: AgenticRequest) -> Answer:
    """Make one whole answer and return it."""
    run = Run(account_id=request.caller.account_id, index=request.index)
    flow = AgenticSearch(services, request, run, looks_up=False, stores=False)
    await run.execute(flow)
    return flow.answer


class AnswerPreviewer:
    """Runs a merchant's preview queries, as the accounts' `PromptPreviewer`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def preview(
        self, caller: Caller, index: str, query: str, *, prompt: PromptInUse, settings: IndexSettings
    ) -> QueryPreview:
        """Return what the prompt makes of the query, long or short.

        Raises:
            SearchError: The index cannot be searched.
        """
        request = await _request(self._services, caller, index, query)
        # A short query would bypass the very plan that the merchant wants to see.
        config = settings.agentic_config.model_copy(update={"short_query_words": 1})
        settings = settings.model_copy(update={"agentic_config": config})
        answer = await answer_once(self._services, replace(request, prompt=prompt, settings=settings))
        timings = answer.timings.milliseconds()
        tokens = answer.tokens()
        return QueryPreview(
            query=query,
            prompt_version=prompt.version,
            source=answer.source.value,
            categories=tuple(_category(found) for found in answer.categories),
            summary="".join(answer.summary),
            input_tokens=tokens["input"],
            output_tokens=tokens["output"] + tokens["thoughts"],
            first_category_ms=timings.get("TIME_TO_FIRST_CATEGORY"),
            total_ms=timings["E2E"],
            warnings=tuple(answer.all_warnings()),
        )


class AnswerWarmer:
    """Answers the questions of `aisle cache warm`, as the cache's `WarmPlanner`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._spent = TokenUsage()
        self._answered = 0

    async def expected_tags(self, account_id: str, index: str) -> Mapping[str, str]:
        """Return the tags that an answer made now would carry.

        Raises:
            CannotWarm: There is no such index, or it cannot be searched.
        """
        request = await self._asked(account_id, index, "anything")
        return plan_cache(request, self._services.settings.model).tags

    async def estimate_tokens(self, account_id: str, index: str, queries: Sequence[str]) -> int:
        """Return about how many tokens these questions will cost, none without a model."""
        if self._services.model is None:
            return 0
        spent = self._spent.input + self._spent.output + self._spent.thoughts
        each = spent // self._answered if self._answered else _TOKENS_BEFORE_ANY_ANSWER
        return each * len(queries)

    async def answer(self, account_id: str, index: str, query: str) -> WarmAnswer | None:
        """Return the answer, None where it is not complete and must not be stored.

        Raises:
            CannotWarm: There is no model, and the catalog's own answers are never stored; or the index cannot
                be searched.
        """
        if self._services.model is None:
            raise CannotWarm("there is no model key: only a model's answers are kept in the cache")
        request = await self._asked(account_id, index, query)
        answer = await answer_once(self._services, request)
        self._count(answer)
        plan = plan_cache(request, self._services.settings.model)
        if not storable(answer, plan):
            return None
        return WarmAnswer(payload=encoded_answer(answer), tags=plan.tags)

    async def _asked(self, account_id: str, index: str, query: str) -> AgenticRequest:
        try:
            return await _request(self._services, _anybody(account_id), index, query)
        except (SearchError, WorkerError) as error:
            raise CannotWarm(str(error)) from error

    def _count(self, answer: Answer) -> None:
        tokens = answer.tokens()
        self._answered += 1
        self._spent = TokenUsage(
            input=self._spent.input + tokens["input"],
            output=self._spent.output + tokens["output"] + tokens["thoughts"],
        )


async def _request(services: Services, caller: Caller, index: str, query: str) -> AgenticRequest:
    description = await services.search.describe_index(caller, index)
    snapshot = services.accounts.snapshot(caller.account_id, index)
    return build_request(caller, index, AgenticPayload(q=query), snapshot, description)


def _anybody(account_id: str) -> Caller:
    # What is stored for everybody is made from what everybody may see.
    return Caller(account_id=account_id, key_kind="publishable")


def _category(found: CategoryHits) -> PreviewCategory:
    return PreviewCategory(
        label=found.expansion.label,
        query=found.expansion.query,
        confidence=found.expansion.confidence,
        filter=found.expansion.filter,
        filter_dropped=found.dropped_filter is not None,
        total_hits=found.total_hits,
        hits=tuple(_shown(hit) for hit in found.hits[:_PREVIEW_HITS]),
        error=str(found.error["message"]) if found.error else None,
    )


def _shown(hit: Hit) -> dict[str, object]:
    return {"_id": hit["_id"], "title": hit.get("productTitle"), "price": hit.get("price")}
