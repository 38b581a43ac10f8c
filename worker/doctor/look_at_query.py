"""What would happen to one very request, and why; no model is called."""

from __future__ import annotations

from collections.abc import Sequence

from cache.eligibility import session_bucket
from search_proxy.errors import SearchError
from worker.answer_cache import plan_cache
from worker.doctor.examination import Examined
from worker.doctor.findings import Finding
from worker.errors import WorkerError
from worker.payload import AgenticPayload
from worker.request import AgenticRequest, build_request, plan_request
from worker.stored_answer import StoredAnswer
from worker.words import count_words


async def look_at_query(examined: Examined) -> Sequence[Finding]:
    """Return the way that the question would take, stage by stage."""
    if examined.query is None or examined.index is None:
        return []
    services = examined.services
    try:
        description = await services.search.describe_index(examined.caller, examined.index)
        snapshot = services.accounts.snapshot(examined.caller.account_id, examined.index)
        payload = AgenticPayload(q=examined.query, session_id=examined.session)
        request = build_request(examined.caller, examined.index, payload, snapshot, description)
    except (WorkerError, SearchError, ValueError) as error:
        return [
            Finding(
                part="this query",
                level="fail",
                looked_at=f"{examined.query[:80]!r}",
                found=f"it would be refused: {error}",
                advice="the message says what would be right",
            )
        ]
    reading, answered = await _reading(examined, request)
    if answered:
        return [reading]
    lookup, is_hit = await _lookup(examined, request)
    return [reading, _session(examined, request), lookup, *([] if is_hit else [_plan(examined, request)])]


async def _reading(examined: Examined, request: AgenticRequest) -> tuple[Finding, bool]:
    decision = await examined.services.reader.read(plan_request(request))
    strategy = decision.strategy.value if decision.strategy else "none"
    in_words = strategy in {"no_match", "needs_clarification"}
    found = f"{count_words(request.query)} words; the rules read it as {strategy}"
    if in_words:
        found += ": it is answered in words, without a search and without a model"
    return _row("reading", "what the rules make of the words", found), in_words


def _session(examined: Examined, request: AgenticRequest) -> Finding:
    account = request.caller.account_id
    share = request.settings.cached_query_percentage
    session = request.session_id or request.query
    bucket = session_bucket(account, session) / 100
    admitted = bucket < share
    who = f"session {session[:40]!r}" if request.session_id else "no session given, so the query's own words"
    return _row(
        "session",
        "whether the session may be given a cached answer",
        f"{who}: bucket {bucket:.2f} of 100, {'below' if admitted else 'not below'} cached_query_percentage"
        f" {share}: {'it may' if admitted else 'it may not'}; prompt version {request.prompt.version}",
    )


async def _lookup(examined: Examined, request: AgenticRequest) -> tuple[Finding, bool]:
    services = examined.services
    plan = plan_cache(request, services.settings.model)
    looked_at = "what the cache says now"
    if plan.key is None:
        return _row(
            "cache", looked_at, "the question has no key: it is too long, or holds what a key cannot"
        ), False
    if plan.skip_lookup is not None:
        return _row("cache", looked_at, f"not asked ({plan.skip_lookup}); key {plan.key.text[:200]!r}"), False
    decision = await services.cache.lookup(plan.key, expect=plan.tags)
    steps = ", ".join(str(step) for step in decision.steps)
    if decision.entry is not None and StoredAnswer.decode(decision.entry.payload) is not None:
        found = f"answered by the {decision.tier} ({steps}): the searches run fresh, no model is asked"
        return _row("cache", looked_at, found), True
    return _row("cache", looked_at, f"{decision.reason} ({steps}); key {plan.key.text[:200]!r}"), False


def _plan(examined: Examined, request: AgenticRequest) -> Finding:
    services, config = examined.services, request.settings.agentic_config
    words = count_words(request.query)
    looked_at = "who would plan it"
    if words < config.short_query_words:
        found = (
            f"nobody: {words} words are fewer than short_query_words {config.short_query_words}, plain hits"
        )
        return _row("plan", looked_at, found)
    if services.model is None:
        return _row("plan", looked_at, "the rules: no model is set up")
    account = request.caller.account_id
    if not services.budget.allows(account, config.budgets.tokens_per_day):
        return _row("plan", looked_at, "the rules: the tokens of today are spent")
    own = [name for name in (config.models.plan, config.models.fallback) if name]
    chain = own or list(services.settings.model_chain())
    shown = []
    for name in chain:
        breaker = services.breakers.get(name)
        state = breaker.state.value if breaker is not None else "closed"
        shown.append(name if state == "closed" else f"{name} (left alone: breaker {state})")
    return _row("plan", looked_at, f"{', then '.join(shown)}, then the rules")


def _row(part: str, looked_at: str, found: str) -> Finding:
    return Finding(part=f"query: {part}", level="note", looked_at=looked_at, found=found)
