"""Looks for a better order of the first hits, beside everything else, and sends it when it comes in time.

First hits never wait for it. Only what was ranked is reranked: products that merely pass a filter, or stand
in an order that somebody asked for, have no relevance to improve.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from search_proxy.binding import SearchBinding
from search_proxy.errors import SearchError
from search_proxy.models import Hit, SearchRequest, SearchResult
from search_proxy.reranking.candidates import candidate
from search_proxy.reranking.reranker import RerankFailed, RerankRequest, complete_order
from worker.answer import Answer
from worker.events import EventName
from worker.first_search import WITHOUT_SEARCH
from worker.request import AgenticRequest
from worker.rerank_guard import GuardedReranker
from worker.rerank_report import RerankOutcome, RerankReport
from worker.run import Run
from worker.services import Services
from worker.timing import Stage

logger = logging.getLogger(__name__)


def is_rerankable(search: SearchRequest, result: SearchResult) -> bool:
    """Return whether the hits are a first page that was ranked by relevance, every one of them."""
    is_browsing = search.q is None or search.q.strip() in ("", "*")
    is_ranked = all(hit.get("_score") is not None for hit in result.hits)
    return not is_browsing and not search.sort_by and not search.offset and is_ranked and len(result.hits) > 1


async def rerank_first_hits(
    services: Services, answer: Answer, run: Run, first_hits: asyncio.Task[None]
) -> None:
    """Wait for the first hits, then send `rerankedHits` where a better order comes and differs."""
    wanted = answer.request.reranking
    if wanted is None:
        return
    await asyncio.wait([first_hits])
    searched, found = answer.searched, answer.initial
    if searched is None or found is None or not is_rerankable(searched, found):
        answer.reranking = RerankReport(kind=wanted.kind, outcome="skipped", reason="not_ranked")
        return
    guarded = services.rerankers.get(wanted.kind)
    if guarded is None:
        answer.reranking = RerankReport(kind=wanted.kind, outcome="skipped", reason="not_set_up")
        return
    with answer.timings.measure(Stage.RERANK):
        hits, report = await _better(services.search, answer.request, searched, guarded)
    if report.outcome == "reranked" and _ids(hits) == _ids(found.hits):
        report = replace(report, outcome="unchanged")
    if answer.decision.strategy in WITHOUT_SEARCH and not answer.expansions:
        # The products were taken back meanwhile.
        report = replace(report, outcome="skipped", reason="no_search")
    answer.reranking = report
    if report.outcome == "reranked":
        run.emit(EventName.DELTA, {"rerankedHits": list(hits)})


async def _better(
    search: SearchBinding, request: AgenticRequest, searched: SearchRequest, guarded: GuardedReranker
) -> tuple[Sequence[Hit], RerankReport]:
    """Return a page in a better order, and how that went; the page is empty where there is none."""
    wanted = request.reranking
    assert wanted is not None
    seconds = guarded.timeout_seconds if wanted.timeout_ms is None else wanted.timeout_ms / 1000
    until = asyncio.get_running_loop().time() + seconds
    count = 0
    try:
        async with asyncio.timeout_at(until):
            wide = replace(searched, limit=max(wanted.top, searched.limit), facets=None)
            result = await search.handle_search(request.caller, wide)
            ids = _ids(result.hits)[: wanted.top]
            documents = await search.get_documents(request.caller, searched.index, ids)
        candidates = tuple(candidate(each.id, each.document) for each in documents if each.document)
        count = len(candidates)
        if count < 2:
            return (), RerankReport(kind=wanted.kind, outcome="unchanged", candidates=count)
        config = request.settings.agentic_config
        asked = RerankRequest(
            account_id=request.caller.account_id,
            query=request.query,
            candidates=candidates,
            model=config.models.plan,
            tokens_per_day=config.budgets.tokens_per_day,
        )
        order = await guarded.order(asked, until)
    except TimeoutError:
        return (), RerankReport(kind=wanted.kind, outcome="late", candidates=count, reason="timeout")
    except RerankFailed as error:
        logger.warning("rerank_failed", extra={"kind": error.kind, "reason": str(error)})
        outcome: RerankOutcome = "late" if error.kind == "timeout" else "failed"
        return (), RerankReport(kind=wanted.kind, outcome=outcome, candidates=count, reason=error.kind)
    except SearchError as error:
        logger.warning("rerank_search_failed", extra={"reason": str(error)})
        return (), RerankReport(kind=wanted.kind, outcome="failed", reason="search_failed")
    by_id = {str(hit["_id"]): hit for hit in result.hits}
    placed = complete_order(list(by_id), order)
    page = [by_id[identifier] for identifier in placed[: searched.limit]]
    return page, RerankReport(kind=wanted.kind, outcome="reranked", candidates=count)


def _ids(hits: Sequence[Hit]) -> list[str]:
    return [str(hit["_id"]) for hit in hits]
