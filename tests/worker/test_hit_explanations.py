"""`explainHits` through the whole server: streams, the JSON answer, plain search, turns, and the receipt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from search_proxy.explaining.matched_words import readable
from tests.support.shop import AGENTIC, Shop, open_shop, products

pytestmark = pytest.mark.anyio

QUERY = "something warm for a winter camping trip"
SAID = {"_matched", "_excerpt", "_reason"}
DOCUMENTS = {product["_id"]: product for product in products()}


def _check(hit: dict[str, Any]) -> None:
    """Hold what is said of a hit to the document itself."""
    document = DOCUMENTS[hit["_id"]]
    assert hit["_reason"]
    if "_excerpt" in hit:
        assert hit["_excerpt"] in readable(document["description"])
    for each in hit["_matched"]:
        for word in each["words"]:
            assert word in readable(document[each["field"]])


async def _all_hits(shop: Shop, query: str, **parameters: str) -> list[dict[str, Any]]:
    events = await shop.stream(query, **parameters)
    rows = [row for event in events for row in event.data.get("categoryHits", [])]
    first = [hit for event in events for hit in event.data.get("hits", [])]
    return [*first, *(hit for row in rows for hit in row["hits"])]


async def test_every_hit_of_a_stream_says_why_where_that_was_asked(tmp_path: Path) -> None:
    """First hits and categories alike, and nothing that the product's own text does not say."""
    async with open_shop(tmp_path) as shop:
        explained = await _all_hits(shop, QUERY, explainHits="true")
        plain = await _all_hits(shop, QUERY)
    assert len(explained) > 20
    for hit in explained:
        _check(hit)
    assert any("_excerpt" in hit for hit in explained)
    assert not any(SAID & set(hit) for hit in plain)


async def test_an_account_can_have_it_always_and_a_request_can_leave_it(tmp_path: Path) -> None:
    """`agentic_config.explain_hits` is the default; `explainHits` of the request counts."""
    settings = {"agentic_config": {"explain_hits": True}}
    async with open_shop(tmp_path) as shop:
        await shop.services.office.administration.set_settings("demo", "demo", settings, actor="test")
        always = await _all_hits(shop, QUERY)
        never = await _all_hits(shop, QUERY, explainHits="false")
        body = {"q": "red boots please"}
        turn = await shop.client.post(f"{AGENTIC}/converse", json=body)
    assert all("_reason" in hit for hit in always)
    assert not any(SAID & set(hit) for hit in never)
    assert '"_reason":"' in turn.text


async def test_plain_search_explains_too(tmp_path: Path) -> None:
    """The same words at the search route. Source: docs/wire-format.md."""
    async with open_shop(tmp_path) as shop:
        url = "/api/v1/indexes/demo/search"
        answer = (await shop.client.post(url, json={"q": "warm boots", "explainHits": True})).json()
        without = (await shop.client.post(url, json={"q": "warm boots"})).json()
    assert answer["hits"][0]["_reason"].startswith("“boots” in title; “warm” in description")
    assert "belowFloor" not in answer
    assert not SAID & set(without["hits"][0])


async def test_null_scores_stay_null_from_the_engine_to_every_face(tmp_path: Path) -> None:
    """Stream, rows, JSON answer, plain search and a turn: null, never 0 or missing. Source: the seed."""
    query = "my in-stock boots under 60"
    async with open_shop(tmp_path) as shop:
        streamed = await _all_hits(shop, query)
        answer = (await shop.client.post(AGENTIC, json={"q": query})).json()
        again = (await shop.client.post(AGENTIC, json={"q": query})).json()
        browsed = await shop.client.post("/api/v1/indexes/demo/search", json={"filter": "category:(Boots)"})
        turn = await shop.client.post(f"{AGENTIC}/converse", json={"q": query})
    rows = [hit for given in (answer, again) for row in given["categoryHits"] for hit in row["hits"]]
    everything = [*streamed, *rows, *answer["hits"], *again["hits"], *browsed.json()["hits"]]
    assert len(everything) > 40
    assert all("_score" in hit and hit["_score"] is None for hit in everything)
    assert '"_score":null' in turn.text
    assert '"_score":0' not in turn.text
    assert answer["receipt"]["strategy"] == "metadata_only"


async def test_the_receipt_says_how_the_filter_and_the_ranking_met(tmp_path: Path) -> None:
    """Embedded, the filter comes first and is exact; a browsed page has nothing to bring together."""
    async with open_shop(tmp_path) as shop:
        filtered = (await shop.client.post(AGENTIC, json={"q": QUERY, "filter": "brand:(Fellhorn)"})).json()
        browsed = (await shop.client.post(AGENTIC, json={"q": "my in-stock boots under 60"})).json()
    assert filtered["receipt"]["retrieval"] == {"choice": "filter_first", "universe": 60}
    assert "retrieval" not in browsed["receipt"]
