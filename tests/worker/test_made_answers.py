"""A cached answer that is asked again and again: made once, and anew as soon as it could be another."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from search_proxy.accounts.settings_schema import IndexSettings, SettingsSnapshot
from search_proxy.caller import Caller
from search_proxy.models import IndexDescription, SearchResult
from tests.support.event_stream import Frame
from tests.support.grouped_shop import with_keys
from tests.support.scripted_gemini import Call
from tests.support.scripted_gemini.scenarios import json_text
from tests.support.shop import AGENTIC, Shop, open_shop, products
from tests.worker.test_agentic_search import modelled_shop
from worker.answer import Answer
from worker.background import Background
from worker.category_search import CategoryHits
from worker.events import EventName
from worker.known_questions import MAX_QUESTIONS, KnownQuestions
from worker.made_answer import KEPT_SECONDS, MadeAnswer, made_answer
from worker.payload import AgenticPayload
from worker.planning.plan import QueryExpansion
from worker.request import build_request
from worker.run import Run

pytestmark = pytest.mark.anyio

QUERY = "something warm for cold nights outside"
PINNED = {
    "query_expansions": [["red tent", "Red Tents"], ["warm boots", "Boots", 0.8, "brand:(Norrland)"]],
    "query_complements": ["head torch"],
    "summary": "Take the [red tent](<p:tent-0>).",
}
_SEARCHES = {"INITIAL_MARQO_SEARCH", "CATEGORY_SEARCH_TOTAL"}


async def _pin(shop: Shop, **changes: Any) -> None:
    pinned = await shop.client.put(
        "/api/v1/admin/answers/demo", params={"q": QUERY}, json={**PINNED, **changes}
    )
    pinned.raise_for_status()


async def _ask(shop: Shop, query: str = QUERY, **parameters: str) -> list[Frame]:
    """Ask, and return when the answer is kept for the next one."""
    events = await shop.stream(query, **parameters)
    await _kept(shop)
    return events


async def _kept(shop: Shop) -> None:
    background = shop.services.wait_until
    assert isinstance(background, Background)
    async with asyncio.timeout(10):
        await background.settle()


def _is_plan(call: Call) -> bool:
    return "responseMimeType" in call.body.get("generationConfig", {})


def _searched(events: list[Frame]) -> bool:
    """Return whether an answer has searched, and check that it says all or nothing of it."""
    receipt = events[-2].data["receipt"]
    assert receipt["source"] == "cached"
    ran = _SEARCHES & set(receipt["timings"])
    assert ran in (set(), _SEARCHES)
    return bool(ran)


def _shown(events: list[Frame]) -> str:
    """Return all that a shopper sees, whichever category came first and how long it took."""
    shown = [event.data for event in events if "receipt" not in event.data]
    for data in shown:
        for item in data.get("categoryHits", []):
            item["processingTimeMs"] = 0.0
    return json.dumps(sorted(shown, key=json.dumps))


async def test_a_cached_answer_is_searched_once_while_nothing_changes(tmp_path: Path) -> None:
    """The second asker's answer is the first one's, under a run of its own. Source: docs/caching.md."""
    async with open_shop(tmp_path) as shop:
        await _pin(shop)
        first = await _ask(shop)
        second = await _ask(shop, sessionId="another")
        posted = await shop.client.post(AGENTIC, json={"q": QUERY})
    assert (_searched(first), _searched(second)) == (True, False)
    assert _shown(first) == _shown(second)
    assert "[red tent](<p:tent-0>)" in _shown(second)
    run_id = second[-2].data["receipt"]["runId"]
    assert [event.id for event in second] == [f"{run_id}-{number}" for number in range(1, len(second) + 1)]
    assert (second[-1].name, second[-1].data) == ("stream-end", {})
    assert run_id != first[-2].data["receipt"]["runId"]
    assert "CATEGORY_SEARCH_TOTAL" not in posted.json()["receipt"]["timings"]
    assert {item["category"] for item in posted.json()["categoryHits"]} == {"Red Tents", "Boots"}


async def test_a_write_is_seen_by_the_very_next_asker(tmp_path: Path) -> None:
    """Prices and stock are always today's, and so are links. Source: flow document, step 3."""
    async with open_shop(tmp_path) as shop:
        await _pin(shop)
        await _ask(shop)
        assert not _searched(await _ask(shop))
        await shop.services.catalog.delete_documents("demo", "demo", ["tent-0"])
        after = await _ask(shop)
        again = await _ask(shop)
    assert (_searched(after), _searched(again)) == (True, False)
    assert "tent-0" not in _shown(after) + _shown(again)
    assert "red tent" in _shown(again)


