"""The resilient planner: whatever the model does, there is a plan, and the report says why it is so."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.support.fixed_planner import ROWS, FixedPlanner
from tests.support.scripted_gemini import Script, ScriptedGemini
from tests.support.scripted_gemini import scenarios as s
from tests.worker.planning.scripted_planning import CALLER, HASTY, REQUEST, planning
from worker.errors import PlanningFailed, UpstreamFailed
from worker.planning.plan import (
    PlanDecision,
    PlanDegraded,
    PlanEvent,
    PlanSource,
    QueryComplement,
    QueryExpansion,
    Strategy,
    TokenUsage,
)

pytestmark = pytest.mark.anyio

MODEL = "gemini-3.5-flash-lite"
FROM_MODEL = [
    QueryExpansion(query=q, label=label, confidence=c) for q, label, c in s.PLAN["query_expansions"]
]
ONE = {"query_expansions": [["camping lantern", "Lamps", 0.9]]}
"""A plan of one category, whose label the catalog planner has too."""
TEXT = json.dumps(s.PLAN)
TWO_ROWS, ONE_ROW = TEXT[: TEXT.index("]", TEXT.index("]") + 1) + 1], TEXT[: TEXT.index("]") + 1]


@pytest.fixture
async def server() -> AsyncIterator[ScriptedGemini]:
    """Serve scripts on the loopback."""
    async with ScriptedGemini(s.json_text()) as scripted:
        yield scripted


def labels(events: list[PlanEvent]) -> list[str]:
    """Return the labels of the expansions, in order."""
    return [event.label for event in events if isinstance(event, QueryExpansion)]


def reasons(events: list[PlanEvent]) -> list[str]:
    """Return the reasons for which the rules took over."""
    return [event.reason for event in events if isinstance(event, PlanDegraded)]


async def test_a_model_that_answers_is_the_source(server: ScriptedGemini) -> None:
    """Nothing stands in where nothing is missing."""
    async with planning(server) as p:
        events, report = await p.plan()
    assert events[:3] == FROM_MODEL
    assert (report.source, report.model, report.complete) == (PlanSource.LLM, MODEL, True)
    assert (report.usage, report.warnings) == (TokenUsage(input=100, output=40), ())
    assert p.catalog.asked == []


DEAD: dict[str, tuple[Script, str, int]] = {
    "400 key": (s.bad_key(), "invalid_key", 1),
    "403": (s.error(403, "no", "PERMISSION_DENIED"), "invalid_key", 1),
    "404 model": (s.error(404, "no", "NOT_FOUND"), "not_found", 1),
    "429 without advice": (s.rate_limited(None), "rate_limited", 2),
    "429 within the budget": (s.rate_limited("0.5s"), "rate_limited", 2),
    "429 beyond the budget": (s.rate_limited("20s"), "rate_limited", 1),
    "500": (s.unavailable(500), "unavailable", 2),
    "503": (s.unavailable(503), "unavailable", 2),
    "504": (s.unavailable(504), "unavailable", 2),
    "HTML 502": (s.html_502(), "unavailable", 2),
    "error as first event": (s.error_in_stream(), "unavailable", 2),
    "empty body": (s.stream(), "incomplete", 2),
    "clean early end": (s.early_eof(s.text_chunk('{"query_')), "incomplete", 2),
    "closed connection": (s.hung_up(), "disconnected", 2),
    "cut JSON": (s.stream(b"data: {\n\n"), "protocol", 2),
    "prompt blocked": (s.blocked_prompt(), "blocked", 1),
    "safety": (s.stream(s.finished("SAFETY")), "blocked", 1),
    "malformed call": (s.stream(s.finished("MALFORMED_FUNCTION_CALL")), "incomplete", 2),
}


@pytest.mark.parametrize("scenario", DEAD)
async def test_a_model_that_fails_leaves_the_rules(
    scenario: str, server: ScriptedGemini, caplog: pytest.LogCaptureFixture
) -> None:
    """The catalog planner's categories are in the same stream, and report and log say why."""
    script, kind, attempts = DEAD[scenario]
    server.script(script)
    with caplog.at_level(logging.WARNING):
        async with planning(server) as p:
            events, report = await p.plan()
    assert events == [PlanDegraded(reason=kind), *ROWS]
    assert (report.source, report.complete) == (PlanSource.CATALOG, False)
    assert report.details == {"attempts": attempts, "reason": kind}
    assert report.warnings[0] == f"model_failed:{kind}:{MODEL}"
    assert len(server.calls) == attempts
    logged = [record for record in caplog.records if record.message == "model_attempt_failed"]
    assert [record.__dict__["kind"] for record in logged] == [kind] * attempts


