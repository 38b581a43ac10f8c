"""A conversation without a model, over real HTTP: its stream, its parameters, and what it remembers."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from tests.support.event_stream import frames
from tests.support.shop import AGENTIC, open_shop
from tests.support.talk import CONVERSE, Said, Talk
from worker.planning.thread_state import ThreadState

pytestmark = pytest.mark.anyio


async def test_a_turn_sends_its_id_first_then_hits_text_receipt_and_the_end(tmp_path: Path) -> None:
    """The events of the conversation stream, numbered. Source: docs/wire-format.md."""
    async with open_shop(tmp_path) as shop:
        said = await Talk(shop.client).say("show me tents")
    assert said.names == ["conversation-id", "category-hits", "message", "message", "stream-end"]
    assert set(said.events[0].data) == {"conversationId"}
    run_id = said.receipt["runId"]
    assert [event.id for event in said.events] == [f"{run_id}-{number}" for number in range(1, 6)]
    assert {hit["_id"].rpartition("-")[0] for hit in said.hits} == {"tent"}
    assert len(said.hits) == 6
    assert said.text
    receipt = said.receipt
    assert (receipt["source"], receipt["model"], receipt["turn"], receipt["warnings"]) == (
        "catalog",
        None,
        1,
        [],
    )
    assert receipt["conversationId"] == said.events[0].data["conversationId"]
    assert {"E2E", "CONVERSATION_LOAD", "CATEGORY_SEARCH_TOTAL", "CONVERSATION_COMMIT"} <= set(
        receipt["timings"]
    )
    assert said.events[-1].data == {}


async def test_a_turn_goes_on_where_the_last_one_was(tmp_path: Path) -> None:
    """The thread is read from storage, whoever asks; another conversation knows nothing of it."""
    async with open_shop(tmp_path) as shop:
        talk = Talk(shop.client)
        tents = await talk.say("show me tents", categoryResultLimit=3)
        dearer = await talk.say("something more expensive")
        assert min(dearer.prices) > max(tents.prices)
        second = await talk.say("the second one")
        assert second.ids == [dearer.ids[1]]
        stranger = await Talk(shop.client).say("the second one")
        assert second.ids[0] not in stranger.ids
        kept = await talk.stored()
    assert [turn["query"] for turn in kept["interactions"]] == [
        "show me tents",
        "something more expensive",
        "the second one",
    ]
    assert [turn["number"] for turn in kept["interactions"]] == [1, 2, 3]
    assert kept["interactions"][0]["productIds"] == tents.ids


async def test_a_greeting_is_answered_and_a_vague_wish_is_asked_about_without_searching(
    tmp_path: Path,
) -> None:
    """No hits; a question offers what can be answered to it. Source: design, strategy."""
    async with open_shop(tmp_path) as shop:
        talk = Talk(shop.client)
        hello = await talk.say("hello!")
        vague = await talk.say("something")
    assert hello.categories == vague.categories == []
    assert hello.text.startswith("Hello")
    assert hello.receipt["strategy"] == "no_match"
    assert vague.receipt["strategy"] == "needs_clarification"
    assert "Tents" in vague.messages("queryComplements")[0]


async def test_what_is_not_there_is_said_and_the_wish_is_given_up(tmp_path: Path) -> None:
    """A search that finds nothing says so; the next sentence starts from what there was."""
    async with open_shop(tmp_path) as shop:
        talk = Talk(shop.client)
        await talk.say("show me tents")
        nothing = await talk.say("under 5")
        assert nothing.hits == []
        assert "nothing" in nothing.text
        red = await talk.say("in red")
    assert red.hits
    assert all("Red" in hit["productTitle"] for hit in red.hits)


async def test_the_clients_filter_binds_every_search_of_a_turn(tmp_path: Path) -> None:
    """A product shown before is not shown again where the filter forbids it."""
    async with open_shop(tmp_path) as shop:
        talk = Talk(shop.client, {"attributesToRetrieve": ["brand"]})
        first = await talk.say("show me tents", filter="brand:(Fellhorn)")
        assert {hit["brand"] for hit in first.hits} == {"Fellhorn"}
        assert first.categories[0]["appliedFilter"] == "brand:(Fellhorn)"
        more = await talk.say("show me more", filter="brand:(Fellhorn)")
        assert more.hits
        assert not set(first.ids) & set(more.ids)
        assert {hit["brand"] for hit in more.hits} == {"Fellhorn"}
        other = await talk.say("the first one", filter="brand:(Norrland)")
    assert other.hits == []


async def test_the_client_gets_the_attributes_that_it_asked_for_and_no_others(tmp_path: Path) -> None:
    """What the thread remembers of a hit is not sent to who did not ask for it."""
    async with open_shop(tmp_path) as shop:
        talk = Talk(shop.client, {"attributesToRetrieve": ["productTitle", "color"]})
        said = await talk.say("show me tents")
        cheaper = await talk.say("more expensive")
        all_of_it = await Talk(shop.client).say("show me tents", attributesToRetrieve=["*"])
    assert {frozenset(hit) for hit in said.hits} == {frozenset({"_id", "_score", "productTitle", "color"})}
    assert cheaper.hits
    assert {"description", "inStock"} <= set(all_of_it.hits[0])


async def test_a_page_may_say_which_product_the_question_is_about(tmp_path: Path) -> None:
    """`documentIds` are what "cheaper" and "similar" are relative to; unknown ids are named in a warning."""
    async with open_shop(tmp_path) as shop:
        said = await Talk(shop.client).say(
            "do you have something similar but cheaper?",
            documentIds=["tent-9", "no-such-tent"],
            contextFields=["price", "no-such-field"],
        )
    assert said.hits
    assert max(said.prices) < 19.0
    assert {identifier.rpartition("-")[0] for identifier in said.ids} == {"tent"}
    assert said.receipt["warnings"] == [
        "unknown_document:no-such-tent",
        "unknown_context_field:no-such-field",
    ]


async def test_pictures_are_honestly_not_seen_without_a_model(tmp_path: Path) -> None:
    """The answer says so, and goes on with the words."""
    async with open_shop(tmp_path) as shop:
        said = await Talk(shop.client).say("red tents like this", images=[base64.b64encode(PIXEL).decode()])
    assert said.text.startswith("I cannot look at pictures here")


PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"q": ""}, 400, "q must not be empty"),
    ({"q": "x" * 1001}, 400, "q has 1001 characters"),
    ({"colour": "red"}, 400, "'colour' is not a parameter; known are q, sessionId"),
    ({"maxCategories": "4"}, 400, "maxCategories"),
    ({"maxCategories": 0}, 400, "maxCategories"),
    ({"categoryResultLimit": 101}, 400, "categoryResultLimit"),
    ({"documentIds": [str(number) for number in range(21)]}, 400, "documentIds"),
    ({"documentIds": "tent-1"}, 400, "documentIds"),
    ({"filter": "colour:("}, 400, "filter"),
    ({"filter": "flavour:(mint)"}, 400, "flavour"),
    ({"conversationId": "made-up"}, 404, "conversation 'made-up' does not exist"),
    ({"images": ["AAAA"]}, 400, "images[0] must be a PNG, JPEG, WebP or GIF"),
    ({"images": ["AAAA"] * 6}, 400, "the request has 6 images; at most 5 are allowed"),
    ({"imageUrls": ["https://example.com/a.png"]}, 400, "imageUrls[0] points to host 'example.com'"),
    ({"images": ["A" * 9_000_000]}, 413, "images[0] has about"),
    ({"images": ["A" * 13_000_000]}, 413, "12582912"),
]


async def test_what_is_wrong_is_refused_before_the_first_byte(tmp_path: Path) -> None:
    """A status and a message that names the parameter. Source: docs/wire-format.md, errors."""
    async with open_shop(tmp_path) as shop:
        for more, status, told in REFUSED:
            answer = await shop.client.post(CONVERSE, json={"q": "tents"} | more)
            assert (answer.status_code, told in answer.json()["message"]) == (status, True), answer.text


async def test_get_takes_a_payload_or_plain_parameters(tmp_path: Path) -> None:
    """Both say the same; both at once, or a name twice, is refused."""
    values: dict[str, Any] = {"q": "show me tents", "documentIds": ["tent-1"], "categoryResultLimit": 2}
    payload = base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")
    plain = values | {"documentIds": '["tent-1"]'}
    async with open_shop(tmp_path) as shop:
        found = []
        ways: list[dict[str, Any]] = [{"payload": payload}, plain]
        for parameters in ways:
            async with shop.client.stream("GET", CONVERSE, params=parameters) as response:
                assert response.status_code == 200, await response.aread()
                found.append(Said([frame async for frame in frames(response)]).ids)
        both = await shop.client.get(CONVERSE, params={"payload": payload, "q": "tents"})
        twice = await shop.client.get(f"{CONVERSE}?q=tents&q=boots")
    assert found[0] == found[1] != []
    assert len(found[0]) == 2
    assert (both.status_code, twice.status_code) == (400, 400)


async def test_a_reader_who_comes_back_gets_what_it_missed_and_no_second_turn(tmp_path: Path) -> None:
    """By the last event's id, over GET and POST; at the end there is nothing more. Source: decision 0003."""
    async with open_shop(tmp_path) as shop:
        talk = Talk(shop.client)
        said = await talk.say("show me tents")
        seen = said.events[1].id
        for method in ("GET", "POST"):
            async with shop.client.stream(
                method, CONVERSE, headers={"last-event-id": seen}, json=talk.body("show me tents")
            ) as response:
                again = [frame async for frame in frames(response)]
            assert again == said.events[2:]
        ended = await shop.client.get(CONVERSE, headers={"last-event-id": said.events[-1].id})
        assert ended.status_code == 204
        assert (await talk.stored())["turns"] == 1