async def test_another_stored_answer_or_other_settings_make_it_anew(tmp_path: Path) -> None:
    """What is kept was made with one stored plan, under one account's settings."""
    async with open_shop(tmp_path) as shop:
        await _pin(shop)
        await _ask(shop)
        assert not _searched(await _ask(shop))
        await _pin(shop, summary="Take any tent.")
        repinned = await _ask(shop)
        assert not _searched(await _ask(shop))
        settings = {"agentic_config": {"category_result_limit": 2}}
        await shop.services.office.administration.set_settings("demo", "demo", settings, actor="test")
        fewer = await _ask(shop)
    assert (_searched(repinned), _searched(fewer)) == (True, True)
    assert "Take any tent." in _shown(repinned)
    hits = [len(item["hits"]) for event in fewer for item in event.data.get("categoryHits", [])]
    assert hits == [2, 2]


async def test_an_answer_that_was_deleted_is_not_told_again(tmp_path: Path) -> None:
    """The cache is asked each time; what it has let go of nobody gets."""
    async with open_shop(tmp_path) as shop:
        await _pin(shop)
        await _ask(shop)
        assert not _searched(await _ask(shop))
        removed = await shop.client.delete("/api/v1/admin/answers/demo", params={"q": QUERY})
        assert removed.status_code == 204
        anew = await _ask(shop)
    assert anew[-2].data["receipt"]["source"] == "catalog"


async def test_each_wish_of_a_request_gets_its_own_answer(tmp_path: Path) -> None:
    """What a request asks for is part of its question."""
    async with open_shop(tmp_path) as shop:
        await _pin(shop)
        await _ask(shop)
        more = await _ask(shop, categoryResultLimit="7")
        facets = await _ask(shop, suggestFilters="true")
        settings = await _ask(shop, searchSettings='{"limit": 3}')
        assert not _searched(await _ask(shop))
    assert (_searched(more), _searched(facets), _searched(settings)) == (True, True, True)
    assert {len(item["hits"]) for event in more for item in event.data.get("categoryHits", [])} == {7}
    assert any("suggestedFilters" in event.data for event in facets)
    assert [len(event.data["hits"]) for event in settings if "hits" in event.data] == [3]


async def test_who_may_see_less_gets_nothing_that_was_made_for_who_may_see_more(tmp_path: Path) -> None:
    """What is kept is kept for equal rights alone. Source: design, security."""
    documents = products()
    documents[0]["visibleTo"] = ["gold"]
    plan = {name: PINNED[name] for name in ("query_expansions", "query_complements")}
    async with modelled_shop(tmp_path, documents=documents) as (shop, gemini):
        gemini.choose = lambda call: json_text(plan if _is_plan(call) else "Take a [tent](<p:tent-0>).")
        grouped = await with_keys(shop)
        gold, silver = grouped.key("gold"), grouped.key("silver")
        for turn in range(4):
            for key in (gold, silver, grouped.publishable, grouped.secret):
                events = await grouped.ask(key, QUERY)
                await _kept(shop)
                said = json.dumps([event.data for event in events])
                assert ("tent-0" in said) == (key in (gold, grouped.secret))
                assert turn < 3 or not _searched(events)


async def test_a_permission_service_and_a_trace_have_every_search_made(tmp_path: Path) -> None:
    """What somebody else decides over is not kept, and a trace has all the searches of its run."""
    async with open_shop(tmp_path) as shop:
        await _pin(shop)
        await _ask(shop)
        assert not _searched(await _ask(shop))
        grouped = await with_keys(shop)
        settings: dict[str, Any] = {"view_gate": {"kind": "http", "url": "https://127.0.0.1:9/view"}}
        await shop.services.office.administration.set_settings("demo", "demo", settings, actor="test")
        judged = [await grouped.ask(grouped.publishable, QUERY) for _ in range(2)]
        settings = {"agentic_config": {"keep_traces": True}}
        await shop.services.office.administration.set_settings("demo", "demo", settings, actor="test")
        traced = [_searched(await _ask(shop)) for _ in range(2)]
    assert all("INITIAL_MARQO_SEARCH" in events[-2].data["receipt"]["timings"] for events in judged)
    assert traced == [True, True]


async def test_without_room_every_answer_is_made_anew(tmp_path: Path) -> None:
    """`AISLE_ANSWER_MEMORY_BYTES=0` keeps nothing."""
    async with open_shop(tmp_path, answer_memory_bytes=0) as shop:
        await _pin(shop)
        assert [_searched(await _ask(shop)) for _ in range(2)] == [True, True]
        assert shop.services.questions.used_bytes == 0


