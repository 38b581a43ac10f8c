"""One plan for everybody who asks the same at the same moment: the leader tells, the others follow live.

What travels is the plan and the summary, as JSON events; every follower runs its own searches and checks
the summary's links against what it has sent itself.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import orjson

from cache.errors import FlightAbandoned
from cache.single_flight import Seat
from worker.answer import Answer
from worker.answer_stream import AnswerStream
from worker.grounding import GroundedText
from worker.planning.plan import (
    ExpansionsComplete,
    PlanDecision,
    PlanDegraded,
    PlanEvent,
    PlanSource,
    QueryComplement,
    QueryExpansion,
    Strategy,
    SummaryDelta,
)
from worker.summary_step import grounded_text

_KINDS: dict[str, type[PlanEvent]] = {
    "expansion": QueryExpansion,
    "complement": QueryComplement,
    "decision": PlanDecision,
    "degraded": PlanDegraded,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


class PlanTeller:
    """Publishes a leader's plan in order, waiting for nobody."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    def tell(self, event: PlanEvent) -> None:
        """Pass on a part of the plan; the plan's own draft of a summary stays with the leader."""
        if not isinstance(event, SummaryDelta | ExpansionsComplete):
            self._publish({"kind": _NAMES[type(event)], "event": event})

    def say(self, text: str) -> None:
        """Pass on a piece of the summary."""
        self._seat.publish(b'{"kind":"summary","text":%b}' % orjson.dumps(text))

    def end(self, answer: Answer) -> None:
        """Say that this was all, and where it came from."""
        model = answer.plan_report.model if answer.plan_report else None
        self._publish({"kind": "end", "source": answer.source, "model": model})

    def _publish(self, told: dict[str, Any]) -> None:
        # A copy without the 1 KB and more that orjson keeps around its result.
        self._seat.publish(bytes(memoryview(orjson.dumps(told))))


async def follow_plan(seat: Seat, stream: AnswerStream, initial: asyncio.Task[None]) -> None:
    """Answer with the plan that a leader is being told, as it comes.

    Raises:
        FlightAbandoned: The leader went away; what was sent stays valid.
    """
    answer = stream.answer
    async with aclosing(seat.events()) as events:
        told: dict[str, Any] = {}
        text: GroundedText | None = None
        abandoned: FlightAbandoned | None = None
        async with asyncio.TaskGroup() as searches:
            stream.searching_in(searches)
            try:
                async for line in events:
                    told = orjson.loads(line)
                    if told["kind"] in _KINDS:
                        stream.take(_event(told))
                        continue
                    if text is None:
                        # What the text may speak of is known when everything planned has landed here too.
                        await stream.landed()
                        await initial
                        stream.offer_complements()
                        text = grounded_text(answer)
                    if told["kind"] == "end":
                        break
                    _say(stream, text.feed(told["text"]))
            except FlightAbandoned as error:
                # Raised behind the group, so that the searches under way still land.
                abandoned = error
        if abandoned is not None:
            raise abandoned
        stream.offer_complements()
        if text is not None:
            _say(stream, text.close())
    followed = told.get("source", PlanSource.LLM)
    answer.source = PlanSource.CACHED if followed == PlanSource.LLM else PlanSource(followed)
    answer.cache_tier = "flight"


def _say(stream: AnswerStream, text: str) -> None:
    if text:
        stream.say(text)


def _event(told: dict[str, Any]) -> PlanEvent:
    fields = dict(told["event"])
    if fields.get("strategy") is not None:
        fields["strategy"] = Strategy(fields["strategy"])
    return _KINDS[told["kind"]](**fields)