@pytest.mark.parametrize("script", [s.stalled(), s.stalled(s.text_chunk("{")), s.stalled(b": ping\n\n")])
async def test_a_model_that_stalls_leaves_the_rules_without_a_second_try(
    script: Script, server: ScriptedGemini
) -> None:
    """Who was too slow once has used the shopper's patience; the socket is closed."""
    server.script(script)
    async with planning(server, deadlines=HASTY) as p:
        events, report = await p.plan()
        async with asyncio.timeout(5):
            await server.calls[0].gone.wait()
    assert (events, report.details["reason"]) == ([PlanDegraded(reason="timeout"), *ROWS], "timeout")
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("delay", "waits"), [("0.5s", [0.5]), ("1s", [1.0]), ("1.5s", []), (None, [0.1]), ("0s", [0.0])]
)
async def test_retry_advice_is_followed_within_the_budget(
    delay: str | None, waits: list[float], server: ScriptedGemini
) -> None:
    """RetryInfo decides the wait; one that is too long is not waited for."""
    server.script(s.rate_limited(delay), s.json_text())
    async with planning(server) as p:
        events, report = await p.plan()
    assert p.clock.slept == waits
    assert report.source is (PlanSource.LLM if waits else PlanSource.CATALOG)
    assert labels(events) == (["Tents", "Sleeping Bags", "Sleeping Pads"] if waits else labels(list(ROWS)))


CUT: dict[str, Script] = {
    "clean end": s.early_eof(s.text_chunk(TWO_ROWS)),
    "closed": s.hung_up(s.text_chunk(TWO_ROWS)),
    "error": s.error_in_stream(s.text_chunk(TWO_ROWS)),
    "safety": s.stream(s.text_chunk(TWO_ROWS), s.finished("SAFETY")),
    "stall": s.stalled(s.text_chunk(TWO_ROWS)),
}


@pytest.mark.parametrize("scenario", CUT)
async def test_two_expansions_before_a_failure_are_a_plan(scenario: str, server: ScriptedGemini) -> None:
    """What was parsed stays valid, is not asked for again and must not be cached."""
    server.script(CUT[scenario])
    async with planning(server, deadlines=replace(HASTY, first_event_seconds=4.0)) as p:
        events, report = await p.plan()
    assert events == FROM_MODEL[:2]
    assert (report.source, report.model, report.complete) == (PlanSource.LLM, MODEL, False)
    assert report.warnings[0].startswith("model_failed:")
    assert (len(server.calls), p.catalog.asked) == (1, [])


async def test_one_expansion_before_a_failure_is_filled_up(server: ScriptedGemini) -> None:
    """The catalog planner adds what the model did not say already."""
    server.script(s.early_eof(s.text_chunk(ONE_ROW)))
    async with planning(server) as p:
        events, report = await p.plan()
    assert events == [FROM_MODEL[0], PlanDegraded(reason="incomplete"), *ROWS[1:]]
    assert (report.source, report.complete) == (PlanSource.CATALOG, False)


async def test_an_answer_of_one_expansion_is_filled_up(server: ScriptedGemini) -> None:
    """Labels and queries that the model gave are not repeated."""
    server.script(s.json_text(ONE))
    catalog = FixedPlanner([*ROWS, QueryExpansion(query="Camping Lantern", label="Other", confidence=0.1)])
    async with planning(server, catalog=catalog) as p:
        events, report = await p.plan()
    assert labels(events) == ["Lamps", "Tents", "Stoves"]
    assert reasons(events) == ["too_few_expansions"]
    assert (report.source, report.usage) == (PlanSource.CATALOG, TokenUsage(input=100, output=40))


