"""Makes the completion of each kind of request from what the request has become."""

from __future__ import annotations

from typing import Any

from search_proxy.errors import SearchError
from search_proxy.search_report import SearchReport
from worker.answer import Answer
from worker.errors import WorkerError
from worker.observe.completion import Completion, CompletionEvent, Purpose, hashed
from worker.replies import translate_search_error
from worker.run import Run


def answer_completed(
    event: CompletionEvent,
    answer: Answer,
    run: Run,
    failure: BaseException | None = None,
    *,
    purpose: Purpose = "request",
    **facts: Any,
) -> Completion:
    """Return the completion of an agentic search or a turn; `failure` ended it, `facts` are its own."""
    request = answer.request
    caller = request.caller
    strategy = answer.decision.strategy
    return Completion(
        event=event,
        purpose=purpose,
        run_id=answer.run_id,
        request_id=caller.request_id,
        account=caller.account_id,
        index=request.index,
        query_hash=hashed(request.query),
        query=request.query if request.settings.agentic_config.log_queries else None,
        source=answer.source.value,
        outcome=answer.outcome.value,
        error=_ended_by(answer, run, failure),
        degraded=answer.degraded,
        strategy=strategy.value if strategy else None,
        model=answer.plan_report.model if answer.plan_report else None,
        prompt_version=request.prompt.version,
        settings_version=request.settings_version,
        cache_tier=answer.cache_tier,
        cache=answer.cache,
        categories=len(answer.categories),
        category_errors=sum(found.error is not None for found in answer.categories),
        total_hits=answer.initial.total_hits if answer.initial else None,
        filters_dropped=sum(found.dropped_filter is not None for found in answer.categories),
        ungrounded_links=answer.ungrounded_links(),
        withheld=answer.withheld() or None,
        reranked=None if answer.reranking is None else answer.reranking.outcome,
        warnings=answer.all_warnings() or None,
        tokens=answer.tokens(),
        tools=answer.tool_calls,
        timings=answer.timings.milliseconds(),
        starts=answer.timings.starts(),
        **facts,
    )


def search_completed(report: SearchReport) -> Completion:
    """Return the completion of a plain search."""
    return Completion(
        event="search_completed",
        request_id=report.caller.request_id,
        account=report.caller.account_id,
        index=report.index,
        source="search",
        outcome=report.outcome,
        error=report.error,
        query_hash=None if report.query is None else hashed(report.query),
        query=report.query if report.may_log_query else None,
        total_hits=report.total_hits,
        withheld=report.withheld or None,
        timings={"E2E": round(report.seconds * 1000, 2)},
    )


def failure_code(failure: BaseException | None) -> str | None:
    """Return the code that a client sees for a failure, None where there was none."""
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    if failure is None:
        return None
    if isinstance(failure, SearchError):
        failure = translate_search_error(failure)
    return failure.code if isinstance(failure, WorkerError) else "internal"


def _ended_by(answer: Answer, run: Run, failure: BaseException | None) -> str | None:
    if answer.outcome.value == "canceled":
        return run.stopped_because
    if answer.outcome.value == "error":
        return failure_code(failure) or answer.error
    return None
