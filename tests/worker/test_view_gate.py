"""Customer groups over real HTTP: nothing of what somebody may not see is in any byte that they get."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support.event_stream import Frame
from tests.support.grouped_shop import (
    INDEXES,
    GroupedShop,
    MarkedProduct,
    marked_products,
    open_grouped_shop,
    said,
    with_keys,
)
from tests.support.permission_service import allowing, permission_service, reply, saying
from tests.support.scripted_gemini import Call
from tests.support.scripted_gemini.scenarios import json_text
from tests.worker.test_agentic_search import modelled_shop

pytestmark = pytest.mark.anyio

GROUPS = ("grpalpha", "grpbravo", "grpcharlie")
_VISIBILITY: st.SearchStrategy[list[str] | None] = st.one_of(
    st.none(), st.just(["*"]), st.just([]), st.lists(st.sampled_from(GROUPS), min_size=1, max_size=2)
)
_CALLERS = st.lists(st.sets(st.sampled_from([*GROUPS, "grpunknown"]), max_size=2), min_size=2, max_size=2)
_QUERY = "a lamp for reading at night"


async def _everything(shop: GroupedShop, key: str, products: Sequence[MarkedProduct]) -> str:
    """Ask for all that can be asked for, and return all that was said."""
    ids = [product.document["_id"] for product in products]
    facets = {
        "fields": {"brand": {"type": "string"}, "color": {"type": "string"}, "price": {"type": "number"}}
    }
    answers: list[Any] = [
        await shop.post(key, "search", q="lamp", limit=50, facets=facets, attributesToRetrieve=["*"]),
        await shop.post(key, "search", q="lamb", filter="price:[1 TO *]", explainHits=True),
        await shop.post(key, "search", limit=50, facets=facets, sortBy={"fields": [{"fieldName": "price"}]}),
        await shop.post(key, "search", q="lamp", filter="nosuchfield:1"),
        await shop.post(key, "search", q="lamp", facets={"fields": {"visibleTo": {"type": "array"}}}),
        await shop.post(key, "search", q="lamp", filter="visibleTo:(grpalpha)"),
        await shop.post(key, "collections", collectionName="Lamps"),
        await shop.shop.client.get(f"{INDEXES}/search", params={"q": "lamp"}, headers={"x-api-key": key}),
        await shop.ask(key, _QUERY, suggestFilters="true"),
        await shop.ask(key, "my lamps under 8000"),
        await shop.ask(key, "please show me some stuff"),
        await shop.ask(key, "lamp"),
        await shop.post(key, "agentic-search", q=_QUERY),
    ]
    for product in products:
        for mark in product.marks[:3]:
            answers.append(await shop.post(key, "recommendations/queries", q=mark[:4], limit=50))
    for word in ("l", "re"):
        answers.append(await shop.post(key, "recommendations/queries", q=word, limit=50))
    thread = None
    for sentence in (
        "show me lamps",
        "something cheaper",
        "show me more",
        "compare the first two",
        "any brand",
    ):
        turn = await shop.say(key, sentence, thread)
        thread = thread or _conversation_of(turn)
        answers.append(turn)
    fetched = (await shop.post(key, "get-documents", documentIds=ids)).json()["results"]
    answers.append(json.dumps([{k: v for k, v in one.items() if k != "_id"} for one in fetched]))
    for entry in fetched:
        if entry["_found"]:
            asked = await shop.post(
                key, "agentic-search/chat-suggestions", documentId=entry["_id"], sessionId="s", userId="u"
            )
            answers.append(asked)
    return said(*answers, await _tools(shop, key))


async def _tools(shop: GroupedShop, key: str) -> str:
    """Return the descriptions of all tools and what they answer."""
    toolbox, caller = shop.shop.services.toolbox, shop.caller(key)
    offered = await toolbox.offered(caller, "demo")
    told = [f"{tool.description} {json.dumps(tool.schema)}" for tool in offered]
    for name, arguments in (
        ("keyword_search", {"query": "lamp", "limit": 50}),
        ("filter_documents", {"limit": 50}),
        ("filter_documents", {"filter_text": "nosuchfield:1"}),
        ("search", {"queries": ["lamp", "reading"]}),
    ):
        answer = await toolbox.call(caller, "demo", name, arguments)
        told.append(answer.text)
    return " ".join(told)


def _conversation_of(turn: Sequence[Frame]) -> str:
    return next(str(event.data["conversationId"]) for event in turn if "conversationId" in event.data)


def _leaks(text: str, products: Sequence[MarkedProduct], groups: set[str]) -> list[str]:
    hidden = [product for product in products if not product.is_seen_by(groups)]
    marks = [mark for product in hidden for mark in product.marks if mark in text]
    return marks + [group for group in GROUPS if group in text.replace("visibleto:(grpalpha)", "")]


@settings(max_examples=4, deadline=None, phases=[Phase.generate])
@given(st.lists(_VISIBILITY, min_size=4, max_size=9), _CALLERS)
async def test_nothing_invisible_is_in_any_byte(
    visibilities: list[list[str] | None], callers: list[set[str]]
) -> None:
    """Search, facets, completions, tools, conversations, suggestions, cached answers, errors, receipts.

    Source: docs/accounts.md, "Who may see which documents".
    """
    products = marked_products(visibilities)
    with tempfile.TemporaryDirectory() as folder:
        async with open_grouped_shop(Path(folder), [product.document for product in products]) as shop:
            owner = await _everything(shop, shop.secret, products)
            assert all(mark in owner for product in products for mark in product.marks[:2])
            # The richer caller first, so that whatever is kept for others is there to be given away.
            for groups in [*sorted(callers, key=len, reverse=True), set[str]()]:
                text = await _everything(shop, shop.key(*sorted(groups)), products)
                assert _leaks(text, products, groups) == []
                seen = [product for product in products if product.is_seen_by(groups)]
                assert all(product.marks[0] in text for product in seen)


_TWO = [
    {
        "_id": f"open-{number}",
        "productTitle": f"Plain lamp {number}",
        "category": "Lamps",
        "price": 10.0 + number,
    }
    for number in range(4)
] + [
    {
        "_id": "gold-1",
        "productTitle": "Zwixxel lamp",
        "category": "Zwixxels",
        "price": 777.25,
        "visibleTo": ["gold"],
    }
]
_HIDDEN = ("zwixxel", "gold-1", "777.25")


def _has_hidden(*parts: Any) -> bool:
    text = said(*parts)
    return any(mark in text for mark in _HIDDEN)


async def test_a_thread_of_one_group_is_not_gone_on_with_by_another(tmp_path: Path) -> None:
    """What its turns said is read by the next one; more groups may, since they see all of it."""
    async with open_grouped_shop(tmp_path, _TWO) as shop:
        first = await shop.say(shop.key("gold"), "show me lamps")
        assert _has_hidden(first)
        thread = _conversation_of(first)
        strangers = [shop.key(), shop.key("silver"), shop.key("gold", filter="price:[* TO 50]")]
        for stranger in strangers:
            for sentence in ("compare the first two", "the last one", "show me more"):
                turn = await shop.say(stranger, sentence, thread)
                assert not _has_hidden(turn)
                codes = [event.data.get("code") or event.data.get("error", {}).get("code") for event in turn]
                assert "not_found" in codes
        for friend in (shop.key("gold"), shop.key("gold", "silver"), shop.secret):
            turn = await shop.say(friend, "the last one", thread)
            assert turn[-1].name == "stream-end"
            assert all("error" not in event.name for event in turn)
        # The account has spoken in it: its words may be of anything.
        assert "not_found" in said(await shop.say(shop.key("gold"), "the first one", thread))
        plain = _conversation_of(await shop.say(shop.key(), "show me lamps"))
        assert _has_hidden(await shop.say(shop.key("gold"), "any zwixxel lamps", plain))
        assert "not_found" in said(await shop.say(shop.key(), "the first one", plain))


async def test_the_turns_of_an_agentic_search_are_kept_apart_too(tmp_path: Path) -> None:
    """The same threads, by the other route."""
    async with open_grouped_shop(tmp_path, _TWO) as shop:
        first = await shop.ask(shop.key("gold"), "show me all the lamps", enableConversation="true")
        assert _has_hidden(first)
        thread = str(first[-2].data["receipt"]["conversationId"])
        again = await shop.ask(shop.key(), "the last one", enableConversation="true", conversationId=thread)
        assert not _has_hidden(again)
        assert "not_found" in said(again)


async def test_a_run_is_told_to_those_alone_who_may_see_what_it_says(tmp_path: Path) -> None:
    """Coming back for a run with another key finds nothing, and stops nothing."""
    async with open_grouped_shop(tmp_path, _TWO) as shop:
        gold = shop.key("gold")
        asked = await shop.post(gold, "agentic-search", q="show me all the lamps")
        run = f"{INDEXES}/runs/{asked.headers['x-aisle-run-id']}"
        client = shop.shop.client
        for stranger in (shop.key(), shop.key("silver")):
            answer = await client.get(run, headers={"x-api-key": stranger})
            assert (answer.status_code, answer.content) == (204, b"")
            assert (await client.delete(run, headers={"x-api-key": stranger})).status_code == 404
        assert _has_hidden(await client.get(run, headers={"x-api-key": gold}))
        assert _has_hidden(await client.get(run, headers={"x-api-key": shop.secret}))


def _is_plan(call: Call) -> bool:
    return "responseMimeType" in call.body.get("generationConfig", {})


async def test_an_answer_that_a_model_wrote_for_one_group_is_no_other_groups(tmp_path: Path) -> None:
    """Plan and summary are kept apart, and made anew when the index changes."""
    async with modelled_shop(tmp_path, documents=_TWO) as (opened, gemini):
        shop = await with_keys(opened)
        writes = {"summary": "Take the Zwixxel lamp."}
        plan = {"query_expansions": [["zwixxel lamp", "Zwixxels", 0.9], ["lamp", "Lamps", 0.8]]}
        gemini.choose = lambda call: json_text(plan if _is_plan(call) else writes["summary"])
        gold = await shop.ask(shop.key("gold"), _QUERY)
        assert _has_hidden(gold)
        assert _has_hidden(await shop.ask(shop.secret, _QUERY))
        await opened.services.wait_until.settle()  # type: ignore[attr-defined]
        made = len(gemini.calls)
        writes["summary"] = "Take a plain lamp."
        plan["query_expansions"] = [["plain lamp", "Plain", 0.9], ["lamp", "Lamps", 0.8]]
        assert not _has_hidden(await shop.ask(shop.key(), _QUERY))
        assert not _has_hidden(await shop.ask(shop.key("silver"), _QUERY))
        assert len(gemini.calls) == made + 4
        # Nothing that a model was shown for them had it either.
        assert "zwixxel" not in json.dumps([call.body for call in gemini.calls[made:]]).lower()
        await opened.services.wait_until.settle()  # type: ignore[attr-defined]
        again = await shop.ask(shop.key("gold"), _QUERY)
        assert again[-2].data["receipt"]["source"] == "cached"
        await opened.services.catalog.add_documents("demo", "demo", [{**_TWO[-1], "visibleTo": ["silver"]}])
        changed = await shop.ask(shop.key("gold"), _QUERY)
        assert changed[-2].data["receipt"]["source"] == "llm"
        assert not _has_hidden(changed)


async def test_an_answer_from_before_a_product_was_kept_from_anybody_is_not_given_out(tmp_path: Path) -> None:
    """The first product that says who may see it ends what was kept of its index."""
    everybodys = [{name: value for name, value in one.items() if name != "visibleTo"} for one in _TWO]
    async with modelled_shop(tmp_path, documents=everybodys) as (opened, gemini):
        shop = await with_keys(opened)
        writes = {"summary": "Take the Zwixxel lamp."}
        plan = {"query_expansions": [["zwixxel lamp", "Zwixxels", 0.9], ["lamp", "Lamps", 0.8]]}
        gemini.choose = lambda call: json_text(plan if _is_plan(call) else writes["summary"])
        assert _has_hidden(await shop.ask(shop.key(), _QUERY))
        await opened.services.wait_until.settle()  # type: ignore[attr-defined]
        assert (await shop.ask(shop.key(), _QUERY))[-2].data["receipt"]["source"] == "cached"
        await opened.services.catalog.add_documents("demo", "demo", [_TWO[-1]])
        writes["summary"] = "Take a plain lamp."
        plan["query_expansions"] = [["plain lamp", "Plain", 0.9], ["lamp", "Lamps", 0.8]]
        assert not _has_hidden(await shop.ask(shop.key(), _QUERY))
        assert not _has_hidden(await shop.post(shop.key(), "get-documents", documentIds=["open-1"]))


async def test_an_expired_or_forged_key_opens_nothing(tmp_path: Path) -> None:
    """Neither its groups nor what everybody may see."""
    async with open_grouped_shop(tmp_path, _TWO) as shop:
        expired = shop.key("gold", expires=1_000_000_000.0)
        good = shop.key("gold")
        head, claims, signature = good.split(".")
        more = shop.key("gold", "silver").split(".")[1]
        for key in (expired, f"{head}.{more}.{signature}", f"{head}.{claims}.{signature[:-2]}AA"):
            answer = await shop.post(key, "search", q="lamp")
            assert answer.status_code == 401
            assert not _has_hidden(answer)
            assert "plain" not in answer.text.lower()


async def test_a_permission_service_decides_over_the_whole_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Hits, categories, receipt and log line; where it is away, an answer without products, and its end."""
    caplog.set_level(logging.INFO)
    open_to_all = [{name: value for name, value in one.items() if name != "visibleTo"} for one in _TWO]
    refusing = allowing(lambda asked, one: one != "gold-1" or "gold" in asked["groups"])
    async with (
        permission_service(refusing) as service,
        open_grouped_shop(tmp_path, open_to_all, view_gate_hosts=service.host) as shop,
    ):
        gate = {"kind": "http", "url": service.url, "timeout_ms": 5_000}
        await shop.shop.services.office.administration.set_settings(
            "demo", "demo", {"view_gate": gate}, actor="test"
        )
        found = await shop.post(
            shop.key(), "search", q="lamp", facets={"fields": {"price": {"type": "number"}}}
        )
        body = found.json()
        assert (body["totalHits"], body["withheld"], body["facets"]["price"]["max"]) == (4, 1, 13.0)
        assert not _has_hidden(found)
        assert (await shop.post(shop.key("gold"), "search", q="lamp")).json()["totalHits"] == 5
        answered = await shop.ask(shop.key(), _QUERY)
        receipt = answered[-2].data["receipt"]
        assert receipt["withheld"] >= 1
        assert receipt["cache"]["reason"] == "filtered"
        assert "gold-1" not in said([event for event in answered if "hits" in event.data])
        service.behaviour = saying(reply(b"<html>", "502 Bad Gateway"))
        closed = await shop.ask(shop.key("silver"), _QUERY)
        assert closed[-1].name == "stream-end"
        assert '"_id"' not in said(closed)
        assert closed[-2].data["receipt"]["withheld"] >= 1
        service.behaviour = allowing(lambda asked, one: True)
    lines = [vars(record) for record in caplog.records if record.message == "agentic_search_completed"]
    assert [line["withheld"] >= 1 for line in lines] == [True, True]
    assert "gold-1" not in str(lines)
