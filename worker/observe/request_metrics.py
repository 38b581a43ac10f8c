"""Counts every completion: the part of the metrics that comes from requests.

No label comes from a request as it is: a word that is not short and plain, or one of too many, is `other`.
"""

from __future__ import annotations

import re

from worker.observe.completion import Completion
from worker.observe.metric_families import OTHER, Counted, Family, Labels, Timed

_PATHS = {
    "agentic_search_completed": "agentic-search",
    "converse_completed": "converse",
    "chat_suggestions_completed": "chat-suggestions",
    "search_completed": "search",
}
_MOMENTS = {
    "TIME_TO_FIRST_EVENT": "aisle_time_to_first_event_seconds",
    "TIME_TO_FIRST_HITS": "aisle_time_to_first_hits_seconds",
    "TIME_TO_FIRST_CATEGORY": "aisle_time_to_first_category_seconds",
}
_WORD = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")
_MODEL = re.compile(r"[A-Za-z0-9._/:-]{1,64}\Z")
_MAX_ACCOUNTS = 1000
MODEL_FAILURES = (
    "rate_limited",
    "unavailable",
    "invalid_key",
    "invalid_request",
    "not_found",
    "blocked",
    "timeout",
    "disconnected",
    "incomplete",
    "protocol",
    "breaker_open",
    "budget_spent",
)
"""The kinds of `ModelError`."""


class RequestMetrics:
    """What the requests of one process were, took and cost; `by_account` counts accounts by name."""

    def __init__(self, *, by_account: bool = False) -> None:
        self._by_account = by_account
        more: Labels = ("account",) if by_account else ()
        most = _MAX_ACCOUNTS * 8 if by_account else 200
        self._requests = Counted(
            "aisle_requests_total",
            "Requests that have ended.",
            ("path", "source", "outcome", *more),
            max_series=most,
        )
        self._background = Counted(
            "aisle_background_answers_total",
            "Answers that no shopper waited for.",
            ("purpose", "outcome"),
        )
        self._stages = Timed("aisle_stage_seconds", "How long each stage took that ran.", ("stage",))
        self._durations = Timed("aisle_request_seconds", "How long requests took.", ("path",))
        self._moments = {
            stage: Timed(name, f"Until the {stage.rpartition('_')[2].lower()} was sent.", ("path",))
            for stage, name in _MOMENTS.items()
        }
        self._errors = Counted(
            "aisle_errors_total", "Requests that failed, by code.", ("path", "code"), max_series=100
        )
        self._degraded = Counted(
            "aisle_degraded_total",
            "Answers by rules instead of the model.",
            ("reason",),
            max_series=40,
            known=MODEL_FAILURES,
        )
        self._model_errors = Counted(
            "aisle_llm_errors_total",
            "Calls to a model that failed.",
            ("kind",),
            max_series=40,
            known=MODEL_FAILURES,
        )
        self._tokens = Counted(
            "aisle_tokens_total", "Tokens of model calls.", ("type", "model", *more), max_series=most
        )
        self._dropped = Counted("aisle_filters_dropped_total", "Filters of a plan that found nothing.")
        self._ungrounded = Counted(
            "aisle_ungrounded_links_total", "Links of summaries to products that were not sent."
        )

    def observe(self, completion: Completion) -> None:
        """Count one completion."""
        path = _PATHS[completion.event]
        if completion.purpose == "request":
            labels: Labels = (path, completion.source, completion.outcome)
            self._requests.add((*labels, completion.account) if self._by_account else labels)
        else:
            self._background.add((completion.purpose, completion.outcome))
        for stage, ms in completion.timings.items():
            if stage == "E2E":
                self._durations.observe((path,), ms / 1000)
            elif (moment := self._moments.get(stage)) is not None:
                moment.observe((path,), ms / 1000)
            else:
                self._stages.observe((stage,), ms / 1000)
        if completion.outcome == "error":
            self._errors.add((path, _word(completion.error)))
        if completion.degraded is not None:
            self._degraded.add((_word(completion.degraded),))
        if completion.warnings:
            self._count_model_errors(completion)
        if completion.filters_dropped:
            self._dropped.add(amount=completion.filters_dropped)
        if completion.ungrounded_links:
            self._ungrounded.add(amount=completion.ungrounded_links)
        if completion.model is not None and completion.tokens:
            self._count_tokens(completion)

    def families(self) -> list[Family]:
        """Return what was counted."""
        counted: tuple[Counted | Timed, ...] = (
            self._requests,
            self._background,
            self._durations,
            self._stages,
            *self._moments.values(),
            self._errors,
            self._degraded,
            self._model_errors,
            self._tokens,
            self._dropped,
            self._ungrounded,
        )
        return [each.family() for each in counted]

    def _count_model_errors(self, completion: Completion) -> None:
        for warning in completion.warnings or ():
            what, _, rest = warning.partition(":")
            if what in {"model_failed", "summary_failed"}:
                self._model_errors.add((_word(rest.partition(":")[0]),))
            elif what in {"breaker_open", "budget_spent"}:
                self._model_errors.add((what,))

    def _count_tokens(self, completion: Completion) -> None:
        model = completion.model or ""
        named = model if _MODEL.match(model) else OTHER
        more = (completion.account,) if self._by_account else ()
        for kind, amount in (completion.tokens or {}).items():
            if amount:
                self._tokens.add((kind, named, *more), amount)


def _word(text: str | None) -> str:
    return text if text is not None and _WORD.match(text) else OTHER