async def test_filling_up_keeps_to_the_limit(server: ScriptedGemini) -> None:
    """The shopper's page has so many places and no more."""
    server.script(s.json_text(ONE))
    async with planning(server) as p:
        events, _ = await p.plan(replace(REQUEST, max_categories=2))
    assert labels(events) == ["Lamps", "Tents"]


async def test_one_category_is_enough_where_one_was_asked_for(server: ScriptedGemini) -> None:
    """With one place there is nothing to fill."""
    server.script(s.json_text(ONE))
    async with planning(server) as p:
        events, report = await p.plan(replace(REQUEST, max_categories=1))
    assert (labels(events), report.source) == (["Lamps"], PlanSource.LLM)


@pytest.mark.parametrize("strategy", [Strategy.NO_MATCH, Strategy.NEEDS_CLARIFICATION])
async def test_an_answer_that_needs_no_search_is_left_alone(
    strategy: Strategy, server: ScriptedGemini
) -> None:
    """A greeting is not filled up with tents."""
    server.script(s.json_text({"query_expansions": [], "strategy": strategy.value, "message": "Hello"}))
    async with planning(server) as p:
        events, report = await p.plan()
    assert events == [PlanDecision(strategy=strategy), PlanDecision(strategy=strategy, message="Hello")]
    assert (report.source, report.complete) == (PlanSource.LLM, True)


async def test_the_models_decision_and_complements_are_not_replaced(server: ScriptedGemini) -> None:
    """Who stands in adds; it does not change what was said."""
    server.script(s.json_text(ONE | {"query_complements": ["tent pegs"], "strategy": "hybrid"}))
    extra: list[PlanEvent] = [
        PlanDecision(strategy=Strategy.CONTENT_ONLY),
        QueryComplement(query="Tent pegs"),
        QueryComplement(query="mallet"),
    ]
    async with planning(server, catalog=FixedPlanner([*extra, *ROWS])) as p:
        events, _ = await p.plan()
    assert [e for e in events if isinstance(e, PlanDecision)] == [PlanDecision(strategy=Strategy.HYBRID)]
    assert [e.query for e in events if isinstance(e, QueryComplement)] == ["tent pegs", "mallet"]


async def test_a_second_model_is_asked_before_the_rules(server: ScriptedGemini) -> None:
    """The chain goes on after the first model's tries; the report names who answered."""
    server.script(s.unavailable(), s.unavailable(), s.json_text())
    async with planning(server, chain=("gemini-first", "gemini-second")) as p:
        events, report = await p.plan()
    assert [call.model for call in server.calls] == ["gemini-first", "gemini-first", "gemini-second"]
    assert (labels(events), report.source) == (["Tents", "Sleeping Bags", "Sleeping Pads"], PlanSource.LLM)
    assert (report.model, report.complete) == ("gemini-second", True)
    assert report.warnings == ("model_failed:unavailable:gemini-first",) * 2


async def test_a_second_model_is_not_asked_once_something_is_out(server: ScriptedGemini) -> None:
    """Two models' plans are never mixed."""
    server.script(s.early_eof(s.text_chunk(ONE_ROW)), s.json_text())
    async with planning(server, chain=("gemini-first", "gemini-second")) as p:
        await p.plan()
    assert [call.model for call in server.calls] == ["gemini-first"]


async def test_no_second_try_after_the_total_deadline(server: ScriptedGemini) -> None:
    """The retry's wait counts too."""
    server.script(s.unavailable())
    async with planning(server, total_seconds=0.05) as p:
        _, report = await p.plan()
    assert (len(server.calls), report.source) == (1, PlanSource.CATALOG)


