"""Writes the summary of what was found: by the model, streamed and grounded, or by rules.

The last step of an answer. It never fails: a model that cannot write one leaves the rules to do it, and
one that stops half way leaves what it wrote.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from worker.grounding import GroundedText
from worker.llm.deadlines import Deadlines, read_within
from worker.llm.language_model import Finish, LanguageModel, ModelError, ModelEvent, TextDelta, Usage
from worker.planning.plan import TokenUsage, ignored_usage
from worker.summary_prices import PriceCheck
from worker.summary_prompt import summary_call
from worker.summary_request import SummaryReport, SummaryRequest, hit_price
from worker.summary_rules import rules_summary

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryConfig:
    """How a model is asked for summaries."""

    model: str = "gemini-3.5-flash-lite"
    deadlines: Deadlines = Deadlines()
    max_output_tokens: int = 400
    max_found_tokens: int = 1200


async def write_summary(
    model: LanguageModel | None,
    request: SummaryRequest,
    emit: Callable[[str], None],
    config: SummaryConfig | None = None,
    *,
    note_usage: Callable[[TokenUsage], None] = ignored_usage,
) -> SummaryReport:
    """Push the summary's text through `emit` as it is written, and return how it went.

    `note_usage` is told what has been used so far, since a summary that is given up has no report.

    Raises:
        Nothing of its own: a model's failure is in the report.
    """
    config = config or SummaryConfig()
    name = config.model
    if model is None:
        return _by_rules(request, emit)
    if not any(True for _ in request.sent_hits()):
        return _by_rules(request, emit, warnings=("nothing_found",))
    written = _Written(request, emit, note_usage)
    call = summary_call(
        request,
        model=name,
        max_output_tokens=config.max_output_tokens,
        max_found_tokens=config.max_found_tokens,
    )
    failures: list[str] = []
    try:
        await read_within(config.deadlines, model, call, written.take)
    except ModelError as error:
        failures.append(f"summary_failed:{error.kind}:{name}")
        facts = {"kind": error.kind, "status": error.status, "error": str(error), "model": name}
        logger.warning("summary_failed", extra=facts)
    written.close()
    if written.finish == "MAX_TOKENS":
        failures.append("summary_max_tokens")
    warnings = (*failures, *written.grounded.warnings)
    if not written.text.strip():
        return _by_rules(
            request, emit, usage=written.usage, warnings=(*warnings, "summary_empty"), failed=True
        )
    return SummaryReport(
        text=written.text,
        source="llm",
        model=name,
        usage=written.usage,
        warnings=warnings,
        ungrounded_links=written.grounded.counts["unknown_product"],
        complete=not failures,
    )


def _by_rules(
    request: SummaryRequest,
    emit: Callable[[str], None],
    *,
    usage: TokenUsage | None = None,
    warnings: tuple[str, ...] = (),
    failed: bool = False,
) -> SummaryReport:
    text = rules_summary(request)
    emit(text)
    return SummaryReport(
        text=text, source="rules", usage=usage or TokenUsage(), warnings=warnings, complete=not failed
    )


class _Written:
    """What the model has written so far, as far as it may be shown."""

    def __init__(
        self,
        request: SummaryRequest,
        emit: Callable[[str], None],
        note_usage: Callable[[TokenUsage], None],
    ) -> None:
        sent = list(request.sent_hits())
        prices = (price for hit in sent if (price := hit_price(hit)) is not None)
        self.grounded = GroundedText(
            {str(hit["_id"]) for hit in sent},
            PriceCheck(prices, query=request.query, locale=request.locale),
            clickable=request.clickable,
        )
        self.usage = TokenUsage()
        self._note_usage = note_usage
        self.finish: str | None = None
        self._shown: list[str] = []
        self._emit = emit

    @property
    def text(self) -> str:
        return "".join(self._shown)

    def take(self, event: ModelEvent) -> None:
        if isinstance(event, TextDelta):
            self._show(self.grounded.feed(event.text))
        elif isinstance(event, Usage):
            self.usage = event.usage
            self._note_usage(event.usage)
        elif isinstance(event, Finish):
            self.finish = event.reason

    def close(self) -> None:
        self._show(self.grounded.close())

    def _show(self, text: str) -> None:
        if text:
            self._shown.append(text)
            self._emit(text)
