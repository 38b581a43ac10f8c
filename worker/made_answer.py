"""A cached answer as it was last made, for as long as every search of it would find the same again.

What it holds is ready to be sent: the events themselves, with the links of the summary checked against the
hits that stand in them. It is an answer to one question of callers with equal rights, made with one stored
plan, of one generation of the index; when any of that is another, the answer is made anew.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import orjson

from search_proxy.models import SearchRequest, SearchResult
from worker.answer import Answer
from worker.category_search import CategoryHits
from worker.events import SharedEvents
from worker.planning.plan import PlanDecision, PlanSource, QueryExpansion
from worker.run import Run
from worker.timing import Stage

KEPT_SECONDS = 60.0
"""A question that is asked again and again is searched once a minute all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeAnswer:
    """The events of an answer up to its receipt, and what receipt and log line tell of it."""

    payload: bytes
    """The stored plan and summary that it was made with."""
    until: float
    shared: SharedEvents
    initial: SearchResult
    searched: SearchRequest
    categories: tuple[CategoryHits, ...]
    expansions: tuple[QueryExpansion, ...]
    complements: tuple[str, ...]
    decision: PlanDecision
    summary: tuple[str, ...]

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return len(self.payload) + self.shared.size + 5_000

    def is_of(self, payload: bytes) -> bool:
        """Return whether it was made with this stored answer, and lately."""
        return self.payload == payload and time.monotonic() < self.until

    def send(self, answer: Answer, run: Run) -> None:
        """Send it again, as the answer that is being made."""
        timings = answer.timings
        timings.mark(Stage.TIME_TO_FIRST_EVENT)
        timings.mark(Stage.TIME_TO_FIRST_HITS)
        if self.categories:
            timings.mark(Stage.TIME_TO_FIRST_CATEGORY)
        answer.source = PlanSource.CACHED
        answer.initial, answer.searched, answer.decision = self.initial, self.searched, self.decision
        answer.categories, answer.expansions = list(self.categories), list(self.expansions)
        answer.complements, answer.summary = list(self.complements), list(self.summary)
        run.emit_shared(self.shared)


def made_answer(answer: Answer, run: Run, payload: bytes) -> MadeAnswer | None:
    """Return what `run` has said so far for others who ask the same; None where it is not whole."""
    initial, searched = answer.initial, answer.searched
    if initial is None or searched is None or not _is_whole(answer, initial):
        return None
    return MadeAnswer(
        payload=payload,
        until=time.monotonic() + KEPT_SECONDS,
        shared=SharedEvents(
            tuple((event.name, _without_times(event.json)) for event in run.pending_after(0))
        ),
        initial=replace(initial, hits=(), facets={}),
        searched=searched,
        categories=tuple(replace(found, hits=()) for found in answer.categories),
        expansions=tuple(answer.expansions),
        complements=tuple(answer.complements),
        decision=answer.decision,
        summary=tuple(answer.summary),
    )


def _is_whole(answer: Answer, initial: SearchResult) -> bool:
    """Return whether every search has answered, with every lane that the index has, of one generation."""
    description = answer.request.description
    return (
        bool(description.generation)
        and initial.generation == description.generation
        and not (answer.warnings or answer.degraded or answer.error)
        and all(found.error is None for found in answer.categories)
        and all(lanes in ((), description.lanes) for lanes in _lanes(answer, initial))
    )


def _lanes(answer: Answer, initial: SearchResult) -> list[tuple[str, ...]]:
    return [initial.lanes, *(found.lanes for found in answer.categories)]


def _without_times(encoded: bytes) -> bytes:
    """Return a category's event as one that took no time; every other as it is."""
    if not encoded.startswith(b'{"categoryHits"'):
        return encoded
    data = orjson.loads(encoded)
    for item in data["categoryHits"]:
        item["processingTimeMs"] = 0.0
    return orjson.dumps(data)
