"""Questions for a product page: by the model, from the cache, and from the catalog, over real HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from search_proxy.sample_store import load_sample
from tests.support.scripted_gemini import Gate, Script, Wait
from tests.support.scripted_gemini.scenarios import json_text, unavailable
from tests.support.shop import Shop, open_shop
from tests.support.talk import Talk
from tests.worker.planning.thread_player import retail_documents
from tests.worker.test_agentic_search import modelled_shop

pytestmark = pytest.mark.anyio

SUGGESTIONS = "/api/v1/indexes/demo/agentic-search/chat-suggestions"
QUESTIONS = ["Is it waterproof?", "How heavy is it?", "Does it fit two people?", "What is the floor made of?"]


async def ask(shop: Shop, document_id: str = "tent-1", **more: Any) -> dict[str, Any]:
    """Ask for questions and return the answer."""
    body = {"documentId": document_id, "sessionId": "s1", "userId": "u1"} | more
    answer = await shop.client.post(SUGGESTIONS, json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_the_small_model_is_asked_once_and_its_questions_are_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """3 to 5 questions as a JSON list; the next page view asks nobody. Source: flow document, suggestions."""
    caplog.set_level(logging.INFO)
    async with modelled_shop(tmp_path, suggestions_model="small-model") as (shop, gemini):
        gemini.script(json_text(QUESTIONS))
        first = await ask(shop)
        again = await ask(shop, maxSuggestions=2)
        assert len(gemini.calls) == 1
        call = gemini.calls[0]
    assert first == {"suggestions": QUESTIONS, "documentId": "tent-1", "source": "llm"}
    assert again == {"suggestions": QUESTIONS[:2], "documentId": "tent-1", "source": "cached"}
    assert call.model == "small-model"
    schema = call.body["generationConfig"]["responseJsonSchema"]
    assert (schema["type"], schema["minItems"], schema["maxItems"]) == ("array", 3, 5)
    assert "<products>" in call.body["contents"][0]["parts"][0]["text"]
    lines = [vars(record) for record in caplog.records if record.message == "chat_suggestions_completed"]
    assert [(line["source"], line["suggestions"]) for line in lines] == [("llm", 4), ("cached", 4)]
    assert "LLM_FIRST_CALL" in lines[0]["timings"]
    assert "LLM_FIRST_CALL" not in lines[1]["timings"]


async def test_equal_page_views_at_once_make_one_model_call(tmp_path: Path) -> None:
    """Forty open a page that nobody has opened before: one asks, the others hear it. Source: design."""
    gate = Gate("questions")
    async with modelled_shop(tmp_path, suggestions_model="small-model") as (shop, gemini):
        gemini.choose = lambda _: [Wait(gate), *json_text(QUESTIONS)]
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            asking = [group.create_task(ask(shop), name=f"ask:{number}") for number in range(40)]
            await gate.reached()
            gate.open()
        assert len(gemini.calls) == 1
    sources = sorted(task.result()["source"] for task in asking)
    assert sources == ["cached"] * 39 + ["llm"]
    assert all(task.result()["suggestions"] == QUESTIONS for task in asking)


async def test_other_content_or_other_fields_are_other_questions(tmp_path: Path) -> None:
    """The key is what the model would read: a changed product is asked about anew."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.script(json_text(QUESTIONS))
        await ask(shop)
        await ask(shop, contextFields=["productTitle"])
        assert len(gemini.calls) == 2
        assert "description" not in gemini.calls[1].body["contents"][0]["parts"][0]["text"]
        changed = {"_id": "tent-1", "productTitle": "A new tent", "price": 5.0, "category": "Tents"}
        await shop.services.catalog.add_documents("demo", "demo", [changed])
        assert (await ask(shop))["source"] == "llm"
        assert len(gemini.calls) == 3
        await ask(shop)
        await ask(shop, minSuggestions=4, maxSuggestions=8)
        assert len(gemini.calls) == 4


@pytest.mark.parametrize(
    "answer",
    [
        json_text('{"questions": ["Is it warm?"]}'),
        json_text("Sure! Here are some questions:"),
        json_text([1, None, {"q": "Is it warm?"}]),
        json_text([]),
        unavailable(),
    ],
)
async def test_a_model_that_gives_no_list_leaves_it_to_the_catalog(tmp_path: Path, answer: Script) -> None:
    """Strict: what is no list of strings is no answer, and is not kept."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.script(answer)
        failed = await ask(shop)
        gemini.script(json_text(QUESTIONS))
        good = await ask(shop)
    assert failed["source"] == "catalog"
    assert failed["suggestions"]
    assert good["source"] == "llm"


async def test_what_the_model_writes_is_plain_text(tmp_path: Path) -> None:
    """No markup, no links, no doubles, no endless lines."""
    written = [
        "<b>Is it</b> [warm](http://x.example)?",
        "Is it dry?",
        "is it DRY?",
        "x" * 500,
        "Is it light?",
    ]
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.script(json_text(written))
        found = await ask(shop)
    assert len(found["suggestions"]) == 3
    assert found["suggestions"][1:] == ["Is it dry?", "Is it light?"]
    assert not set("<>[]") & set("".join(found["suggestions"]))


async def test_what_reviews_say_is_part_of_what_the_model_reads(tmp_path: Path) -> None:
    """Stored summaries change the product's content, and with it the questions."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        body = {"documents": [{"_id": "tent-1", "summary": "Two people find it narrow."}]}
        job = await shop.client.post("/api/v1/indexes/demo/agentic-search/reviews", json=body)
        assert job.status_code == 202
        await shop.services.wait_until.settle()  # type: ignore[attr-defined]
        gemini.script(json_text(QUESTIONS))
        await ask(shop)
        text = gemini.calls[0].body["contents"][0]["parts"][0]["text"]
    assert json.dumps("Two people find it narrow.") in text