async def test_an_open_breaker_asks_nobody(server: ScriptedGemini) -> None:
    """After five failures in a row the model is left alone, until one probe is let through."""
    server.script(s.error(404, "no", "NOT_FOUND"))
    async with planning(server) as p:
        await p.plan()
        assert p.models[0].breaker.state == "open"
        events, report = await p.plan()
        assert (reasons(events), report.warnings) == (["breaker_open"], (f"breaker_open:{MODEL}",))
        assert len(server.calls) == 1
        p.clock.now += 5
        server.script(s.json_text())
        _, report = await p.plan()
        assert report.source is PlanSource.LLM
        assert p.models[0].breaker.state == "closed"


async def test_a_cancelled_probe_lets_the_next_one_through(server: ScriptedGemini) -> None:
    """A shopper who leaves says nothing about the model."""
    server.script(s.error(404, "no", "NOT_FOUND"))
    async with planning(server) as p, asyncio.timeout(5):
        await p.plan()
        p.clock.now += 5
        server.script(s.stalled())
        async with asyncio.TaskGroup() as group:
            probe = group.create_task(p.planner.plan(REQUEST, lambda event: None), name="probe")
            await server.called(2)
            probe.cancel()
        await server.calls[1].gone.wait()
        server.script(s.json_text())
        _, report = await p.plan()
    assert report.source is PlanSource.LLM


async def test_a_plan_that_is_given_up_has_used_what_the_model_said(server: ScriptedGemini) -> None:
    """A shopper who leaves in mid-answer does not give the tokens back."""
    server.script(s.stalled(s.text_chunk('{"query_expansions": [["4 season tent", "Tents", 0.95]')))
    told: list[TokenUsage] = []
    async with planning(server) as p, asyncio.timeout(5):
        arrived = asyncio.Event()

        def note(used: TokenUsage) -> None:
            told.append(used)
            arrived.set()

        request = replace(REQUEST, note_usage=note)
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(p.planner.plan(request, lambda event: None), name="asking")
            await arrived.wait()
            asking.cancel()
        assert p.budget.spent_today("acme") == 140
    assert told == [TokenUsage(input=100, output=40)]


async def test_a_spent_budget_asks_nobody_until_tomorrow(server: ScriptedGemini) -> None:
    """Each account has its own day."""
    async with planning(server, tokens_per_day=100) as p:
        _, first = await p.plan()
        events, second = await p.plan()
        other = replace(REQUEST, caller=replace(CALLER, account_id="other"))
        _, third = await p.plan(other)
        p.clock.now += 86_400
        _, fourth = await p.plan()
    sources = [report.source for report in (first, second, third, fourth)]
    assert sources == [PlanSource.LLM, PlanSource.CATALOG, PlanSource.LLM, PlanSource.LLM]
    assert (reasons(events), second.warnings) == (["budget_spent"], ("budget_spent",))


async def test_failed_calls_cost_tokens_too(server: ScriptedGemini) -> None:
    """What a model counted before it failed is spent and reported."""
    server.script(s.early_eof(s.text_chunk(TWO_ROWS)))
    async with planning(server, tokens_per_day=1000) as p:
        _, report = await p.plan()
        assert p.budget.spent_today("acme") == 140
    assert report.usage == TokenUsage(input=100, output=40)


async def test_without_models_the_rules_are_no_degradation(server: ScriptedGemini) -> None:
    """A shop that runs without a model gets whole answers."""
    async with planning(server, chain=()) as p:
        events, report = await p.plan()
    assert (events, report.complete) == (list(ROWS), True)
    assert report.details == {"attempts": 0, "reason": "no_model"}


async def test_no_plan_at_all_is_an_error(server: ScriptedGemini) -> None:
    """Model and rules both gone: the flow is told."""
    server.script(s.bad_key())
    async with planning(server, catalog=FixedPlanner(failure=UpstreamFailed("down"))) as p:
        with pytest.raises(PlanningFailed):
            await p.plan()


async def test_rules_that_fail_leave_what_the_model_said(server: ScriptedGemini) -> None:
    """One category is better than an error."""
    server.script(s.json_text(ONE))
    async with planning(server, catalog=FixedPlanner(failure=UpstreamFailed("down"))) as p:
        events, report = await p.plan()
    assert (labels(events), report.complete) == (["Lamps"], False)
    assert report.warnings == ("too_few_expansions", "catalog_failed")