async def test_what_is_kept_is_bounded_in_number_and_bytes(tmp_path: Path) -> None:
    """Whoever asks a thousand questions takes no more than the bound."""
    async with open_shop(tmp_path, answer_memory_bytes=400_000) as shop:
        for number in range(60):
            query = f"{QUERY} number {number}"
            pinned = await shop.client.put("/api/v1/admin/answers/demo", params={"q": query}, json=PINNED)
            pinned.raise_for_status()
            await _ask(shop, query)
            assert shop.services.questions.used_bytes <= 400_000
        assert shop.services.questions.used_bytes > 0
        assert len(shop.services.questions) < 60


def test_questions_are_bounded_in_number_and_let_go_of_another_generation() -> None:
    """The least recently asked goes first; another generation of the index is another question."""
    questions = KnownQuestions()
    caller = Caller(account_id="acme", key_kind="secret")
    snapshot = SettingsSnapshot(
        settings=IndexSettings.model_validate({"feature_flags": {"agentic_search": True}}), version=1
    )

    def ask(text: str, generation: str = "1") -> Any:
        described = _described(generation)
        return questions.ask(caller, "shop", AgenticPayload(q=text), snapshot, described)[1]

    first = ask("first")
    assert ask("first") is first
    assert ask("first", generation="2") is not first
    for number in range(MAX_QUESTIONS + 5):
        ask(f"question {number}")
    assert len(questions) == MAX_QUESTIONS
    assert ask("no generation", generation="") is None


_GENERATION = "7"
_ALL_LANES = ("text", "vector")


def _described(generation: str) -> IndexDescription:
    return IndexDescription(
        index="shop",
        documents=1,
        products=1,
        fields=(),
        category_field=None,
        language="en",
        generation=generation,
        lanes=_ALL_LANES,
    )


def _found(lanes: tuple[str, ...] = _ALL_LANES, generation: str = _GENERATION) -> SearchResult:
    return SearchResult(
        hits=({"_id": "a"},),
        total_hits=1,
        facets={},
        query="q",
        limit=10,
        offset=0,
        processing_time_ms=1.0,
        lanes=lanes,
        generation=generation,
    )


def _made_of(found: SearchResult, category: CategoryHits, *warnings: str) -> MadeAnswer | None:
    snapshot = SettingsSnapshot(
        settings=IndexSettings.model_validate({"feature_flags": {"agentic_search": True}}), version=1
    )
    caller = Caller(account_id="acme", key_kind="secret")
    request = build_request(caller, "shop", AgenticPayload(q=QUERY), snapshot, _described(_GENERATION))
    run = Run(account_id="acme", index="shop")
    run.emit(EventName.DELTA, {"categoryHits": [category.to_wire()]})
    answer = Answer(request=request, run_id=run.id, initial=found, searched=request.initial)
    answer.categories, answer.warnings = [category], list(warnings)
    return made_answer(answer, run, b"stored")


def test_only_an_answer_whose_searches_were_all_whole_is_kept() -> None:
    """A failure, a lane that could not rank, or another generation may be over a moment later."""
    whole = CategoryHits(expansion=QueryExpansion(query="q", label="L", confidence=1.0), lanes=_ALL_LANES)
    assert _made_of(_found(), whole) is not None
    assert _made_of(_found(lanes=()), replace(whole, lanes=())) is not None
    assert _made_of(_found(lanes=("text",)), whole) is None
    assert _made_of(_found(), replace(whole, lanes=("text",))) is None
    assert _made_of(_found(generation="8"), whole) is None
    assert _made_of(_found(), replace(whole, error={"code": "search_failed"})) is None
    assert _made_of(_found(), whole, "late_strategy") is None


def test_what_is_kept_counts_for_a_minute_and_for_one_stored_answer() -> None:
    """A question that is asked for hours is searched again each minute, and says that no time was taken."""
    whole = CategoryHits(
        expansion=QueryExpansion(query="q", label="L", confidence=1.0), lanes=_ALL_LANES, milliseconds=12.5
    )
    made = _made_of(_found(), whole)
    assert made is not None
    assert made.is_of(b"stored")
    assert not made.is_of(b"another")
    assert not replace(made, until=time.monotonic()).is_of(b"stored")
    assert time.monotonic() < made.until <= time.monotonic() + KEPT_SECONDS
    assert json.loads(made.shared.events[0][1])["categoryHits"][0]["processingTimeMs"] == 0.0