async def test_turns_of_one_conversation_run_one_after_another(tmp_path: Path) -> None:
    """Sent at once, they are numbered without a gap and each sees the one before it."""
    async with open_shop(tmp_path) as shop:
        talk = Talk(shop.client)
        await talk.say("show me tents", categoryResultLimit=2)
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            more = [group.create_task(talk.say("show me more", categoryResultLimit=2)) for _ in range(5)]
        shown = [identifier for turn in more for identifier in turn.result().ids]
        kept = await talk.stored()
    assert len(shown) == len(set(shown)) == 10
    assert [turn["number"] for turn in kept["interactions"]] == [1, 2, 3, 4, 5, 6]
    assert sorted(turn.result().receipt["turn"] for turn in more) == [2, 3, 4, 5, 6]


async def test_a_turn_writes_one_line_without_the_words_or_the_id(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Knowing an id is owning the conversation, so no log holds one. Source: design, operations."""
    caplog.set_level(logging.INFO)
    async with open_shop(tmp_path) as shop:
        talk = Talk(shop.client)
        await talk.say("show me tents")
    lines = [record for record in caplog.records if record.message == "converse_completed"]
    assert len(lines) == 1
    facts = vars(lines[0])
    assert (facts["source"], facts["outcome"], facts["turn"], facts["history"]) == ("catalog", "ok", 1, 0)
    assert {"E2E", "CONVERSATION_LOAD", "CONVERSATION_COMMIT"} <= set(facts["timings"])
    for record in caplog.records:
        told = json.dumps(vars(record), default=str)
        assert str(talk.conversation_id) not in told
        if record.name.startswith(("worker", "conversation")):
            assert "show me tents" not in told


async def test_a_thread_that_this_program_cannot_read_begins_anew(tmp_path: Path) -> None:
    """A state of another format costs the thread and not the turn."""
    assert ThreadState.from_json({"format": 99, "query": "tents"}).is_empty
    async with open_shop(tmp_path) as shop:
        async with shop.services.conversations.turn("demo") as turn:
            await turn.history()
        talk = Talk(shop.client, conversation_id=turn.conversation_id)
        said = await talk.say("show me boots")
    assert said.hits


async def test_conversations_can_be_switched_off(tmp_path: Path) -> None:
    """The flag's own 400, and pictures have one of their own. Source: flow document, feature flags."""
    async with open_shop(tmp_path) as shop:
        office = shop.services.office
        for flags, body in (({"images": False}, {"images": ["AAAA"]}), ({"converse": False}, {})):
            await office.administration.set_settings("demo", "*", {"feature_flags": flags}, actor="test")
            answer = await shop.client.post(CONVERSE, json={"q": "tents"} | body)
            assert (answer.status_code, answer.json()["code"]) == (400, "feature_disabled")
        assert (await shop.client.get(AGENTIC, params={"q": "tents"})).status_code == 200
