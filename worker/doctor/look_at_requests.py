"""What the last requests of the account were like: slow, failing, without categories, degraded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from worker.doctor.examination import Examined
from worker.doctor.findings import Finding
from worker.observe.completion import Completion
from worker.tail.pretty import stage_name
from worker.tail.tail_summary import percentile

_SLOW_MS = {
    "LLM_FIRST_CALL": 2500.0,
    "LLM_SECOND_CALL": 4000.0,
    "INITIAL_MARQO_SEARCH": 300.0,
    "CATEGORY_SEARCH_TOTAL": 600.0,
    "CACHED_QUERY_LOOKUP": 100.0,
    "CATALOG_PLAN": 300.0,
    "CONVERSATION_LOAD": 100.0,
    "CONVERSATION_COMMIT": 100.0,
}
"""Above this a stage is what makes an answer slow; healthy ones are several times faster."""
_FEW = 0.05


async def look_at_requests(examined: Examined) -> Sequence[Finding]:
    """Return what the last requests say, where this process has seen any."""
    if examined.recent is None:
        return []
    seen = examined.recent.of(examined.caller.account_id, examined.index)
    if not seen:
        return [
            Finding(
                part="requests",
                level="note",
                looked_at="the last requests of this process",
                found="there were none since it started",
                advice="ask something, then look again",
            )
        ]
    return [_failed(seen), _slow(seen), _degraded(seen), _empty(seen)]


def _failed(seen: Sequence[Completion]) -> Finding:
    errors = Counter(each.error or "unknown" for each in seen if each.outcome == "error")
    parts = sum(each.category_errors or 0 for each in seen)
    found = f"{sum(errors.values())} of {len(seen)} failed"
    if errors:
        found += ": " + _listed(errors)
    if parts:
        found += f"; {parts} single categories failed inside answers that went on"
    bad = bool(errors or parts)
    return Finding(
        part="failures",
        level="fail" if sum(errors.values()) > _FEW * len(seen) else "warn" if bad else "ok",
        looked_at="how the last requests ended, and errors inside streams",
        found=found,
        advice="aisle tail --status error shows each with its run; aisle trace RUN_ID where traces are kept"
        if bad
        else "",
    )


def _slow(seen: Sequence[Completion]) -> Finding:
    by_stage: dict[str, list[float]] = {}
    for each in seen:
        for stage, ms in each.timings.items():
            by_stage.setdefault(stage, []).append(ms)
    slow = {
        stage: percentile(sorted(values), 0.95)
        for stage, values in by_stage.items()
        if stage in _SLOW_MS and percentile(sorted(values), 0.95) > _SLOW_MS[stage]
    }
    whole = percentile(sorted(by_stage.get("E2E", [0.0])), 0.95)
    found = f"95 % of {len(seen)} requests ended within {whole:,.0f} ms"
    if slow:
        worst = sorted(slow.items(), key=lambda item: item[1] / _SLOW_MS[item[0]], reverse=True)
        found += "; slow: " + ", ".join(f"{stage_name(stage)} {ms:,.0f} ms" for stage, ms in worst)
    return Finding(
        part="speed",
        level="warn" if slow else "ok",
        looked_at="how long each stage of the last requests took (95th percentile)",
        found=found,
        advice=_why_slow(slow) if slow else "",
    )


def _why_slow(slow: Iterable[str]) -> str:
    if any(stage.startswith("LLM") for stage in slow):
        return (
            "the model is slow: a smaller AISLE_MODEL, or AISLE_MODEL_FIRST_CHUNK_SECONDS so that rules help"
        )
    if any(stage.startswith(("CACHED", "CONVERSATION")) for stage in slow):
        return "storage is slow: look at Redis, the table and the disk"
    return "the search engine is busy: fewer categories, more processes (aisle serve --workers N), or cores"


def _degraded(seen: Sequence[Completion]) -> Finding:
    reasons = Counter(each.degraded.split(":")[0] for each in seen if each.degraded)
    return Finding(
        part="degraded",
        level="warn" if sum(reasons.values()) > _FEW * len(seen) else "note" if reasons else "ok",
        looked_at="answers by the rules where the model failed",
        found=f"{sum(reasons.values())} of {len(seen)}" + (": " + _listed(reasons) if reasons else ""),
        advice="aisle doctor --ask-model says how the model is now" if reasons else "",
    )


def _empty(seen: Sequence[Completion]) -> Finding:
    searches = [
        each for each in seen if each.event == "agentic_search_completed" and each.outcome != "canceled"
    ]
    short = sum(each.source == "short_query_bypass" for each in searches)
    planned = [each for each in searches if each.source in {"llm", "cached"}]
    # Of a question that is answered in words nobody expects rows.
    empty = sum(
        each.categories == 0 and each.strategy not in {"no_match", "needs_clarification"} for each in planned
    )
    many = empty > _FEW * len(planned) and empty > 0
    found = f"{empty} of {len(planned)} plans of a model had none"
    if short:
        found += f"; {short} queries were short and got plain hits, as short_query_words says"
    return Finding(
        part="empty categories",
        level="warn" if many else "ok",
        looked_at="answers without any category",
        found=found,
        advice="read the prompt again (aisle prompt lint, aisle prompt preview), or go back (aisle prompt"
        " rollback)"
        if many
        else "",
    )


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common(5))
