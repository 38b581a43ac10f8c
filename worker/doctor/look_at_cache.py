"""The cache of answers: table, negative filter, edge, and which sessions are admitted."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress

from cache.edge_cache import EdgeTimes
from cache.errors import CacheError
from cache.keys import QueryKey, scope_of
from cache.membership_filter import FilterVerdict
from worker.doctor.examination import Examined
from worker.doctor.findings import Finding, Level

_HIGH_RATE = 0.02
_ENOUGH = 1000
"""Unknown questions, before the share that was let through says anything."""
_REBUILD = "aisle cache rebuild-filter {index} --account {account}"
_VERDICTS: Mapping[str, tuple[Level, str, str]] = {
    FilterVerdict.UNBUILT: ("note", "none is built yet: questions go to the table; some writes build it", ""),
    FilterVerdict.DAMAGED: ("warn", "its file is damaged: every question goes to the table", _REBUILD),
    FilterVerdict.OLD: ("warn", "it is too old to be believed: every question goes to the table", _REBUILD),
    FilterVerdict.BEHIND: (
        "warn",
        "it is behind the table, and lets every question through",
        "see cache_feed_failed in the log",
    ),
}


async def look_at_cache(examined: Examined) -> Sequence[Finding]:
    """Return the state of each tier for the account's index."""
    account = examined.caller.account_id
    known = await examined.services.backend.list_indexes(account)
    index = examined.index or next(iter(known), None)
    if index is None:
        return []
    table = await _table(examined, account, index)
    filters = [] if examined.index is None else [await _filter(examined, account, index)]
    return [table, *filters, await _edge(examined, account, index), *_admitted(examined)]


async def _table(examined: Examined, account: str, index: str) -> Finding:
    settings = examined.services.settings
    place = "SQLite under the data folder"
    if settings.cache_table == "dynamodb":
        place = f"DynamoDB in {settings.dynamodb_region}"
    looked_at = f"the table of cached answers ({place}): one read"
    try:
        await examined.services.cache.read(QueryKey.of(account, index, _unknown_question()))
    except CacheError as error:
        missing = "create-table" in str(error)
        return Finding(
            part="cache table",
            level="fail",
            looked_at=looked_at,
            found=str(error),
            advice="aisle cache create-table" if missing else "answers are planned anew until it is back",
        )
    return Finding(part="cache table", level="ok", looked_at=looked_at, found="it answered")


async def _filter(examined: Examined, account: str, index: str) -> Finding:
    """Ask one question that was never stored, and read the filter's word on it."""
    cache = examined.services.cache
    try:
        await cache.load_filter(account, index)
        # A filter that nobody has asked for a while has not followed the table meanwhile.
        with suppress(CacheError):
            await cache.poll_changes()
    except OSError as error:
        return Finding(
            part="cache filter",
            level="warn",
            looked_at="the filter's file",
            found=f"it cannot be read: {error.strerror or error}",
            advice="repair its rights; every question goes to the table meanwhile",
        )
    decision = await cache.lookup(QueryKey.of(account, index, _unknown_question()))
    verdict = next((step.outcome for step in decision.steps if step.tier == "filter"), "not asked")
    stats = cache.stats()
    facts, rate = stats["filters"].get(scope_of(account, index), {}), stats["filter_false_positive_rate"]
    level, found, advice = _VERDICTS.get(verdict, ("ok", f"it says {str(verdict)!r}", ""))
    if "age_seconds" in facts:
        keys, added, age = int(facts["keys"]), int(facts["added"]), facts["age_seconds"]
        found += f"; {keys:,} keys and {added:,} since, {age:,.0f} s old"
    seen = cache.snapshot().filter
    if rate is not None and seen.negatives + seen.false_positives >= _ENOUGH:
        found += f"; {rate:.2%} of unknown questions were let through"
        if rate > _HIGH_RATE and level == "ok":
            level, advice = "warn", _REBUILD
    return Finding(
        part="cache filter",
        level=level,
        looked_at="the filter of questions that were never stored: one question",
        found=found,
        advice=advice.format(index=index, account=account),
    )


async def _edge(examined: Examined, account: str, index: str) -> Finding:
    services = examined.services
    is_redis = services.settings.redis_url is not None
    times = EdgeTimes()
    looked_at = f"the edge cache ({'Redis' if is_redis else 'in this process'}): one lookup"
    decision = await services.cache.lookup(QueryKey.of(account, index, _unknown_question()))
    said = next((step.outcome for step in decision.steps if step.tier == "edge"), "not asked")
    open_breakers = [name for name in services.cache.stats()["open"] if name.startswith("edge")]
    failing = said not in {"miss", "hit", "stale"} or bool(open_breakers)
    found = f"it said {str(said)!r}"
    found += f"; fresh for {times.fresh_seconds / 3600:g} h, served up to {times.max_age_seconds / 3600:g} h"
    if open_breakers:
        found += f"; left alone for a while: {', '.join(open_breakers)}"
    return Finding(
        part="edge cache",
        level="fail" if failing else "ok",
        looked_at=looked_at,
        found=found,
        advice="make Redis reachable (AISLE_REDIS_URL); the table answers meanwhile" if failing else "",
    )


def _admitted(examined: Examined) -> list[Finding]:
    if examined.index is None:
        return []
    account, index = examined.caller.account_id, examined.index
    settings = examined.services.accounts.snapshot(account, index).settings
    share, keeps = settings.cached_query_percentage, settings.agentic_config.cache_model_answers
    findings = [
        Finding(
            part="cached sessions",
            level="ok" if share == 100 else "fail" if share == 0 else "note",
            looked_at="cached_query_percentage",
            found=f"{share} % of the sessions may be given a cached answer",
            advice="" if share else f"aisle settings set {account} {index} cached_query_percentage=100",
        )
    ]
    if not keeps:
        findings.append(
            Finding(
                part="cache writes",
                level="warn",
                looked_at="agentic_config.cache_model_answers",
                found="off: what the model answers is not kept",
                advice=f"aisle settings set {account} {index} agentic_config.cache_model_answers=true",
            )
        )
    return findings


def _unknown_question() -> str:
    return f"doctor {secrets.token_hex(8)}"
