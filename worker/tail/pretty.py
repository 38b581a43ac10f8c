"""Draws a finished request for a terminal: one line of facts, and its stages as bars on one time line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

_NAMES = {
    "INITIAL_MARQO_SEARCH": "first hits",
    "CACHED_QUERY_LOOKUP": "cache lookup",
    "LLM_FIRST_CALL": "model: plan",
    "LLM_SECOND_CALL": "model: summary",
    "CATALOG_PLAN": "rules: plan",
    "CATEGORY_SEARCH_TOTAL": "categories",
    "RERANK": "rerank",
    "CONVERSATION_LOAD": "load thread",
    "CONVERSATION_COMMIT": "commit turn",
    "PRODUCT_CONTEXT": "product context",
    "E2E": "whole request",
    "TIME_TO_FIRST_EVENT": "to first event",
    "TIME_TO_FIRST_HITS": "to first hits",
    "TIME_TO_FIRST_CATEGORY": "to first category",
}
NAME_WIDTH = 17
_KINDS = {
    "agentic_search_completed": "search",
    "converse_completed": "converse",
    "chat_suggestions_completed": "suggestions",
    "search_completed": "plain",
}
_COLORS = {"ok": "32", "degraded": "33", "canceled": "36", "error": "31"}
_BAR_COLOR = "34"
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LONGEST_TEXT = 120


def stage_name(stage: str) -> str:
    """Return a stage's name for people; an unknown one as it is."""
    return _NAMES.get(stage, shown(stage))


def shown(value: object) -> str:
    """Return text from a log as it is safe on a terminal: one line, no control characters, not too long."""
    text = "".join(char if char.isprintable() else "?" for char in str(value))
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


class Pretty:
    """Draws lines `width` columns wide, with colours where `colored`."""

    def __init__(self, *, width: int = 100, colored: bool = False) -> None:
        self._bar_width = max(10, min(60, width - NAME_WIDTH - 16))
        self._colored = colored

    def request(self, line: Mapping[str, Any]) -> str:
        """Return the picture of one log line."""
        timings = line.get("timings")
        if not isinstance(timings, Mapping):
            timings = {}
        return "".join(f"{each}\n" for each in (self._facts(line, timings), *self._bars(line, timings)))

    def _facts(self, line: Mapping[str, Any], timings: Mapping[str, Any]) -> str:
        outcome = str(line.get("outcome", "?"))
        words = [
            shown(str(line.get("time", ""))[11:23]),
            self._paint(f"{shown(outcome):<8}", _COLORS.get(outcome)),
            f"{_KINDS.get(str(line.get('event')), '?'):<8}",
            f"{shown(line.get('source', '?')):<8}",
            f"{_ms(timings.get('E2E')):>9}",
            f"{shown(line.get('account', '?'))}/{shown(line.get('index', '?'))}",
            _quoted(line),
        ]
        return "  ".join([*words, *map(shown, _remarks(line))])

    def _bars(self, line: Mapping[str, Any], timings: Mapping[str, Any]) -> list[str]:
        starts = line.get("starts")
        whole = timings.get("E2E")
        if not isinstance(starts, Mapping) or not _is_number(whole) or whole <= 0:
            return []
        stages = [
            (float(start), stage)
            for stage, start in starts.items()
            if _is_number(start) and _is_number(timings.get(stage))
        ]
        return [
            self._bar(stage, start, float(timings[stage]), float(whole)) for start, stage in sorted(stages)
        ]

    def _bar(self, stage: str, start: float, took: float, whole: float) -> str:
        scale = self._bar_width / whole
        before = min(self._bar_width - 1, int(start * scale))
        eighths = max(1, round(min(took * scale, self._bar_width - before) * 8))
        bar = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
        rest = " " * (self._bar_width - before - len(bar))
        painted = self._paint(bar, _BAR_COLOR)
        return f"    {stage_name(stage):<{NAME_WIDTH}}▕{' ' * before}{painted}{rest}▏{_ms(took):>9}"

    def _paint(self, text: str, color: str | None) -> str:
        return f"\x1b[{color}m{text}\x1b[0m" if self._colored and color is not None else text


def _quoted(line: Mapping[str, Any]) -> str:
    if line.get("query") is not None:
        return f'"{shown(line["query"])}"'
    return f"#{shown(line['query_hash'])}" if line.get("query_hash") is not None else "-"


def _remarks(line: Mapping[str, Any]) -> list[str]:
    """Return what a person wants to know beyond the timings, where there is something."""
    facts = [
        ("prompt ", line.get("prompt_version")),
        ("cache ", line.get("cache_tier")),
        ("categories ", line.get("categories")),
        ("hits ", line.get("total_hits")),
        ("filters dropped ", line.get("filters_dropped") or None),
        ("ungrounded ", line.get("ungrounded_links") or None),
        ("", line.get("error")),
        ("degraded: ", line.get("degraded")),
        ("run ", line.get("run_id")),
    ]
    return [f"{name}{value}" for name, value in facts if value is not None]


def _ms(value: object) -> str:
    return f"{value:,.1f} ms" if _is_number(value) else "-"


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
