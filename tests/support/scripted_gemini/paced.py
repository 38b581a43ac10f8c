"""A model with the pace of a real one: 300 ms to the first byte, then a chunk every 20 ms.

A request that asks for JSON or offers functions gets a 2 KB plan of six categories in 40 chunks; any
other gets a summary in 60 chunks. A call that does not stream waits as long and gets the whole plan.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.support.scripted_gemini.scenarios import chunk as response_chunk
from tests.support.scripted_gemini.scenarios import finished, split, sse, text_chunk
from tests.support.scripted_gemini.steps import End, Head, Pause, Script, Send, Step
from tests.support.scripted_gemini.wire import Call

_ROWS = (
    ("waterproof four season tent", "Tents", 0.97),
    ("down sleeping bag for winter", "Sleeping Bags", 0.93),
    ("insulated sleeping pad", "Sleeping Pads", 0.88),
    ("compact gas camping stove", "Stoves & Cookware", 0.82),
    ("merino base layer", "Warm Layers", 0.76),
    ("rechargeable headlamp", "Lights", 0.7),
)
_PLAN_BYTES = 2048
_TEXT = (
    "For cold nights outside, start with shelter and insulation. A tent that sheds snow and a pad with a "
    "high R-value keep more warmth than a heavier bag does. Add a stove that works below freezing, a dry "
    "base layer to sleep in and a headlamp for the long evenings. "
)
SUMMARY = _TEXT * 4
"""What the model writes about anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast the model answers."""

    first_byte_seconds: float = 0.3
    gap_seconds: float = 0.02
    plan_chunks: int = 40
    summary_chunks: int = 60


class PacedModel:
    """Chooses the script for a call; every script is built once, so that playing it costs little."""

    def __init__(self, pace: Pace) -> None:
        plan = self.plan()
        self._plan = _paced(split(json.dumps(plan), pace.plan_chunks), pace)
        self._call = self._paced_call(plan, pace)
        self._whole = self._paced_whole(plan, pace)
        self._summary = _paced(split(SUMMARY, pace.summary_chunks), pace)

    def __call__(self, call: Call) -> Script:
        """Return the script that answers this call."""
        if call.method == "generateContent":
            return self._whole
        if call.body.get("tools"):
            return self._call
        if call.body.get("generationConfig", {}).get("responseMimeType") == "application/json":
            return self._plan
        return self._summary

    @staticmethod
    def plan(mark: str = "") -> dict[str, Any]:
        """Return the 2 KB plan, with `mark` at the end of the first category's query."""
        return _plan(mark)

    def _paced_call(self, plan: dict[str, Any], pace: Pace) -> Script:
        wait = pace.first_byte_seconds + pace.gap_seconds * pace.plan_chunks
        call = {"functionCall": {"name": "execute_search", "args": plan}}
        return [Head(), Pause(wait), Send(sse(response_chunk(call))), Send(finished()), End()]

    def _paced_whole(self, plan: dict[str, Any], pace: Pace) -> Script:
        wait = pace.first_byte_seconds + pace.gap_seconds * pace.plan_chunks
        answer = response_chunk({"text": json.dumps(plan)}, finish="STOP")
        head = Head(content_type="application/json")
        return [Pause(wait), head, Send(json.dumps(answer).encode()), End()]


def _plan(mark: str) -> dict[str, Any]:
    (query, *labelled), *others = _ROWS
    plan: dict[str, Any] = {
        "query_expansions": [[query + mark, *labelled], *(list(row) for row in others)],
        "query_complements": ["tent footprint", "camp pillow", "thermos flask"],
        "strategy": "content_only",
        "rewritten_query": "gear for winter camping",
        "summary": "",
    }
    missing = _PLAN_BYTES - len(json.dumps(plan))
    plan["summary"] = (SUMMARY * 2)[:missing]
    return plan


def _paced(pieces: list[str], pace: Pace) -> Script:
    steps: list[Step] = [Head(), Pause(pace.first_byte_seconds)]
    for piece in pieces:
        steps += [Send(text_chunk(piece)), Pause(pace.gap_seconds)]
    return [*steps, Send(finished()), End()]