async def test_without_a_model_every_question_is_one_that_the_catalog_answers(tmp_path: Path) -> None:
    """Each is asked in a conversation about the product; its own data answers, or others of its kind do."""
    documents = load_sample()
    async with open_shop(tmp_path, documents) as shop:
        for document in documents[::250]:
            found = await ask(shop, document["_id"])
            assert found["source"] == "catalog"
            assert 3 <= len(found["suggestions"]) <= 5, found
            assert len(set(found["suggestions"])) == len(found["suggestions"])
            for question in found["suggestions"]:
                said = await Talk(shop.client, {"attributesToRetrieve": ["*"]}).say(
                    question, documentIds=[document["_id"]]
                )
                others = [hit for hit in said.hits if hit["_id"] != document["_id"]]
                if said.ids == [document["_id"]]:
                    assert document["productTitle"] in said.text
                    assert "cannot tell" not in said.text, (document["productTitle"], question)
                    continue
                assert others, (document["productTitle"], question)
                assert all(_are_alike(document, hit) for hit in others[:3]), (document["_id"], question)
                if "cheaper" in question:
                    assert max(hit["price"] for hit in others) < document["price"]


@pytest.mark.parametrize("catalog", ["sample", "retail"])
async def test_no_product_is_given_a_question_that_the_catalog_cannot_answer(
    tmp_path: Path, catalog: str, request: pytest.FixtureRequest
) -> None:
    """Seventy products of each catalog: every question, once asked, finds something or is told."""
    documents: list[Any] = (
        list(load_sample())
        if catalog == "sample"
        else retail_documents(request.getfixturevalue("shared_data"))
    )
    unanswered: list[tuple[str, str, str]] = []
    async with open_shop(tmp_path, documents) as shop:
        for document in documents[:: len(documents) // 70][:70]:
            found = await ask(shop, document["_id"])
            assert len(found["suggestions"]) >= 3, found
            for question in found["suggestions"]:
                said = await Talk(shop.client).say(question, documentIds=[document["_id"]])
                if not said.hits or "cannot tell" in said.text:
                    unanswered.append((document["_id"], question, said.text))
    assert unanswered == []


def _are_alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return any(one.get(name) == other.get(name) is not None for name in ("category", "productType"))


async def test_a_product_that_stands_alone_gets_no_empty_promise(tmp_path: Path) -> None:
    """Nothing else is there, so nothing is asked for."""
    lonely = [{"_id": "one", "productTitle": "The only lamp", "category": "Lamps", "price": 5.0}]
    async with open_shop(tmp_path, lonely) as shop:
        found = await ask(shop, "one")
    assert found == {"suggestions": [], "documentId": "one", "source": "catalog"}


async def test_what_is_wrong_is_refused(tmp_path: Path) -> None:
    """Required names, bounds, and 404 for a document that is not there. Source: docs/wire-format.md."""
    whole = {"documentId": "tent-1", "sessionId": "s", "userId": "u"}
    refused: list[tuple[dict[str, Any], int, str]] = [
        ({"documentId": "tent-1"}, 400, "sessionId is required; userId is required"),
        (whole | {"colour": "red"}, 400, "'colour' is not a parameter"),
        (whole | {"minSuggestions": 6}, 400, "minSuggestions is 6 and maxSuggestions 5"),
        (whole | {"maxSuggestions": 11}, 400, "maxSuggestions"),
        (whole | {"maxSuggestions": "5"}, 400, "maxSuggestions"),
        (whole | {"documentId": "no-such"}, 404, "document 'no-such' does not exist"),
    ]
    async with open_shop(tmp_path) as shop:
        for body, status, told in refused:
            answer = await shop.client.post(SUGGESTIONS, json=body)
            assert (answer.status_code, told in answer.json()["message"]) == (status, True), answer.text
        await shop.services.office.administration.set_settings(
            "demo", "*", {"feature_flags": {"chat_suggestions": False}}, actor="test"
        )
        off = await shop.client.post(SUGGESTIONS, json=whole)
    assert (off.status_code, off.json()["code"]) == (400, "feature_disabled")
