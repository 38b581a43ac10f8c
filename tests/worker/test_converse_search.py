"""An agentic search that is a turn of a conversation: its memory, its receipt, and no cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.event_stream import Frame
from tests.support.scripted_gemini.scenarios import json_text
from tests.support.shop import AGENTIC, Shop, open_shop
from tests.support.talk import CONVERSATIONS, Talk
from tests.worker.test_agentic_search import SUMMARY, modelled_shop

pytestmark = pytest.mark.anyio

ALL = '{"attributesToRetrieve": ["*"]}'


def receipt_of(events: list[Frame]) -> dict[str, Any]:
    """Return the receipt of the last delta."""
    assert events[-1].name == "stream-end"
    found: dict[str, Any] = events[-2].data["receipt"]
    return found


def first_hits(events: list[Frame]) -> list[dict[str, Any]]:
    """Return the plain hits."""
    found: list[dict[str, Any]] = next(event.data["hits"] for event in events if "hits" in event.data)
    return found


async def say(shop: Shop, query: str, conversation_id: str | None = None) -> list[Frame]:
    """Make a turn by agentic search."""
    known = {} if conversation_id is None else {"conversationId": conversation_id}
    return await shop.stream(query, enableConversation="true", searchSettings=ALL, **known)


async def test_a_follow_up_searches_what_the_thread_means(tmp_path: Path) -> None:
    """A price, a colour and a position, by rules; the receipt names conversation and turn."""
    async with open_shop(tmp_path) as shop:
        tents = await say(shop, "show me some tents for camping")
        conversation_id = receipt_of(tents)["conversationId"]
        before = max(hit["price"] for hit in first_hits(tents))
        dearer = await say(shop, "something more expensive", conversation_id)
        assert first_hits(dearer)
        assert min(hit["price"] for hit in first_hits(dearer)) > before
        blue = await say(shop, "in blue", conversation_id)
        assert {hit["color"] for hit in first_hits(blue)} == {"blue"}
        for event in blue:
            for item in event.data.get("categoryHits", []):
                assert {hit["color"] for hit in item["hits"]} <= {"blue"}
        second = await say(shop, "the second one", conversation_id)
        assert [hit["_id"] for hit in first_hits(second)] == [first_hits(blue)[1]["_id"]]
        assert [receipt_of(events)["turn"] for events in (tents, dearer, blue, second)] == [1, 2, 3, 4]
        kept = (await shop.client.get(f"{CONVERSATIONS}/{conversation_id}")).json()
    assert [turn["query"] for turn in kept["interactions"]] == [
        "show me some tents for camping",
        "something more expensive",
        "in blue",
        "the second one",
    ]


async def test_a_conversation_can_go_on_on_the_other_route(tmp_path: Path) -> None:
    """Both keep one thread: what the page has shown can be spoken of in the chat."""
    async with open_shop(tmp_path) as shop:
        page = await say(shop, "warm boots for winter walks")
        talk = Talk(shop.client, conversation_id=receipt_of(page)["conversationId"])
        third = await talk.say("the third one")
        assert third.ids == [first_hits(page)[2]["_id"]]
        assert third.receipt["turn"] == 2


async def test_a_turn_is_neither_taken_from_the_cache_nor_put_there(tmp_path: Path) -> None:
    """It is nobody else's. Source: design 14."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.script(json_text(), SUMMARY, json_text(), SUMMARY)
        first = await say(shop, "something warm for a winter camping trip")
        again = await say(shop, "something warm for a winter camping trip")
        calls = len(gemini.calls)
    assert calls == 4
    for events in (first, again):
        assert receipt_of(events)["source"] == "llm"
        assert receipt_of(events)["cache"]["reason"] == "conversation"


async def test_the_model_sees_the_turns_before(tmp_path: Path) -> None:
    """A follow-up of two words is planned and not passed by."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.script(json_text(), json_text("Warm things."), json_text(), SUMMARY)
        first = await say(shop, "something warm for a winter camping trip")
        events = await say(shop, "in blue", receipt_of(first)["conversationId"])
        sent = gemini.calls[2].body["contents"]
    assert [message["role"] for message in sent] == ["user", "model", "user"]
    assert sent[0]["parts"][0]["text"] == "something warm for a winter camping trip"
    assert sent[1]["parts"][0]["text"] == "Warm things."
    assert receipt_of(events)["source"] == "llm"
    assert {hit["color"] for hit in first_hits(events)} == {"blue"}


async def test_without_being_asked_nothing_is_kept(tmp_path: Path) -> None:
    """An id alone asks for it, `enableConversation` false does not; a made-up id is not found."""
    async with open_shop(tmp_path) as shop:
        plain = await shop.stream("show me some tents for camping")
        assert "conversationId" not in receipt_of(plain)
        assert (await shop.client.get(CONVERSATIONS)).json()["conversations"] == []
        unknown = await shop.client.get(AGENTIC, params={"q": "tents", "conversationId": "made-up"})
        assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")
        off = await shop.stream("tents", conversationId="made-up", enableConversation="false")
        assert "conversationId" not in receipt_of(off)


async def test_the_json_answer_is_a_turn_too(tmp_path: Path) -> None:
    """POST without a stream; a greeting is kept as well."""
    async with open_shop(tmp_path) as shop:
        body = {"q": "hello", "enableConversation": True}
        answer = (await shop.client.post(AGENTIC, json=body)).json()
    assert answer["summary"].startswith("Hello")
    assert answer["receipt"]["turn"] == 1


async def test_trouble_in_storage_costs_the_memory_and_not_the_search(tmp_path: Path) -> None:
    """The receipt says so."""
    (tmp_path / "conversations.sqlite3").write_bytes(b"no database" * 1000)
    async with open_shop(tmp_path) as shop:
        events = await say(shop, "show me some tents for camping")
    assert first_hits(events)
    assert receipt_of(events)["turn"] is None
    assert "conversation_not_kept:StorageDamaged" in receipt_of(events)["warnings"]
